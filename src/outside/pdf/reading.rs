//! What is printed on the pages of a PDF: the characters that are painted, in lines, with their places.
//!
//! In the child only. The engine gives each character with its place on the page. What nobody would see on paper
//! is left out: unpainted and nearly white characters, those outside the page or a clip, and those that something
//! opaque was drawn over. Whatever is left out can at worst make a page unreadable, never make it agree.

use std::time::Duration;

use crate::domain::address::usual;
use crate::domain::printed::{Printed, PrintedLine, PrintedPage};
use hayro_interpret::font::{Glyph, GlyphRun};
use hayro_interpret::hayro_cmap::{BfString, WritingMode};
use hayro_interpret::hayro_syntax::Pdf;
use hayro_interpret::hayro_syntax::page::Page;
use hayro_interpret::kurbo::{Affine, BezPath, Point, Rect, Shape as _};
use hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps, InterpreterCache,
    InterpreterSettings, Paint, SoftMask, TransformExt as _, interpret_page,
};

/// The processor's time for all pages. Later pages are then not read.
const ALL_PAGES: Duration = Duration::from_millis(1500);
const MOST_PAGES: usize = 200;
const MOST_GLYPHS: usize = 20_000;
/// The number of bytes of text of all pages.
const MOST_TEXT: usize = 192 << 10;
const MILLIMETRES_A_POINT: f64 = 25.4 / 72.0;
/// Fainter characters are not seen on paper.
const FAINT: f32 = 0.15;
/// The width of a character in its font's units.
const EM: f64 = 1000.0;

/// Reads the pages. A file that the engine refuses has none.
pub(super) fn read(bytes: &[u8]) -> Printed {
    let Ok(pdf) = Pdf::new(bytes.to_vec()) else { return Printed::default() };
    let mut left = MOST_TEXT;
    let mut pages = Vec::new();
    for page in pdf.pages().iter().take(MOST_PAGES) {
        if spent() > ALL_PAGES || left == 0 {
            break;
        }
        let mut read = read_page(&pdf, page);
        read.lines.retain(|line| {
            let fits = line.text.len() <= left;
            left = if fits { left - line.text.len() } else { 0 };
            fits
        });
        pages.push(read);
    }
    Printed { pages }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a page is not so large that a tenth of a millimetre is lost"
)]
fn millimetres(points: f64) -> f32 {
    (points * MILLIMETRES_A_POINT) as f32
}

/// The processor's time that this process has used. A busy machine must not decide what is read.
fn spent() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or(Duration::MAX)
}

fn read_page(pdf: &Pdf, page: &Page<'_>) -> PrintedPage {
    let (width, height) = page.render_dimensions();
    let bounds = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
    let cache = InterpreterCache::new();
    let settings = InterpreterSettings::default();
    let transform = page.initial_transform(true).to_kurbo();
    let mut context = Context::new(transform, bounds, &cache, pdf.xref(), settings);
    let mut seen = Seen { clips: vec![bounds], ..Seen::default() };
    interpret_page(page, &mut context, &mut seen);
    PrintedPage {
        width: millimetres(f64::from(width)),
        height: millimetres(f64::from(height)),
        unknown: seen.unknown,
        lines: lines(seen.characters),
    }
}

/// A character on the page, in points from the left and the top.
struct Character {
    text: String,
    at: Point,
    /// Where the next one would begin.
    end: Point,
    size: f64,
    is_vertical: bool,
}

#[derive(Default)]
struct Seen {
    characters: Vec<Character>,
    unknown: u32,
    /// Bounding boxes, each within the one before it.
    clips: Vec<Rect>,
    /// Groups that are open, and whether what is in them is seen.
    groups: Vec<bool>,
}

impl Seen {
    fn is_in_view(&self, at: Point) -> bool {
        self.groups.iter().all(|seen| *seen) && self.clips.last().is_some_and(|clip| clip.contains(at))
    }

    fn clip(&mut self, to: Rect) {
        let within = self.clips.last().map_or(to, |clip| clip.intersect(to));
        self.clips.push(within);
    }

    /// What was drawn there before is not seen any more.
    fn cover(&mut self, area: Rect) {
        let area = self.clips.last().map_or(area, |clip| clip.intersect(area));
        self.characters.retain(|character| !area.contains(middle(character)));
    }

