//! A letter's envelope and its first page as pictures, where people may see them (`show_pages`).
//!
//! They are made of the spool's copy when they are asked for. Nothing is shown of a letter whose copy or receiver is no
//! longer kept.

use std::path::PathBuf;

use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::Source;
use super::answers::reading;
use crate::domain::letter::{Color, Letter, Number};
use crate::outside::journal;
use crate::outside::pdf::{Album, DrawWish, Inspector, NoPicture, envelope};
use crate::outside::spool::Spool;
use crate::outside::store::Desk;

/// In pixels.
const WIDTH: u16 = 620;
const A_MINUTE: usize = 30;

/// What is drawn of a letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum View {
    Envelope,
    FirstPage,
}

#[derive(Debug)]
pub struct Pictures(Album<(Number, View)>);

impl Pictures {
    pub fn new(inspector: Inspector, font: Option<PathBuf>) -> Self {
        Self(Album::new(inspector, font, A_MINUTE))
    }
}

/// What a picture is made of.
struct Basis {
    pdf: Vec<u8>,
    grayscale: bool,
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
    let Basis { pdf, grayscale } = match read.await {
        Ok(Some(basis)) => basis,
        Ok(None) => return StatusCode::NOT_FOUND.into_response(),
        Err(status) => return status.into_response(),
    };
    let wish = DrawWish { width: WIDTH, grayscale, ..DrawWish::default() };
    match pictures.0.png((number, view), &pdf, &wish).await {
        Ok(png) => {
            // A page that refreshes itself must not ask for it each time.
            let headers =
                [(header::CONTENT_TYPE, "image/png"), (header::CACHE_CONTROL, "private, max-age=300")];
            (headers, png.to_vec()).into_response()
        }
        Err(NoPicture::TooMany) => {
            (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, "60")]).into_response()
        }
        Err(NoPicture::NotDrawn) => StatusCode::UNPROCESSABLE_ENTITY.into_response(),
        Err(NoPicture::Io(error)) => {
            journal::no_picture(number, &error);
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
