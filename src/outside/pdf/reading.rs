//! What is printed on the pages of a PDF: the characters that are painted, in lines, with their places.
//!
//! In the child only. The engine gives each character with its place on the page. What nobody would see on paper
//! is left out: unpainted and nearly white characters, those outside the page or a clip, and those that something
//! opaque was drawn over. Whatever is left out can at worst make a page unreadable, never make it agree.

use std::time::Duration;

use super::fonts;
use super::lines::{Character, lines, millimetres, upright};
use crate::domain::printed::{PageLook, Printed, PrintedPage};
use hayro_interpret::font::{Glyph, GlyphRun};
use hayro_interpret::hayro_cmap::{BfString, WritingMode};
use hayro_interpret::hayro_syntax::Pdf;
use hayro_interpret::hayro_syntax::page::Page;
use hayro_interpret::kurbo::{Affine, BezPath, Point, Rect, Shape as _};
use hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageData, ImageDrawProps,
    InterpreterCache, InterpreterSettings, LumaData, Paint, SoftMask, TransformExt as _, interpret_page,
};

/// The processor's time for all pages. Later pages are then not read.
const ALL_PAGES: Duration = Duration::from_millis(1500);
const MOST_PAGES: usize = 200;
const MOST_GLYPHS: usize = 20_000;
/// The number of bytes of text of all pages.
const MOST_TEXT: usize = 192 << 10;
/// Fainter characters are not seen on paper.
const FAINT: f32 = 0.15;
/// The number of pixels of all pictures that are looked at for colour.
const MOST_PIXELS: u64 = 4 << 20;
/// Red, green and blue of a gray differ by at most this much, of 255.
const TINT: u8 = 24;
/// The least alpha of a pixel that hides what is below it, of 255.
const OPAQUE: u8 = 230;
/// The smallest size of characters that count, in points.
const SMALLEST: f64 = 3.0;
/// The width of a character in its font's units.
const EM: f64 = 1000.0;

/// Reads the pages. A file that the engine refuses has none.
pub fn read(bytes: &[u8]) -> Printed {
    let begun = spent();
    let Ok(pdf) = Pdf::new(bytes.to_vec()) else { return Printed::default() };
    let mut left = MOST_TEXT;
    let mut pixels = MOST_PIXELS;
    let mut pages = Vec::new();
    for page in pdf.pages().iter().take(MOST_PAGES) {
        if spent().saturating_sub(begun) > ALL_PAGES || left == 0 {
            break;
        }
        let mut read = read_page(&pdf, page, &mut pixels);
        read.lines.retain(|line| {
            let fits = line.text.len() <= left;
            left = if fits { left - line.text.len() } else { 0 };
            fits
        });
        pages.push(read);
    }
    let count = u32::try_from(pdf.pages().len()).unwrap_or(u32::MAX);
    Printed { pages, count }
}

/// The processor's time that this process has used. A busy machine must not decide what is read.
fn spent() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or(Duration::MAX)
}

fn read_page(pdf: &Pdf, page: &Page<'_>, pixels: &mut u64) -> PrintedPage {
    let (width, height) = page.render_dimensions();
    let bounds = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
    let cache = InterpreterCache::new();
    let settings = InterpreterSettings::default();
    let transform = page.initial_transform(true).to_kurbo();
    let mut context = Context::new(transform, bounds, &cache, pdf.xref(), settings);
    let mut seen = Seen { clips: vec![bounds], pixels_left: *pixels, ..Seen::default() };
    interpret_page(page, &mut context, &mut seen);
    *pixels = seen.pixels_left;
    let look = PageLook {
        blank: !seen.is_painted,
        color: seen.has_color,
        missing_fonts: fonts::are_missing(page.resources()),
    };
    let (characters, width, height) = upright(seen.characters, f64::from(width), f64::from(height));
    PrintedPage {
        width: millimetres(width),
        height: millimetres(height),
        unknown: seen.unknown,
        look,
        lines: lines(characters),
    }
}

#[derive(Default)]
struct Seen {
    characters: Vec<Character>,
    unknown: u32,
    /// Bounding boxes, each within the one before it.
    clips: Vec<Rect>,
    /// Groups that are open, and whether what is in them is seen.
    groups: Vec<bool>,
    /// Something is seen on paper.
    is_painted: bool,
    has_color: bool,
    pixels_left: u64,
}

