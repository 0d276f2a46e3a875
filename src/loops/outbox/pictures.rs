//! Small pictures of what is held, as parts of the e-mails about it (`email: {pictures: true}`).
//!
//! An e-mail never waits for them: what is not read and drawn in time, is too large, or is not there any more with the
//! bytes that were decided about, has no picture.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};

use super::Outbox;
use super::mailer::InlinePicture;
use crate::domain::drop::{Undecided, Waiting};
use crate::domain::letter::{Color, LARGEST_DOCUMENT, Number};
use crate::domain::printed::OtherAddressee;
use crate::outside::hot::Content;
use crate::outside::pdf::{DrawWish, Inspector};
use crate::outside::spool::{Spool, sha256_of};
use crate::outside::store::Original;
use crate::words::message::{EmailContent, Item};

/// In pixels.
const WIDTH: u16 = 420;
const MOST: usize = 10;
const LARGEST: usize = 512 << 10;
const LARGEST_TOGETHER: usize = 2 << 20;
/// For all pictures of an e-mail.
const PATIENCE: Duration = Duration::from_secs(10);

/// What draws them.
#[derive(Debug, Clone)]
pub(super) struct Drawer {
    pub(super) inspector: Inspector,
    /// For text whose font is not in the PDF.
    pub(super) font: Option<PathBuf>,
}

/// A page to be drawn, from 0.
struct Wanted {
    pdf: Vec<u8>,
    page: u32,
    grayscale: bool,
}

impl Outbox {
    /// Draws what the items are about and names it in them. `name` is that of the e-mail.
    pub(super) async fn pictures(
        &self,
        drawer: &Drawer,
        content: &mut EmailContent,
        name: &str,
    ) -> Vec<InlinePicture> {
        let (end, mut pictures, mut bytes) = (Instant::now() + PATIENCE, Vec::new(), 0);
        for (number, item) in content.items.iter_mut().take(MOST).enumerate() {
            let Ok(Some(png)) = timeout_at(end, self.picture(drawer, item)).await else { continue };
            if png.len() > LARGEST || bytes + png.len() > LARGEST_TOGETHER {
                continue;
            }
            bytes += png.len();
            let id = format!("{}.{name}", number + 1);
            item.picture = Some(id.clone());
            pictures.push(InlinePicture { id, png });
        }
        pictures
    }

    async fn picture(&self, drawer: &Drawer, item: &Item) -> Option<Vec<u8>> {
        let Wanted { pdf, page, grayscale } = match (item.number, &item.drop) {
            (Some(number), _) => self.of_letter(Number(number))?,
            (None, Some(drop)) => self.of_drop(self.store.original(&drop.parse().ok()?).ok()??).await?,
            (None, None) => return None,
        };
        let wish = DrawWish { page, width: WIDTH, grayscale, ..DrawWish::default() };
        let drawn = drawer.inspector.drawn(&pdf, drawer.font.as_deref(), &wish).await;
        Some(drawn.ok()??.png())
    }

    fn of_letter(&self, number: Number) -> Option<Wanted> {
        let letter = self.store.letter(number).ok()??;
        let spool = Spool::open(&self.store.home().spool()).ok()?;
        let pdf = spool.document(&letter.entry.parse().ok()?, &letter.order, 0).ok()?;
        let grayscale = letter.order.documents.first()?.print.color == Color::Grayscale;
        Some(Wanted { pdf, page: 0, grayscale })
    }

    /// A drop is drawn from its original, wherever in the folder it lies, if it still has the bytes that were decided
    /// about.
    async fn of_drop(&self, original: Original) -> Option<Wanted> {
        let hot = self.registry.get(&original.origin.folder)?.hot?;
        let page = original.fate.undecided().map_or(0, page_in_question);
        let read = move || -> io::Result<Option<Vec<u8>>> {
            let claimed = hot.find_claimed(original.ulid.as_str(), &original.origin.name)?;
            let shelved = original.shelved.map(|path| PathBuf::from(OsStr::from_bytes(&path)));
            let Some(path) = claimed.or(shelved) else { return Ok(None) };
            let content = hot.read_at(&path, LARGEST_DOCUMENT)?;
            Ok(match content {
                Content::Whole { bytes, .. } if Some(sha256_of(&bytes)) == original.content => Some(bytes),
                Content::Whole { .. }
                | Content::TooLarge(_)
                | Content::NotAFile(_)
                | Content::Linked
                | Content::NoRight
                | Content::Changing => None,
            })
        };
        // A share that hangs holds up this thread only.
        let pdf = spawn_blocking(read).await.ok()?.ok()??;
        Some(Wanted { pdf, page, grayscale: false })
    }
}

/// The page for which a drop waits, from 0.
fn page_in_question(undecided: &Undecided) -> u32 {
    let Undecided::Waits(Waiting::Page(doubt)) = undecided else { return 0 };
    match &doubt.found {
        OtherAddressee::Named { page, .. } => page.saturating_sub(1),
        OtherAddressee::Unclear(_) => 0,
    }
}
