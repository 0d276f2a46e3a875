//! Reads a request's body whole, but never more than allowed and never longer than patience lasts.

use std::time::Duration;

use axum::body::{Body, Bytes};
use http_body_util::{BodyExt, LengthLimitError, Limited};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    TooLarge,
    TooSlow,
    Broken,
}

pub(super) async fn read_body(body: Body, most: usize, patience: Duration) -> Result<Bytes, Trouble> {
    match tokio::time::timeout(patience, Limited::new(body, most).collect()).await {
        Err(_) => Err(Trouble::TooSlow),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Trouble::TooLarge),
        Ok(Err(_)) => Err(Trouble::Broken),
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
    }
}
