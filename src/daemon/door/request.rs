//! Reads the body of a request: documents go to the disk as they arrive, and all mistakes are reported
//! together.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderMap, header};
use hyper::body::Frame;
use multer::{Field, Multipart};
use sha2::{Digest as _, Sha256};
use tokio::time::timeout;

use super::problem::{Declined, FieldError, ProblemKind};
use crate::config::{Folder, LetterFields, LetterKind};
use crate::daemon::taking::{PIECE, USUAL_NAME, add, named};
use crate::domain::drop::{natural_order, showable};
use crate::domain::incoming::Enclosed;
use crate::domain::letter::{DOCUMENTS_PER_LETTER, LARGEST_DOCUMENT};
use crate::loops::intake::may_be_dropped;
use crate::outside::spool::Draft;

/// How long the next piece of a body may take.
const PATIENCE: Duration = Duration::from_secs(30);
const LARGEST_LETTER: usize = 1 << 20;
const MOST_UNREAD: usize = 1 << 20;
/// The maximum number of mistakes that are reported.
const MOST_TOLD: usize = 50;

/// A body that was read to its end.
pub(super) struct Received {
    pub(super) draft: Draft,
    /// The name of the drop.
    pub(super) name: String,
    pub(super) documents: Vec<Enclosed>,
    pub(super) fields: Option<LetterFields>,
}

/// The key of a request.
pub(super) fn key(headers: &HeaderMap) -> Result<String, Declined> {
    let mut keys = headers.get_all("idempotency-key").iter();
    let (Some(key), None) = (keys.next(), keys.next()) else {
        return Err(ProblemKind::KeyMissing.saying(
            "Send one header Idempotency-Key with a text that stands for this letter alone: the number of an \
             invoice, or a random UUID that is stored before the first try. Repeat a request with the same key.",
        ));
    };
    // The draft of the standard writes it in quotes.
    let text = key.to_str().unwrap_or_default().trim();
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    let is_good = (1..=255).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    if is_good {
        return Ok(text.to_owned());
    }
    Err(ProblemKind::KeyMissing.saying("It must have 1 to 255 visible ASCII characters without spaces."))
}

fn boundary(headers: &HeaderMap) -> Result<String, Declined> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_form =
        kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("multipart/form-data");
    let boundary = if is_form { multer::parse_boundary(kind).ok() } else { None };
    boundary.ok_or_else(|| {
        ProblemKind::NotMultipart.saying(
            "Send multipart/form-data: a part `document` for each PDF, and if needed a part `letter` with JSON.",
        )
    })
}

/// Reads a body. `draft` is where its documents go.
pub(super) async fn receive(
    headers: &HeaderMap,
    body: Body,
    draft: Draft,
    folder: &Folder,
) -> Result<Received, Declined> {
    let unread = Arc::<AtomicUsize>::default();
    let bounded = Body::new(Bounded { body, unread: Arc::clone(&unread) });
    let form = Multipart::new(bounded.into_data_stream(), boundary(headers)?);
    let mut reading = Reading { draft: Some(draft), unread, ..Reading::default() };
    reading.read(form, folder).await?;
    reading.finish(folder)
}

/// A body of which only so much may come without a part, or a piece of one, being read from it. It would all be in
/// memory.
struct Bounded {
    body: Body,
    unread: Arc<AtomicUsize>,
}

impl HttpBody for Bounded {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            let came = frame.data_ref().map_or(0, Bytes::len);
            if self.unread.fetch_add(came, Ordering::Relaxed) + came > MOST_UNREAD {
                let why = "more than a megabyte came in which no part begins";
                return Poll::Ready(Some(Err(axum::Error::new(io::Error::other(why)))));
            }
        }
        polled
    }
}

#[derive(Default)]
struct Reading {
    /// What came since something was read.
    unread: Arc<AtomicUsize>,
    /// `None` while a thread writes to it.
    draft: Option<Draft>,
    names: Vec<String>,
    documents: Vec<Enclosed>,
    letter: Option<Vec<u8>>,
    fields: Option<LetterFields>,
    mistakes: Vec<FieldError>,
}

