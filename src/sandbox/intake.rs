//! Reads a request's body completely, within limits of size and time.

use std::time::Duration;

use axum::body::{Body, Bytes};
use bytes::BytesMut;
use http_body_util::BodyExt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    TooLarge,
    TooSlow,
    Broken,
}

/// How much of a body over its limit is still read, so that its sender gets to see the answer.
pub(super) const DRAINED: usize = 16 << 20;

pub(super) async fn read_body(body: Body, most: usize, patience: Duration) -> Result<Bytes, Trouble> {
    tokio::time::timeout(patience, read(body, most)).await.unwrap_or(Err(Trouble::TooSlow))
}

async fn read(mut body: Body, most: usize) -> Result<Bytes, Trouble> {
    let mut kept = BytesMut::new();
    let mut size = 0;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Trouble::Broken)?.into_data() else { continue };
        size += data.len();
        if size > most.max(DRAINED) {
            break;
        }
        if size <= most {
            kept.extend_from_slice(&data);
        }
    }
    if size <= most { Ok(kept.freeze()) } else { Err(Trouble::TooLarge) }
}