    fn add(&mut self, glyph: &Glyph<'_>, transform: Affine, is_vertical: bool) {
        let at = transform * Point::ZERO;
        if self.characters.len() >= MOST_GLYPHS || !self.is_in_view(at) {
            return;
        }
        let advance = match glyph {
            Glyph::Outline(outline) => f64::from(outline.advance_width().unwrap_or(0.0)),
            Glyph::Type3(drawn) => f64::from(drawn.advance_width().unwrap_or(0.0)),
        };
        let advance = if advance > 0.0 { advance } else { EM };
        let along = |x: f64, y: f64| transform * Point::new(x, y);
        let end = if is_vertical { along(0.0, -EM) } else { along(advance, 0.0) };
        let size = match glyph {
            Glyph::Outline(_) => (along(0.0, EM) - at).hypot(),
            // Its units are its own. A character is about as high as it is wide, or twice as high.
            Glyph::Type3(_) => (end - at).hypot(),
        };
        let text = match glyph.as_unicode() {
            Some(BfString::Char(c)) => c.to_string(),
            Some(BfString::String(text)) => text,
            None => String::new(),
        };
        if text.is_empty() || text.chars().all(|c| c.is_control() || c == '\u{fffd}' || is_private(c)) {
            self.unknown += 1;
            return;
        }
        self.characters.push(Character { text, at, end, size, is_vertical });
    }
}

/// A code that every font gives another meaning.
fn is_private(c: char) -> bool {
    matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}')
}

fn middle(character: &Character) -> Point {
    let at = character.at.midpoint(character.end);
    if character.is_vertical { at } else { Point::new(at.x, at.y - character.size / 3.0) }
}

/// Whether paper shows it. A pattern counts as seen.
fn is_seen(paint: &Paint<'_>) -> bool {
    let Paint::Color(color) = paint else { return true };
    let [red, green, blue, alpha] = color.to_rgba().to_rgba8().map(|part| f32::from(part) / 255.0);
    let darkness = alpha * (1.0 - (0.3 * red + 0.59 * green + 0.11 * blue));
    darkness > FAINT
}

impl<'a> Device<'a> for Seen {
    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'a>, _: &DrawMode) {}

    fn draw_rect(&mut self, rect: &Rect, props: DrawProps<'a>, mode: &DrawMode) {
        let is_filled = matches!(mode, DrawMode::Fill(_) | DrawMode::FillAndStroke(..));
        let is_opaque = match &props.paint {
            Paint::Color(color) => color.to_rgba().to_rgba8()[3] > 230,
            Paint::Pattern(_) => true,
        };
        if is_filled && is_opaque && props.soft_mask.is_none() && props.blend_mode == BlendMode::Normal {
            self.cover((props.transform * rect.to_path(0.1)).bounding_box());
        }
    }

    fn push_clip_path(&mut self, clip: &ClipPath) {
        self.clip(clip.path.bounding_box());
    }

    fn push_clip_rect(&mut self, rect: &Rect) {
        self.clip(*rect);
    }

    fn push_transparency_group(&mut self, opacity: f32, _: Option<SoftMask<'a>>, _: BlendMode) {
        self.groups.push(opacity > FAINT);
    }

    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, mode: &DrawMode) {
        if matches!(mode, DrawMode::Invisible) || !is_seen(&props.paint) {
            return;
        }
        let is_vertical = matches!(run.writing_mode(), WritingMode::Vertical);
        for glyph in run.glyphs() {
            self.add(glyph, props.transform * glyph.transform(), is_vertical);
        }
    }

    fn draw_image(&mut self, image: Image<'a, '_>, props: ImageDrawProps<'a>) {
        // Text under a scan is what a machine read in it. A logo with transparent parts covers what it covers.
        let _ = image;
        if props.blend_mode == BlendMode::Normal {
            self.cover((props.transform * Rect::new(0.0, 0.0, 1.0, 1.0).to_path(0.1)).bounding_box());
        }
    }

    fn pop_clip(&mut self) {
        // The page itself stays.
        if self.clips.len() > 1 {
            self.clips.pop();
        }
    }

    fn pop_transparency_group(&mut self) {
        self.groups.pop();
    }
}

