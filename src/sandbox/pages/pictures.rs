//! Pages of uploaded PDFs as pictures: in grayscale where they would be printed so, and with their staple.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::{Named, ServiceState, missing};
use crate::outside::pdf::{Album, DrawWish, NoPicture};
use crate::sandbox::world::BlobId;

/// In pixels.
const WIDTH: u16 = 620;
/// The pages that a letter's page shows of one document.
pub(super) const MOST_SHOWN: u32 = 50;

/// A page of a file, and how it would be printed.
pub(in crate::sandbox) type PageAlbum = Album<(BlobId, u32, bool)>;

/// The picture of a page: `1.png` is the first one.
pub(in crate::sandbox) async fn page(
    State(service): ServiceState,
    names: Named<(String, usize, String)>,
    headers: HeaderMap,
) -> Response {
    let Ok(Path((id, number, name))) = names else { return missing(&headers) };
    let shown = name.strip_suffix(".png").and_then(|page| page.parse::<u32>().ok());
    let page = shown.and_then(|page| page.checked_sub(1)).filter(|page| *page < MOST_SHOWN);
    let (Some(page), Some(album)) = (page, &service.pages) else { return missing(&headers) };
    let found = service.show(|world, _| {
        let (mail, index) = (world.mail(&id)?, number.checked_sub(1)?);
        let stored = mail.contents.get(index)?.upload.clone()?;
        Some((stored, mail.order.files.get(index)?.clone()))
    });
    let Ok(Some((stored, file))) = found.await else { return missing(&headers) };
    let Ok(_turn) = service.drawings.acquire().await else { return missing(&headers) };
    let Some(pdf) = service.document(&stored.blob, &stored.sha256).await else { return missing(&headers) };
    let grayscale = file.color == "grayscale";
    let wish = DrawWish {
        page,
        width: WIDTH,
        grayscale,
        staple: page == 0 && file.staple.is_some(),
        ..DrawWish::default()
    };
    match album.png((stored.blob, page, grayscale), &pdf, &wish).await {
        Ok(png) => {
            let headers =
                [(header::CONTENT_TYPE, "image/png"), (header::CACHE_CONTROL, "private, max-age=300")];
            (headers, Arc::unwrap_or_clone(png)).into_response()
        }
        Err(NoPicture::TooMany | NoPicture::NotDrawn) => StatusCode::UNPROCESSABLE_ENTITY.into_response(),
        Err(NoPicture::Io(error)) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "a page can't be drawn");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
