//! A start, and a database made anew, in the model of queues.

use super::{Fate, Records, Row, Sent, State};

impl State {
    /// What a start makes of what lies there.
    pub(super) fn start(&mut self) {
        self.up = true;
        let is_lost = self.records == Records::JustLost;
        if is_lost {
            self.records = Records::Lost;
        }
        for (id, ((key, content), distrusted)) in self.kept.clone() {
            match self.rows.get(&id) {
                Some(Row { marked: true, .. }) => drop(self.kept.remove(&id)),
                Some(Row { marked: false, .. }) => {}
                None if self.is_used(key) && !self.printer => drop(self.kept.remove(&id)),
                None => {
                    let (distrusted, marked, acknowledged) = (distrusted || is_lost, false, is_lost);
                    self.rows.insert(id, Row { key: Some(key), content, distrusted, marked, acknowledged });
                }
            }
        }
    }

    /// The database is made anew: only letters are in the ledger.
    pub(super) fn lose(&mut self) {
        self.left.losses -= 1;
        self.records = Records::JustLost;
        let row = |(id, (key, content)): (&u8, &Sent)| {
            let (key, content) = (Some(*key), *content);
            (*id, Row { key, content, distrusted: false, marked: true, acknowledged: true })
        };
        self.rows = self.ledger.iter().map(row).collect();
        self.fates.retain(|_, fate| *fate == Fate::Letter);
    }
}
