//! The object store beside the API: uploads by signed form, downloads by signed address, XML refusals.
//!
//! The form is read as it arrives: fields in any order, then one file, then nothing. A file over the limit is
//! counted and dropped, so that its refusal can state its size.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::BytesMut;
use multer::{Field, Multipart};
use quick_xml::escape::partial_escape;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::answer::answer;
use super::calls::Concerns;
use super::service::Service;
use super::world::{
    FormError, LARGEST_FILE, MailId, Received, Reply, Request as Call, StoreError, UploadFields,
};

const FIELDS_BEFORE_FILE: usize = 20_480;
/// How much of a refused body is still read. A larger one is refused unread.
const DRAINED: u64 = 16 << 20;
/// How long an upload waits while the maximum number is under way.
const LONGEST_QUEUE: Duration = Duration::from_secs(5);

pub(super) async fn upload(State(service): State<Arc<Service>>, request: Request) -> Response {
    let patience = service.patience.body.min(LONGEST_QUEUE);
    let Ok(place) = tokio::time::timeout(patience, service.uploads.acquire()).await else {
        return refusal_after_reading(&StoreError::SlowDown);
    };
    let read = async {
        let declared = declared_length(request.headers())?;
        let boundary = boundary(request.headers())?;
        if declared > DRAINED {
            return Err(StoreError::TooLarge { size: declared, most: LARGEST_FILE });
        }
        let form = Multipart::new(request.into_body().into_data_stream(), boundary);
        let read = tokio::time::timeout(service.patience.body, read_form(form)).await;
        read.map_err(|_| StoreError::Timeout)?.map_err(StoreError::from)
    };
    let read = read.await;
    let mail = read.as_ref().ok().and_then(|form| mail_of(&service, &form.fields));
    let outcome = match read {
        Err(refusal) => return refusal_after_reading(&refusal),
        Ok(Form { fields, file, trailing: Some(refusal) }) => {
            Ok(Reply::StoreError(refusal_of_trailing(&service, &fields, &file, refusal)))
        }
        Ok(Form { fields, file: Ok(file), trailing: None }) => service.upload(fields, file).await,
        Ok(Form { fields, file: Err(size), trailing: None }) => {
            service.call(Call::Upload { fields, file: Received::TooLarge { size } }).await
        }
    };
    drop(place);
    let mut response = answer(&service.places, outcome);
    if let Some(mail) = mail {
        response.extensions_mut().insert(Concerns(mail));
    }
    response
}

/// The letter whose key is in the form.
fn mail_of(service: &Service, fields: &UploadFields) -> Option<MailId> {
    let (_, key) = fields.0.iter().find(|(name, _)| name.eq_ignore_ascii_case("key"))?;
    let id = key.split('/').next()?;
    service.look(|world, _| world.mail(id).map(|mail| mail.id.clone()))
}

struct Form {
    fields: UploadFields,
    /// The bytes, or only their number if there are too many.
    file: Result<Bytes, u64>,
    /// What is wrong with what follows the file.
    trailing: Option<FormError>,
}

/// A signed field after the file counts as missing before it, and that is reported first.
fn refusal_of_trailing(
    service: &Service,
    fields: &UploadFields,
    file: &Result<Bytes, u64>,
    trailing: FormError,
) -> StoreError {
    let size = file.as_ref().map_or_else(|size| *size, |file| file.len() as u64);
    service.check(fields, size).err().unwrap_or_else(|| trailing.into())
}

async fn read_form(mut form: Multipart<'_>) -> Result<Form, FormError> {
    let mut fields: Vec<(String, String)> = Vec::new();
    let mut read = 0;
    loop {
        let Some(field) = next(&mut form).await? else { return Err(FormError::Files { found: 0 }) };
        let name = field.name().ok_or(FormError::Malformed)?.to_owned();
        if name.eq_ignore_ascii_case("file") {
            let file = read_file(field).await?;
            let trailing = what_follows(&mut form).await?;
            return Ok(Form { fields: UploadFields(fields), file, trailing });
        }
        if fields.iter().any(|(earlier, _)| earlier.eq_ignore_ascii_case(&name)) {
            return Err(FormError::FieldTwice(name));
        }
        let value = read_field(field, FIELDS_BEFORE_FILE.saturating_sub(read + name.len())).await?;
        read += name.len() + value.len();
        fields.push((name, value));
    }
}

