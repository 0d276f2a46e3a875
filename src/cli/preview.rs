//! `mailchute preview`: the envelope and the pages as they would be printed. Nothing is sent or moved.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use fs_err as fs;
use indicatif::{ProgressBar, ProgressDrawTarget};

use super::WrongWords;
use super::config::ConfigPath;
use super::explain::{Explained, explain, folder_of, held, left, name_of, refused};
use crate::config::Config;
use crate::domain::drop::Waiting;
use crate::domain::letter::{Color, Duplex, Order, Print};
use crate::domain::printed::Area;
use crate::domain::rules::{Found, Verdict};
use crate::outside::pdf::{DrawWish, Inspector, Picture, as_pdf, caption, envelope};

/// In pixels: A4 at 100 to the inch.
const WIDTH: u16 = 827;
/// Pages beyond these are only counted.
const MOST_PAGES: u32 = 40;

/// Draw a file as it would be posted: envelope, pages, sheets
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: ConfigPath,
    /// A PDF, or a subfolder of PDFs; a sidecar beside it is used
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The folder whose rules decide (default: the one in which the file lies, or the only one)
    #[arg(long, value_name = "NAME")]
    folder: Option<String>,
    /// Where to write it, as .png or .pdf (default: FILE.preview.png here)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let config = arguments.place.config()?;
    let file = &arguments.file;
    let output = arguments.output.clone();
    let output = output.unwrap_or_else(|| format!("{}.preview.png", name_of(file)).into());
    let kind = output.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let is_pdf = match kind.as_deref() {
        Some("pdf") => true,
        Some("png") => false,
        _ => return Err(WrongWords(format!("{}: write NAME.png or NAME.pdf", output.display())).into()),
    };
    not_a_drop(&config, &output)?;
    let folder = folder_of(&config, file, arguments.folder.as_deref())?;
    let drawer = Drawer { inspector: Inspector::of_this_program()?, font: config.page_font.clone() };
    let (found, explanation) = match explain(&drawer.inspector, folder, (&config.state, None), file).await? {
        Explained::Decided(found, explanation) => (found, explanation),
        Explained::Left(why) => bail!("nothing would be posted:\n{}", left(why)),
        Explained::Refused(refusal) => bail!("nothing would be posted:\n{}", refused(folder, &refusal)),
        Explained::Doubtful(doubtful) => {
            bail!("nothing would be posted:\n{}", held(folder, &Waiting::Doubt(doubtful)))
        }
    };
    match &explanation.verdict {
        Verdict::Send(..) => {}
        Verdict::Refuse(refusal) => super::say(refused(folder, refusal).trim_start())?,
        Verdict::Hold(waiting) => super::say(held(folder, waiting).trim_start())?,
    }
    let areas = folder.rules.areas(explanation.rule);
    let order = explanation.order.as_deref();
    let Drawn { pictures, pages, all } = drawer.letter(&found, order, areas).await?;
    let bytes = if is_pdf { as_pdf(&pictures) } else { Picture::column(&pictures)?.png() };
    std::io::Write::write_all(&mut fs::File::create_new(&output)?, &bytes)?;
    if pictures.iter().any(|picture| picture.font_missing) {
        let help = "set `page_font` in mailchute.yaml, or install fonts-noto-cjk";
        super::warn(&format!("text is not drawn, because its font is neither in the PDF nor here: {help}"));
    }
    let sheets = order.map_or_else(String::new, |order| format!(", {} sheet(s)", order.sheets()));
    Ok(super::say(&format!("{}: {pages} page(s) of {all}{sheets}", output.display()))?)
}

/// What is written into a hot folder would be posted.
fn not_a_drop(config: &Config, output: &Path) -> anyhow::Result<()> {
    let dir = output.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let dir = fs::canonicalize(dir)?;
    for folder in &config.folders {
        let is_inside = fs::canonicalize(&folder.path).is_ok_and(|path| dir.starts_with(path));
        let help = "name a place outside of it with -o";
        anyhow::ensure!(
            !is_inside,
            "{}: in folder {} it would be taken in; {help}",
            output.display(),
            folder.name
        );
    }
    anyhow::ensure!(!output.exists(), "{}: it is there already and is not overwritten", output.display());
    Ok(())
}

/// A letter in pictures.
struct Drawn {
    pictures: Vec<Picture>,
    /// The number of pages in them, and of all pages.
    pages: u32,
    all: u32,
}

