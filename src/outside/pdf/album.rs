//! Pictures for people who look at letters: drawn when they are asked for, one at a time, the latest kept in memory.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use super::{DrawWish, Inspector};

const MOST_KEPT: usize = 24;
const LARGEST_KEPT: usize = 256 << 10;
const MINUTE: Duration = Duration::from_mins(1);

/// Each picture is known by a key, which must be another one for other bytes.
#[derive(Debug)]
pub struct Album<K> {
    inspector: Inspector,
    /// For text whose font is not in the PDF.
    font: Option<PathBuf>,
    /// The number of pictures that are drawn in a minute.
    a_minute: usize,
    made: Mutex<Made<K>>,
}

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum NoPicture {
    #[error("too many pictures were drawn in this minute")]
    TooMany,
    #[error("the page can't be drawn")]
    NotDrawn,
    #[error("no picture can be made")]
    Io(#[from] io::Error),
}

#[derive(Debug)]
struct Made<K> {
    kept: VecDeque<(K, Arc<Vec<u8>>)>,
    /// When the last ones were drawn.
    lately: VecDeque<Instant>,
}

impl<K: PartialEq> Made<K> {
    fn new() -> Self {
        Self { kept: VecDeque::new(), lately: VecDeque::new() }
    }

    /// Whether another one may be drawn now. It then counts.
    fn may_draw(&mut self, a_minute: usize, now: Instant) -> bool {
        self.lately.retain(|at| now.duration_since(*at) < MINUTE);
        let may = self.lately.len() < a_minute;
        if may {
            self.lately.push_back(now);
        }
        may
    }

    fn keep(&mut self, key: K, png: &Arc<Vec<u8>>) {
        if png.len() <= LARGEST_KEPT {
            self.kept.push_front((key, Arc::clone(png)));
            self.kept.truncate(MOST_KEPT);
        }
    }
}

impl<K: PartialEq> Album<K> {
    pub fn new(inspector: Inspector, font: Option<PathBuf>, a_minute: usize) -> Self {
        Self { inspector, font, a_minute, made: Mutex::new(Made::new()) }
    }

    /// The picture as PNG.
    pub async fn png(&self, key: K, pdf: &[u8], wish: &DrawWish) -> Result<Arc<Vec<u8>>, NoPicture> {
        let mut made = self.made.lock().await;
        if let Some((_, png)) = made.kept.iter().find(|(its, _)| *its == key) {
            return Ok(Arc::clone(png));
        }
        if !made.may_draw(self.a_minute, Instant::now()) {
            return Err(NoPicture::TooMany);
        }
        let drawn = self.inspector.drawn(pdf, self.font.as_deref(), wish).await?;
        let png = Arc::new(drawn.ok_or(NoPicture::NotDrawn)?.png());
        made.keep(key, &png);
        Ok(png)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_some_are_drawn_in_a_minute() {
        let mut made = Made::<u8>::new();
        let begin = Instant::now();
        let at = |seconds: u64| begin + Duration::from_secs(seconds);
        for second in 0..30 {
            assert!(made.may_draw(30, at(second)));
        }
        assert!(!made.may_draw(30, at(59)));
        assert!(made.may_draw(30, at(60)) && !made.may_draw(30, at(60)));
    }

    #[test]
    fn few_and_small_ones_are_kept() {
        let mut made = Made::new();
        made.keep(0, &Arc::new(vec![0; LARGEST_KEPT + 1]));
        assert!(made.kept.is_empty());
        for key in 1..=30 {
            made.keep(key, &Arc::new(vec![0; LARGEST_KEPT]));
        }
        assert_eq!((made.kept.len(), made.kept[0].0), (MOST_KEPT, 30));
    }
}
