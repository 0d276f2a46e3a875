//! Uploads documents to their targets and downloads sealed PDFs, never with the token.

use bytes::Bytes;
use reqwest::multipart::{Form, Part};
use reqwest::{Client, StatusCode};

use super::failure::Failure;
use super::line::{Reply, exchange, plain};
use super::meter::{Meter, counted};
use super::places::Places;
use super::wire::{DownloadTarget, UploadTarget};

const LARGEST_XML: usize = 64 * 1024;
/// A sealed PDF is our document with at most a cover page.
const LARGEST_PDF: usize = 40_000_000;

/// The outcome of an upload that was answered.
#[derive(Debug, PartialEq, Eq)]
pub enum Stored {
    Yes,
    /// The target does not accept it.
    Refused(String),
}

/// Sends the received fields in their order, then the PDF, with its length and an ASCII name.
pub(super) async fn upload(
    http: &Client,
    places: &Places,
    meter: &Meter,
    target: &UploadTarget,
    name: String,
    pdf: Bytes,
) -> Result<Stored, Failure> {
    let url = match places.elsewhere(&target.url).await {
        Ok(url) => url,
        Err(bad) => return Ok(Stored::Refused(format!("the upload address is not used: {bad}"))),
    };
    let fields = target.fields.iter();
    let form = fields.fold(Form::new(), |form, (name, value)| form.text(name.clone(), value.clone()));
    let length = pdf.len() as u64;
    let part = Part::stream_with_length(pdf, length)
        .file_name(name)
        .mime_str("application/pdf")
        .map_err(|_| Failure::Unknown("the upload can't be built".to_owned()))?;
    meter.uploaded(length);
    let request = http.post(url).multipart(form.part("file", part));
    let reply = counted(meter, "upload", exchange(request, LARGEST_XML)).await?;
    if reply.status.is_success() {
        return Ok(Stored::Yes);
    }
    let why = refusal(&reply);
    if reply.status.is_server_error() || reply.status == StatusCode::TOO_MANY_REQUESTS {
        return Err(Failure::Later { soonest: None, why });
    }
    Ok(Stored::Refused(why))
}

/// The status decides. The code in the XML only explains it. Its message may repeat the form's fields.
fn refusal(reply: &Reply) -> String {
    let status = reply.status.as_u16();
    let code = std::str::from_utf8(&reply.body).ok().and_then(|xml| {
        let (_, rest) = xml.split_once("<Code>")?;
        Some(plain(rest.split_once("</Code>")?.0))
    });
    match code {
        Some(code) => format!("the upload target answered {status} {code}"),
        None => format!("the upload target answered {status}"),
    }
}

pub(super) async fn download(
    http: &Client,
    places: &Places,
    meter: &Meter,
    target: &DownloadTarget,
) -> Result<Vec<u8>, Failure> {
    let url = places
        .elsewhere(&target.url)
        .await
        .map_err(|bad| Failure::Refused(format!("the download address is not used: {bad}")))?;
    let reply = counted(meter, "download", exchange(http.get(url), LARGEST_PDF)).await?;
    if reply.status == StatusCode::OK {
        Ok(reply.body)
    } else {
        Err(Failure::Unknown(format!("the download answered {}", reply.status.as_u16())))
    }
}