async fn next<'r>(form: &mut Multipart<'r>) -> Result<Option<Field<'r>>, FormError> {
    form.next_field().await.map_err(|_| FormError::Malformed)
}

async fn read_field(mut field: Field<'_>, most: usize) -> Result<String, FormError> {
    let mut value = Vec::new();
    while let Some(piece) = field.chunk().await.map_err(|_| FormError::Malformed)? {
        if value.len() + piece.len() > most {
            return Err(FormError::FieldsTooLarge { most: FIELDS_BEFORE_FILE });
        }
        value.extend_from_slice(&piece);
    }
    String::from_utf8(value).map_err(|_| FormError::Malformed)
}

async fn read_file(mut field: Field<'_>) -> Result<Result<Bytes, u64>, FormError> {
    let mut kept = BytesMut::new();
    let mut size = 0;
    while let Some(piece) = field.chunk().await.map_err(|_| FormError::Malformed)? {
        size += piece.len() as u64;
        if size <= LARGEST_FILE {
            kept.extend_from_slice(&piece);
        }
    }
    Ok(if size <= LARGEST_FILE { Ok(kept.freeze()) } else { Err(size) })
}

async fn what_follows(form: &mut Multipart<'_>) -> Result<Option<FormError>, FormError> {
    Ok(next(form).await?.map(|field| match field.name().unwrap_or_default() {
        name if name.eq_ignore_ascii_case("file") => FormError::Files { found: 2 },
        name => FormError::FieldAfterFile(name.to_owned()),
    }))
}

fn declared_length(headers: &HeaderMap) -> Result<u64, FormError> {
    headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse().ok())
        .ok_or(FormError::LengthRequired)
}

fn boundary(headers: &HeaderMap) -> Result<String, FormError> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_form =
        kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("multipart/form-data");
    if !is_form {
        return Err(FormError::NotMultipart);
    }
    multer::parse_boundary(kind).map_err(|_| FormError::Malformed)
}

/// The rest of the body is unread, so the connection cannot be used again.
fn refusal_after_reading(error: &StoreError) -> Response {
    let mut response = refusal(error);
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

pub(super) async fn download(
    State(service): State<Arc<Service>>,
    key: Result<Path<String>, PathRejection>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    // A key that is not text belongs to nothing.
    let key = key.map(|Path(key)| key).unwrap_or_default();
    let query = form_urlencoded::parse(query.unwrap_or_default().as_bytes()).into_owned().collect();
    match service.call(Call::Download { key, query }).await {
        Ok(Reply::Document(document)) => match service.document(&document.blob, &document.sha256).await {
            Some(bytes) => pdf(bytes, &document.file_name, &headers),
            None => refusal(&StoreError::Internal),
        },
        other => answer(&service.places, other),
    }
}

/// A PDF for a browser to show, or a part of it. The name is encoded as RFC 6266 requires.
pub(super) fn pdf(bytes: Bytes, file_name: &str, asked: &HeaderMap) -> Response {
    let name = percent_encoding::utf8_percent_encode(file_name, percent_encoding::NON_ALPHANUMERIC);
    let disposition = format!("inline; filename*=UTF-8''{name}");
    let headers = [
        (header::CONTENT_TYPE, "application/pdf".to_owned()),
        (header::CONTENT_DISPOSITION, disposition),
        (header::CACHE_CONTROL, "private, no-store".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::ACCEPT_RANGES, "bytes".to_owned()),
    ];
    let size = bytes.len();
    let wanted = asked
        .get(header::RANGE)
        .and_then(|range| range.to_str().ok())
        .map_or(Part::All, |range| part(range, size));
    match wanted {
        Part::All => (headers, Body::from(bytes)).into_response(),
        Part::Bytes(first, last) => {
            let range = [(header::CONTENT_RANGE, format!("bytes {first}-{last}/{size}"))];
            (StatusCode::PARTIAL_CONTENT, headers, range, Body::from(bytes.slice(first..=last)))
                .into_response()
        }
        Part::Nothing => {
            let range = [(header::CONTENT_RANGE, format!("bytes */{size}"))];
            (StatusCode::RANGE_NOT_SATISFIABLE, range).into_response()
        }
    }
}

/// What a `Range` header asks for.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    All,
    /// From one byte to another, both of which are in it.
    Bytes(usize, usize),
    /// It begins behind the end.
    Nothing,
}