/// The line above a page.
fn said_of(print: Option<&Print>, document: usize, page: u32, side: Option<(u32, bool)>) -> String {
    let sheet = match side {
        Some((sheet, is_front)) => format!("Sheet {sheet}, {}: ", if is_front { "front" } else { "back" }),
        None => String::new(),
    };
    let mut said = format!("{sheet}document {}, page {}", document + 1, page + 1);
    if let Some(print) = print {
        said += match print.color {
            Color::Grayscale => ", in grayscale",
            Color::Color => ", in color",
        };
        if print.staple.is_some() {
            said += ", stapled top left";
        } else if print.bind {
            said += ", bound";
        }
    }
    said
}

/// Sheets as the service counts them: pages on both sides share sheets across documents.
#[derive(Default)]
struct Sheets {
    count: u32,
    /// The sheet whose back is free.
    half: Option<u32>,
}

impl Sheets {
    /// The sheet of the next page, and whether it is its front.
    fn next(&mut self, duplex: Duplex) -> (u32, bool) {
        if duplex == Duplex::Double
            && let Some(sheet) = self.half.take()
        {
            return (sheet, false);
        }
        self.count += 1;
        if duplex == Duplex::Double {
            self.half = Some(self.count);
        }
        (self.count, true)
    }
}

struct Drawer {
    inspector: Inspector,
    /// For text whose font is not in the PDF.
    font: Option<PathBuf>,
}

impl Drawer {
    /// The envelope if it is known, and each page below a line that says what it is.
    async fn letter(
        &self,
        found: &[(PathBuf, Found)],
        order: Option<&Order>,
        mut areas: Vec<Area>,
    ) -> anyhow::Result<Drawn> {
        let mut drawn = Drawn { pictures: Vec::new(), pages: 0, all: 0 };
        if let Some(order) = order {
            drawn.pictures.push(self.own(&envelope(order)).await?);
        }
        let mut sheets = Sheets::default();
        let pages: u32 = found.iter().map(|(_, document)| document.pages).sum();
        let target = ProgressDrawTarget::stderr();
        let bar = ProgressBar::with_draw_target(Some(pages.min(MOST_PAGES).into()), target);
        for (number, (path, document)) in found.iter().enumerate() {
            let print = order.and_then(|order| Some(order.documents.get(number)?.print.clone()));
            let bytes = fs::read(path)?;
            drawn.all += document.pages;
            for page in 0..document.pages.min(MOST_PAGES.saturating_sub(drawn.pages)) {
                let side = print.as_ref().map(|print| sheets.next(print.duplex));
                let said = said_of(print.as_ref(), number, page, side);
                drawn.pictures.push(self.own(&caption(&said)).await?);
                let areas = std::mem::take(&mut areas);
                drawn.pictures.push(self.page(&bytes, print.as_ref(), page, areas).await?);
                drawn.pages += 1;
                bar.inc(1);
            }
        }
        bar.finish_and_clear();
        if drawn.pages < drawn.all {
            let more = format!("and {} more pages", drawn.all - drawn.pages);
            drawn.pictures.push(self.own(&caption(&more)).await?);
        }
        Ok(drawn)
    }

    async fn page(
        &self,
        pdf: &[u8],
        print: Option<&Print>,
        page: u32,
        areas: Vec<Area>,
    ) -> anyhow::Result<Picture> {
        let wish = DrawWish {
            page,
            width: WIDTH,
            grayscale: print.is_some_and(|print| print.color == Color::Grayscale),
            staple: page == 0 && print.is_some_and(|print| print.staple.is_some()),
            areas,
        };
        match self.picture(pdf, &wish).await? {
            Some(picture) => Ok(picture),
            None => self.own(&caption("This page can't be drawn. It is posted as it is.")).await,
        }
    }

    async fn own(&self, pdf: &[u8]) -> anyhow::Result<Picture> {
        let wish = DrawWish { width: WIDTH, ..DrawWish::default() };
        self.picture(pdf, &wish).await?.context("no picture can be drawn")
    }

    async fn picture(&self, pdf: &[u8], wish: &DrawWish) -> anyhow::Result<Option<Picture>> {
        let font = self.font.as_deref();
        let drawn = self.inspector.drawn(pdf, font, wish).await;
        drawn.with_context(|| match font {
            Some(font) => format!("no picture can be made with `page_font`, {}", font.display()),
            None => "no picture can be made".to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sheets_are_counted_as_the_service_counts_them() {
        let mut sheets = Sheets::default();
        let (double, single) = (Duplex::Double, Duplex::Single);
        let found: Vec<(u32, bool)> =
            [double, double, double, single, double, double].map(|duplex| sheets.next(duplex)).into();
        assert_eq!(found, [(1, true), (1, false), (2, true), (3, true), (2, false), (4, true)]);
        assert_eq!(sheets.count, 4);
    }
}