impl Reading {
    fn mistake(&mut self, pointer: impl Into<String>, detail: impl Into<String>) {
        self.mistakes.push(FieldError { pointer: pointer.into(), detail: detail.into() });
    }

    async fn read(&mut self, mut form: Multipart<'_>, folder: &Folder) -> Result<(), Declined> {
        while let Some(field) = in_time(form.next_field()).await? {
            self.unread.store(0, Ordering::Relaxed);
            match field.name().unwrap_or_default() {
                "document" => {
                    if self.documents.len() == DOCUMENTS_PER_LETTER {
                        let detail = format!("A letter has at most {DOCUMENTS_PER_LETTER} documents.");
                        return Err(ProblemKind::TooLarge.saying(detail));
                    }
                    self.document(field).await?;
                }
                "letter" if self.letter.is_some() => self.mistake("#/letter", "it is there twice"),
                "letter" => self.letter = Some(small(field, &self.unread).await?),
                other => {
                    let pointer = format!("#/{}", clipped(&showable(other)));
                    self.mistake(pointer, "there is no such part; there are `document` and `letter`");
                    skip(field, &self.unread).await?;
                }
            }
            if self.mistakes.len() > MOST_TOLD {
                break;
            }
        }
        if let Some(bytes) = self.letter.take() {
            match folder.letter_fields(&bytes) {
                Ok(fields) => self.fields = Some(fields),
                Err(mistakes) => {
                    for mistake in mistakes {
                        self.mistake(format!("#/letter{}", mistake.pointer), mistake.what);
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes a document to the disk as it arrives.
    async fn document(&mut self, mut field: Field<'_>) -> Result<(), Declined> {
        let pointer = format!("#/document/{}", self.documents.len());
        let name = field.file_name().map_or_else(|| USUAL_NAME.to_owned(), named);
        let (mut size, mut hash, mut piece) = (0, Sha256::new(), Vec::new());
        while let Some(bytes) = in_time(field.chunk()).await? {
            self.unread.store(0, Ordering::Relaxed);
            size += bytes.len() as u64;
            if size > LARGEST_DOCUMENT {
                let detail = format!("A document has at most {LARGEST_DOCUMENT} bytes.");
                let error = FieldError { pointer, detail: detail.clone() };
                return Err(ProblemKind::TooLarge.saying(detail).with(vec![error]));
            }
            hash.update(&bytes);
            piece.extend_from_slice(&bytes);
            if piece.len() >= PIECE {
                self.write(std::mem::take(&mut piece)).await?;
            }
        }
        self.write(piece).await?;
        if size == 0 {
            self.mistake(pointer, "it is empty");
        }
        self.names.push(name.clone());
        self.documents.push(Enclosed { name, size, sha256: hex::encode(hash.finalize()) });
        Ok(())
    }

    async fn write(&mut self, piece: Vec<u8>) -> Result<(), Declined> {
        let Some(draft) = self.draft.take() else { return Err(trouble(&io::Error::other("no draft"))) };
        self.draft = Some(add(draft, piece).await.map_err(|error| trouble(&error))?);
        Ok(())
    }

    /// Checks what can be seen without the folder's rules.
    fn finish(mut self, folder: &Folder) -> Result<Received, Declined> {
        if self.documents.is_empty() {
            self.mistake("#/document", "there is none; send each PDF as a part `document`");
        }
        if folder.letter == LetterKind::File && self.documents.len() > 1 {
            let detail = "the folder takes one document for a letter; for several, use a queue into a folder with \
                          `letter: subfolder`";
            self.mistake("#/document/1", detail);
        }
        let name = match folder.letter {
            LetterKind::File => self.names.first().cloned().unwrap_or_default(),
            LetterKind::Subfolder => {
                let first = self.names.first().map_or(USUAL_NAME, String::as_str);
                in_order(&mut self.documents);
                first[..first.len().saturating_sub(4)].to_owned()
            }
        };
        let unfit = |name: &str| !name.is_empty() && !may_be_dropped(folder, name.as_bytes());
        for n in 0..self.names.len() {
            if unfit(&self.names[n]) || (n == 0 && unfit(&name)) {
                self.mistake(format!("#/document/{n}"), "its file name can't be used in the folder");
            }
        }
        if !self.mistakes.is_empty() {
            self.mistakes.truncate(MOST_TOLD);
            let detail = "Nothing was taken. `errors` has all of them.";
            return Err(ProblemKind::Fields.saying(detail).with(self.mistakes));
        }
        let draft = self.draft.ok_or_else(|| trouble(&io::Error::other("no draft")))?;
        Ok(Received { draft, name, documents: self.documents, fields: self.fields })
    }
}

/// Numbers the documents if their names would put them into another order, or if two have the same name.
fn in_order(documents: &mut [Enclosed]) {
    let follows = |pair: &[Enclosed]| natural_order(&pair[0].name, &pair[1].name).is_lt();
    let is_one_name = |one: &Enclosed, other: &Enclosed| one.name.to_lowercase() == other.name.to_lowercase();
    let is_repeated = (1..documents.len())
        .any(|n| documents[..n].iter().any(|earlier| is_one_name(earlier, &documents[n])));
    if documents.windows(2).all(follows) && !is_repeated {
        return;
    }
    for (n, document) in (1..).zip(documents) {
        document.name = format!("{n:02} {}", document.name);
    }
}

async fn in_time<T>(read: impl Future<Output = multer::Result<T>>) -> Result<T, Declined> {
    match timeout(PATIENCE, read).await {
        Ok(Ok(read)) => Ok(read),
        Ok(Err(error)) => Err(ProblemKind::Malformed.saying(format!("Nothing was taken: {error}."))),
        Err(_late) => Err(ProblemKind::TooSlow.saying("Nothing was taken. Repeat it with the same key.")),
    }
}

async fn small(mut field: Field<'_>, unread: &AtomicUsize) -> Result<Vec<u8>, Declined> {
    let mut value = Vec::new();
    while let Some(bytes) = in_time(field.chunk()).await? {
        unread.store(0, Ordering::Relaxed);
        if value.len() + bytes.len() > LARGEST_LETTER {
            return Err(ProblemKind::TooLarge.saying(format!("`letter` has at most {LARGEST_LETTER} bytes.")));
        }
        value.extend_from_slice(&bytes);
    }
    Ok(value)
}

async fn skip(mut field: Field<'_>, unread: &AtomicUsize) -> Result<(), Declined> {
    let mut read = 0;
    while let Some(bytes) = in_time(field.chunk()).await? {
        unread.store(0, Ordering::Relaxed);
        read += bytes.len() as u64;
        if read > LARGEST_DOCUMENT {
            return Err(ProblemKind::TooLarge.saying("A part that is not known is too large."));
        }
    }
    Ok(())
}

/// The disk is full, or does not work.
pub(super) fn trouble(error: &io::Error) -> Declined {
    let detail = if error.kind() == io::ErrorKind::StorageFull {
        "Nothing was taken: the disk is full. Repeat it later with the same key."
    } else {
        "Nothing was taken: the records can't be written. The journal says why. Repeat it later with the same key."
    };
    ProblemKind::Trouble.saying(detail)
}

fn clipped(name: &str) -> String {
    name.chars().take(50).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_keep_their_order() {
        let ordered = |names: &[&str]| {
            let one = |name: &&str| Enclosed { name: (*name).to_owned(), size: 1, sha256: String::new() };
            let mut documents: Vec<Enclosed> = names.iter().map(one).collect();
            in_order(&mut documents);
            documents.into_iter().map(|document| document.name).collect::<Vec<_>>()
        };
        assert_eq!(ordered(&["2.pdf", "10.pdf"]), ["2.pdf", "10.pdf"]);
        assert_eq!(ordered(&["10.pdf", "2.pdf"]), ["01 10.pdf", "02 2.pdf"]);
        assert_eq!(ordered(&["a.pdf", "A.pdf"]), ["01 a.pdf", "02 A.pdf"]);
        assert_eq!(ordered(&["a.pdf", "b.pdf", "A.pdf"]), ["01 a.pdf", "02 b.pdf", "03 A.pdf"]);
    }
}