/// One range of bytes. Several, or anything else, count as no wish (RFC 9110, 14.2).
fn part(range: &str, size: usize) -> Part {
    let Some((first, last)) = range.strip_prefix("bytes=").and_then(|range| range.trim().split_once('-'))
    else {
        return Part::All;
    };
    let end = size.saturating_sub(1);
    match (first.parse::<usize>().ok(), last.parse::<usize>().ok()) {
        (Some(first), Some(last)) if last < first => Part::All,
        (Some(first), _) if first >= size && (last.is_empty() || last.parse::<usize>().is_ok()) => {
            Part::Nothing
        }
        (Some(first), Some(last)) => Part::Bytes(first, last.min(end)),
        (Some(first), None) if last.is_empty() => Part::Bytes(first, end),
        (None, Some(0)) if first.is_empty() => Part::Nothing,
        (None, Some(most)) if first.is_empty() => Part::Bytes(size.saturating_sub(most), end),
        (Some(_) | None, None) | (None, Some(_)) => Part::All,
    }
}

/// `<Error>` as object stores write it: without white space between elements.
pub(super) fn refusal(error: &StoreError) -> Response {
    let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut writer = quick_xml::Writer::new(Vec::new());
    let written =
        writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None))).and_then(|()| {
            writer.get_mut().push(b'\n');
            writer.create_element("Error").write_inner_content(|inside| {
                for (name, value) in error.elements() {
                    inside
                        .create_element(name)
                        .write_text_content(BytesText::from_escaped(partial_escape(printable(&value))))?;
                }
                inside.create_element("RequestId").write_empty()?;
                inside.create_element("HostId").write_empty().map(|_| ())
            })?;
            Ok(())
        });
    let body = written.map(|()| writer.into_inner()).unwrap_or_default();
    (status, [(header::CONTENT_TYPE, "application/xml")], body).into_response()
}

/// XML cannot contain most control characters.
fn printable(text: &str) -> String {
    text.replace(|c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r'), "\u{fffd}")
}

pub(super) async fn wrong_method() -> Response {
    refusal(&StoreError::MethodNotAllowed)
}

pub(super) async fn no_such_key() -> Response {
    refusal(&StoreError::NoSuchKey)
}

#[cfg(test)]
mod tests {
    use super::{Part, part};

    #[test]
    fn one_range_is_given_and_what_is_not_understood_is_no_wish() {
        for (range, wanted) in [
            ("bytes=0-0", Part::Bytes(0, 0)),
            ("bytes=2-", Part::Bytes(2, 9)),
            ("bytes=2-99", Part::Bytes(2, 9)),
            ("bytes=-3", Part::Bytes(7, 9)),
            ("bytes=-99", Part::Bytes(0, 9)),
            ("bytes=10-", Part::Nothing),
            ("bytes=10-12", Part::Nothing),
            ("bytes=-0", Part::Nothing),
            ("bytes=5-2", Part::All),
            ("bytes=0-1,3-4", Part::All),
            ("bytes=-", Part::All),
            ("bytes=a-b", Part::All),
            ("bytes=1-b", Part::All),
            ("bytes=99-b", Part::All),
            ("lines=0-1", Part::All),
        ] {
            assert_eq!(part(range, 10), wanted, "{range}");
        }
    }
}