/// The text in usual characters, with one kind of hyphen between digits: fonts draw it by several.
fn normal(text: &str) -> String {
    let characters: Vec<char> = usual(text).chars().filter(|c| !c.is_control()).collect();
    let is_digit = |index: Option<usize>| {
        index.and_then(|index| characters.get(index)).is_some_and(char::is_ascii_digit)
    };
    let usual = characters.iter().enumerate().map(|(index, c)| {
        let is_hyphen = matches!(c, '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' | 'ー' | '─');
        let is_between = is_digit(index.checked_sub(1)) && is_digit(Some(index + 1));
        if is_hyphen && is_between { '-' } else { *c }
    });
    usual.collect()
}

/// Puts characters together: those on one line without a gap of two characters. Upright lines go from top to
/// bottom, then columns of vertical writing from right to left. Characters at an angle are left out.
fn lines(characters: Vec<Character>) -> Vec<PrintedLine> {
    let (vertical, horizontal): (Vec<Character>, Vec<Character>) =
        characters.into_iter().partition(|character| character.is_vertical);
    let upright = |one: &Character| {
        let way = one.end - one.at;
        way.x > 0.0 && way.y.abs() < way.x * 0.2
    };
    let mut horizontal: Vec<Character> = horizontal.into_iter().filter(upright).collect();
    horizontal.sort_by(|a, b| a.at.y.total_cmp(&b.at.y));
    let mut found = Vec::new();
    for row in rows(horizontal, |one| one.at.y) {
        found.extend(segments(row, |one| one.at.x, |one| one.end.x));
    }
    let mut vertical: Vec<Character> = vertical.into_iter().filter(|one| one.end.y > one.at.y).collect();
    vertical.sort_by(|a, b| b.at.x.total_cmp(&a.at.x));
    for column in rows(vertical, |one| -one.at.x) {
        found.extend(segments(column, |one| one.at.y, |one| one.end.y));
    }
    found
}

/// Splits sorted characters where the next one is half a character further.
fn rows(characters: Vec<Character>, place: impl Fn(&Character) -> f64) -> Vec<Vec<Character>> {
    let mut rows: Vec<Vec<Character>> = Vec::new();
    for character in characters {
        let near = |row: &Vec<Character>| {
            let first = row.first()?;
            Some((place(&character) - place(first)).abs() < first.size.max(character.size) * 0.5)
        };
        match rows.last_mut().filter(|row| near(row).unwrap_or(false)) {
            Some(row) => row.push(character),
            None => rows.push(vec![character]),
        }
    }
    rows
}

/// The lines of a row: a gap of two characters parts them, a smaller one is a space.
fn segments(
    mut row: Vec<Character>,
    begins: impl Fn(&Character) -> f64,
    ends: impl Fn(&Character) -> f64,
) -> Vec<PrintedLine> {
    row.sort_by(|a, b| begins(a).total_cmp(&begins(b)));
    let mut lines: Vec<PrintedLine> = Vec::new();
    let mut text = String::new();
    let mut area: Option<Rect> = None;
    let mut last: Option<(f64, f64, String)> = None;
    let mut finish = |text: &mut String, area: &mut Option<Rect>| {
        let (written, place) = (std::mem::take(text), area.take());
        let normal = normal(&written);
        if let Some(place) = place.filter(|_| !normal.trim().is_empty()) {
            lines.push(PrintedLine {
                text: normal.trim().to_owned(),
                left: millimetres(place.x0),
                top: millimetres(place.y0),
                right: millimetres(place.x1),
                bottom: millimetres(place.y1),
            });
        }
    };
    for character in row {
        if let Some((begun, ended, same)) = &last {
            // Bold text is sometimes drawn twice, a little apart.
            if *same == character.text && (begins(&character) - begun).abs() < character.size * 0.2 {
                continue;
            }
            let gap = begins(&character) - ended;
            if gap > character.size * 2.0 {
                finish(&mut text, &mut area);
            } else if gap > character.size * 0.3 && !text.ends_with(' ') {
                text.push(' ');
            }
        }
        text.push_str(&character.text);
        let (at, end, size) = (character.at, character.end, character.size);
        let own = if character.is_vertical {
            Rect::new(at.x - size / 2.0, at.y, at.x + size / 2.0, end.y)
        } else {
            Rect::new(at.x, at.y - size * 0.85, end.x, at.y + size * 0.15)
        };
        area = Some(area.map_or(own, |area| area.union(own)));
        last = Some((begins(&character), ends(&character), character.text));
    }
    finish(&mut text, &mut area);
    lines
}
