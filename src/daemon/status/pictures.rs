//! A letter's envelope and its first page as pictures, where people may see them (`show_pages`).
//!
//! They are made of the spool's copy when they are asked for, one at a time and not more than 30 a minute. A few are
//! kept in memory. Nothing is shown of a letter whose copy or receiver is no longer kept.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use chrono::TimeDelta;
use tokio::sync::Mutex;

use super::Source;
use super::answers::reading;
use crate::base::clock::Time;
use crate::domain::letter::{Color, Letter, Number};
use crate::outside::journal;
use crate::outside::pdf::{DrawWish, Inspector, envelope};
use crate::outside::spool::Spool;
use crate::outside::store::Desk;

/// In pixels.
const WIDTH: u16 = 620;
const MOST_KEPT: usize = 12;
const LARGEST_KEPT: usize = 256 << 10;
/// The number of pictures that are drawn in a minute.
const A_MINUTE: usize = 30;

/// What is drawn of a letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum View {
    Envelope,
    FirstPage,
}

#[derive(Debug)]
pub struct Pictures {
    inspector: Inspector,
    /// For text whose font is not in the PDF.
    font: Option<PathBuf>,
    made: Mutex<Made>,
}

#[derive(Debug, Default)]
struct Made {
    kept: VecDeque<(Number, View, Arc<Vec<u8>>)>,
    /// When the last ones were drawn.
    lately: VecDeque<Time>,
}

impl Made {
    /// Whether another one may be drawn now. It then counts.
    fn may_draw(&mut self, now: Time) -> bool {
        self.lately.retain(|at| now - at < TimeDelta::minutes(1) && *at <= now);
        let may = self.lately.len() < A_MINUTE;
        if may {
            self.lately.push_back(now);
        }
        may
    }

    fn keep(&mut self, number: Number, view: View, png: &Arc<Vec<u8>>) {
        if png.len() <= LARGEST_KEPT {
            self.kept.push_front((number, view, Arc::clone(png)));
            self.kept.truncate(MOST_KEPT);
        }
    }
}

/// What a picture is made of.
struct Basis {
    pdf: Vec<u8>,
    grayscale: bool,
}

impl Pictures {
    pub fn new(inspector: Inspector, font: Option<PathBuf>) -> Self {
        Self { inspector, font, made: Mutex::default() }
    }

    /// The picture as PNG.
    async fn of(
        &self,
        number: Number,
        view: View,
        basis: Basis,
        now: Time,
    ) -> Result<Arc<Vec<u8>>, StatusCode> {
        let mut made = self.made.lock().await;
        if let Some((.., png)) = made.kept.iter().find(|(its, seen, _)| (*its, *seen) == (number, view)) {
            return Ok(Arc::clone(png));
        }
        if !made.may_draw(now) {
            return Err(StatusCode::TOO_MANY_REQUESTS);
        }
        let wish = DrawWish { width: WIDTH, grayscale: basis.grayscale, ..DrawWish::default() };
        let drawn = self.inspector.drawn(&basis.pdf, self.font.as_deref(), &wish).await;
        let picture = drawn.map_err(|error| {
            journal::no_picture(number, &error);
            StatusCode::INTERNAL_SERVER_ERROR
        })?;
        let picture = picture.ok_or(StatusCode::UNPROCESSABLE_ENTITY)?;
        let png = Arc::new(picture.png());
        made.keep(number, view, &png);
        Ok(png)
    }
}

fn basis(desk: &Desk, letter: &Letter, view: View) -> Option<Basis> {
    if letter.order.is_anonymous() {
        return None;
    }
    let spool = Spool::open(&desk.home().spool()).ok()?;
    let pdf = spool.document(&letter.entry.parse().ok()?, &letter.order, 0).ok()?;
    let color = letter.order.documents.first()?.print.color;
    Some(match view {
        View::Envelope => Basis { pdf: envelope(&letter.order), grayscale: false },
        View::FirstPage => Basis { pdf, grayscale: color == Color::Grayscale },
    })
}

pub(super) async fn picture(
    State(source): State<Source>,
    Path((number, name)): Path<(u64, String)>,
) -> Response {
    let view = match name.as_str() {
        "envelope.png" => View::Envelope,
        "page.png" => View::FirstPage,
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let Some(pictures) = source.pictures.clone() else { return StatusCode::NOT_FOUND.into_response() };
    let number = Number(number);
    let read = reading(&source, move |_, desk| {
        Ok(desk.letter(number)?.and_then(|letter| basis(desk, &letter, view)))
    });
    let drawn = match read.await {
        Ok(Some(basis)) => pictures.of(number, view, basis, source.clock.now()).await,
        Ok(None) => Err(StatusCode::NOT_FOUND),
        Err(status) => Err(status),
    };
    match drawn {
        Ok(png) => ([(header::CONTENT_TYPE, "image/png")], png.to_vec()).into_response(),
        Err(StatusCode::TOO_MANY_REQUESTS) => {
            let again = Duration::from_mins(1).as_secs().to_string();
            (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, again)]).into_response()
        }
        Err(status) => status.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_some_are_drawn_in_a_minute() {
        let mut made = Made::default();
        let at = |seconds: i64| Time::UNIX_EPOCH + TimeDelta::seconds(seconds);
        for second in 0..30 {
            assert!(made.may_draw(at(second)));
        }
        assert!(!made.may_draw(at(59)));
        assert!(made.may_draw(at(60)) && !made.may_draw(at(60)));
        // A clock that was set back does not lock people out.
        assert!(made.may_draw(at(-1000)));
    }

    #[test]
    fn few_and_small_ones_are_kept() {
        let mut made = Made::default();
        made.keep(Number(0), View::Envelope, &Arc::new(vec![0; LARGEST_KEPT + 1]));
        assert!(made.kept.is_empty());
        for number in 1..=20 {
            made.keep(Number(number), View::FirstPage, &Arc::new(vec![0; LARGEST_KEPT]));
        }
        assert_eq!((made.kept.len(), made.kept[0].0), (MOST_KEPT, Number(20)));
    }
}
