//! Print jobs in the model of queues: what the shipped `job_means` makes of one that is handed in.

use mailchute::domain::incoming::{JobMeans, KnownPrint, job_means};

use super::{Phase, Records, Request, Row, State};

impl State {
    /// A printing system hands in a job: again by itself, or because somebody prints it again.
    pub(super) fn hand_in(&mut self, n: usize) {
        let Request { sent: (key, content), .. } = self.requests[n];
        let rows: Vec<(u8, Row, String)> = self
            .rows
            .iter()
            .filter(|(_, row)| row.key == Some(key))
            .map(|(id, row)| (*id, *row, row.content.to_string()))
            .collect();
        let known: Vec<KnownPrint<'_, u8>> = rows
            .iter()
            .map(|(id, row, content)| KnownPrint { taken: *id, content, is_answered: row.acknowledged })
            .collect();
        let means = job_means(&known, &content.to_string());
        let request = &mut self.requests[n];
        match means {
            JobMeans::Same(id) if self.done.contains(&id) => self.broken = Some("a job again is swallowed"),
            JobMeans::Same(id) => request.phase = Phase::Answers(id),
            JobMeans::New | JobMeans::Again => {
                request.distrusted = self.records != Records::Kept || means == JobMeans::Again;
                request.phase = Phase::Takes(0);
            }
        }
    }
}