impl Seen {
    fn is_in_view(&self, at: Point) -> bool {
        self.groups.iter().all(|seen| *seen) && self.clips.last().is_some_and(|clip| clip.contains(at))
    }

    /// Something is drawn in an area.
    fn draws(&mut self, area: Rect, paint: &Paint<'_>) {
        // A line has no width or no height.
        let touches = |clip: &Rect| {
            area.x0 <= clip.x1 && area.x1 >= clip.x0 && area.y0 <= clip.y1 && area.y1 >= clip.y0
        };
        let is_in_view = self.clips.last().is_none_or(touches);
        if is_in_view && is_seen(paint) && self.groups.iter().all(|seen| *seen) {
            self.is_painted = true;
            self.has_color |= is_colored(paint);
        }
    }

    /// A picture is seen, is coloured if one of its pixels is, and covers what is below it if it is opaque.
    fn shows(&mut self, image: &Image<'_, '_>, transform: Affine) {
        self.is_painted = true;
        // A mask, nearly always of black text.
        let Image::Raster(raster) = image else { return };
        let size = u64::from(raster.width()) * u64::from(raster.height());
        let (mut has_color, mut is_opaque) = (false, true);
        // One that is too large to be looked at covers, as a scan does.
        if let Some(left) = self.pixels_left.checked_sub(size) {
            self.pixels_left = left;
            let look = |data: ImageData, alpha: Option<LumaData>| {
                if let ImageData::Rgb(data) = data {
                    has_color = data.data.chunks_exact(3).any(is_tinted);
                }
                is_opaque = alpha.is_none_or(|alpha| {
                    let opaque = alpha.data.iter().filter(|alpha| **alpha > OPAQUE).count();
                    opaque * 20 >= alpha.data.len() * 19
                });
            };
            raster.with_rgba(look, None);
        }
        self.has_color |= has_color;
        if is_opaque {
            let (width, height) = (f64::from(raster.width()), f64::from(raster.height()));
            self.cover(transform.transform_rect_bbox(Rect::new(0.0, 0.0, width, height)));
        }
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
        if matches!(glyph, Glyph::Outline(_)) && size < SMALLEST {
            return;
        }
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

/// Whether it is not a shade of gray.
fn is_colored(paint: &Paint<'_>) -> bool {
    let Paint::Color(color) = paint else { return false };
    is_tinted(&color.to_rgba().to_rgba8()[..3])
}

fn is_tinted(parts: &[u8]) -> bool {
    let (least, most) = (parts.iter().min(), parts.iter().max());
    least.zip(most).is_some_and(|(least, most)| most - least > TINT)
}

impl<'a> Device<'a> for Seen {
    fn draw_path(&mut self, path: &BezPath, props: DrawProps<'a>, _: &DrawMode) {
        self.draws(props.transform.transform_rect_bbox(path.bounding_box()), &props.paint);
    }

    fn draw_rect(&mut self, rect: &Rect, props: DrawProps<'a>, mode: &DrawMode) {
        let is_filled = matches!(mode, DrawMode::Fill(_) | DrawMode::FillAndStroke(..));
        let is_opaque = match &props.paint {
            Paint::Color(color) => color.to_rgba().to_rgba8()[3] > OPAQUE,
            Paint::Pattern(_) => true,
        };
        self.draws(props.transform.transform_rect_bbox(*rect), &props.paint);
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

    fn push_transparency_group(&mut self, opacity: f32, mask: Option<SoftMask<'a>>, _: BlendMode) {
        // What a mask leaves of it is not known.
        self.groups.push(opacity > FAINT && mask.is_none());
    }

    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, mode: &DrawMode) {
        if matches!(mode, DrawMode::Invisible) || !is_seen(&props.paint) {
            return;
        }
        if props.soft_mask.is_some() {
            return;
        }
        let is_vertical = matches!(run.writing_mode(), WritingMode::Vertical);
        let before = self.characters.len() + usize::try_from(self.unknown).unwrap_or_default();
        for glyph in run.glyphs() {
            self.add(glyph, props.transform * glyph.transform(), is_vertical);
        }
        if self.characters.len() + usize::try_from(self.unknown).unwrap_or_default() > before {
            self.is_painted = true;
            self.has_color |= is_colored(&props.paint);
        }
    }

    fn draw_image(&mut self, image: Image<'a, '_>, props: ImageDrawProps<'a>) {
        // Text under a scan is what a machine read in it.
        self.shows(&image, props.transform);
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
