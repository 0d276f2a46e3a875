//! A page as a picture, as it will be printed. In the child only.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use hayro::vello_cpu::Pixmap;
use hayro::vello_cpu::color::palette::css::{TRANSPARENT, WHITE};
use hayro::{PixmapSettings, RenderCache, RenderSettings, render};
use hayro_interpret::InterpreterSettings;
use hayro_interpret::font::{FontData, FontQuery};
use hayro_interpret::hayro_cmap::CidFamily;
use hayro_interpret::hayro_syntax::Pdf;

use super::fonts;
use super::picture::{DrawWish, MOST_PIXELS, Picture};

/// The color of what is drawn over a page for people who look at it.
const MARK: [u8; 3] = [200, 30, 30];
/// The width of such a line.
const THICK: f32 = 0.5;

/// Draws a page. `font` may be empty. `None` if the engine refuses the file, or there is no such page.
pub fn draw(bytes: &[u8], font: &[u8], wish: &DrawWish) -> Option<Picture> {
    let pdf = Pdf::new(bytes.to_vec()).ok()?;
    let page = pdf.pages().get(usize::try_from(wish.page).ok()?)?;
    let (width, height) = page.render_dimensions();
    let scale = f32::from(wish.width) / width;
    let pixels = f64::from(wish.width) * f64::from(height * scale);
    if !pixels.is_finite() || !(1.0..=MOST_PIXELS).contains(&pixels) {
        return None;
    }
    let font: Option<FontData> = (!font.is_empty()).then(|| Arc::new(font.to_vec()) as FontData);
    let font = font.filter(draws_japanese);
    let is_missing = Arc::new(AtomicBool::new(false));
    let is_composite = fonts::are_composite_missing(page.resources());
    let font_resolver = resolver(font, is_composite, &is_missing);
    let settings = InterpreterSettings { font_resolver, ..InterpreterSettings::default() };
    let look = PixmapSettings { x_scale: scale, y_scale: scale, bg_color: WHITE };
    let drawn = render(page, &RenderCache::new(), &settings, &RenderSettings::default(), &look);
    let mut canvas = Canvas::of(&drawn);
    if wish.grayscale {
        canvas.without_color();
    }
    let millimetre = scale * 72.0 / 25.4;
    if wish.staple {
        canvas.line(
            [7.0, 11.0].map(|at| at * millimetre),
            [11.0, 7.0].map(|at| at * millimetre),
            THICK * 2.0 * millimetre,
        );
    }
    for area in &wish.areas {
        let [left, top] = [area.left, area.top].map(|at| at * millimetre);
        let [right, bottom] = [area.left + area.width, area.top + area.height].map(|at| at * millimetre);
        let corners = [[left, top], [right, top], [right, bottom], [left, bottom], [left, top]];
        for side in corners.windows(2) {
            if let [from, to] = side {
                canvas.line(*from, *to, THICK * millimetre);
            }
        }
    }
    let font_missing = is_missing.load(Ordering::Relaxed);
    if font_missing {
        canvas.cover(&stamp(canvas.width, canvas.height)?);
    }
    Some(Picture { width: canvas.width, height: canvas.height, font_missing, rows: canvas.rows().ok()? })
}

/// The standard fonts are built in. Of the others only those of a known character collection can be replaced. The
/// engine takes a standard font for every font with a word such as `sans` in its name, also for a Japanese one
/// (`is_composite`), whose characters it does not have.
fn resolver(
    font: Option<FontData>,
    is_composite: bool,
    is_missing: &Arc<AtomicBool>,
) -> hayro_interpret::FontResolverFn {
    let is_missing = Arc::clone(is_missing);
    Arc::new(move |query| match query {
        FontQuery::Standard(standard) => {
            let own = font.clone().filter(|_| is_composite);
            is_missing.fetch_or(is_composite && own.is_none(), Ordering::Relaxed);
            Some(own.map_or_else(|| standard.get_font_data(), |font| (font, 0)))
        }
        FontQuery::Fallback(fallback) => {
            let Some(collection) = &fallback.character_collection else {
                return Some(fallback.pick_standard_font().get_font_data());
            };
            let is_known = match collection.family {
                CidFamily::AdobeJapan1
                | CidFamily::AdobeGB1
                | CidFamily::AdobeCNS1
                | CidFamily::AdobeKorea1 => true,
                CidFamily::AdobeIdentity | CidFamily::Custom { .. } => false,
            };
            let found = font.clone().filter(|_| is_known);
            is_missing.fetch_or(found.is_none(), Ordering::Relaxed);
            found.map(|font| (font, 0))
        }
    })
}

/// Whether something is seen of a character that it draws. A damaged font, or one of another script, counts as none.
fn draws_japanese(font: &FontData) -> bool {
    let text = super::made::text((4.0, 4.0), 20.0, "永");
    let Ok(pdf) = Pdf::new(super::made::page(28.0, 28.0, &text)) else { return false };
    let Some(page) = pdf.pages().first() else { return false };
    let font_resolver = resolver(Some(Arc::clone(font)), true, &Arc::default());
    let settings = InterpreterSettings { font_resolver, ..InterpreterSettings::default() };
    let look = PixmapSettings { x_scale: 1.0, y_scale: 1.0, bg_color: WHITE };
    let drawn = render(page, &RenderCache::new(), &settings, &RenderSettings::default(), &look);
    drawn.data().iter().any(|pixel| pixel.r < 128)
}

/// What stands across a picture that lacks text.
const MISSING: &str = "text not drawn: font missing";

/// The same as a picture of its own, transparent around it.
fn stamp(width: u32, height: u32) -> Option<Pixmap> {
    let (across, down) = (f64::from(width), f64::from(height));
    // It fills most of the diagonal: its 29 characters are about half as wide as high.
    let size = across.hypot(down) * 0.8 / 14.5;
    let (cos, sin) = (across / across.hypot(down), down / across.hypot(down));
    let text = format!(
        "BT /F 1 Tf 0.8 0.1 0.1 rg {:.3} {:.3} {:.3} {:.3} {:.3} {:.3} Tm ({MISSING}) Tj ET",
        cos * size,
        sin * size,
        -sin * size,
        cos * size,
        across * 0.12,
        down * 0.1
    );
    let pdf = Pdf::new(super::made::page(across, down, &text)).ok()?;
    let page = pdf.pages().first()?;
    let look = PixmapSettings { x_scale: 1.0, y_scale: 1.0, bg_color: TRANSPARENT };
    Some(render(
        page,
        &RenderCache::new(),
        &InterpreterSettings::default(),
        &RenderSettings::default(),
        &look,
    ))
}

/// Red, green and blue of each pixel.
struct Canvas {
    width: u32,
    height: u32,
    pixels: Vec<[u8; 3]>,
}

impl Canvas {
    fn of(drawn: &Pixmap) -> Self {
        let pixels = drawn.data().iter().map(|pixel| [pixel.r, pixel.g, pixel.b]).collect();
        Self { width: drawn.width().into(), height: drawn.height().into(), pixels }
    }

    /// As a printer without color shows it.
    fn without_color(&mut self) {
        for pixel in &mut self.pixels {
            let [red, green, blue] = pixel.map(u32::from);
            let gray = u8::try_from((red * 299 + green * 587 + blue * 114) / 1000).unwrap_or(u8::MAX);
            *pixel = [gray; 3];
        }
    }

    fn line(&mut self, from: [f32; 2], to: [f32; 2], thick: f32) {
        let steps = (to[0] - from[0]).abs().max((to[1] - from[1]).abs()).ceil().max(1.0);
        let mut step = 0.0;
        while step <= steps {
            let at = |side: usize| from[side] + (to[side] - from[side]) * step / steps - thick / 2.0;
            self.dot(at(0), at(1), thick.max(1.0));
            step += 1.0;
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place outside is cut off")]
    fn dot(&mut self, left: f32, top: f32, size: f32) {
        let span = |from: f32| (from.max(0.0) as u32)..((from + size).max(0.0) as u32);
        for y in span(top) {
            for x in span(left).filter(|x| *x < self.width) {
                if let Some(pixel) = self.pixels.get_mut(y as usize * self.width as usize + x as usize) {
                    *pixel = MARK;
                }
            }
        }
    }

    /// Lays another picture of the same size over this one.
    fn cover(&mut self, above: &Pixmap) {
        for (pixel, above) in self.pixels.iter_mut().zip(above.data()) {
            let through = u16::from(u8::MAX - above.a);
            let mix = |below: u8, above: u8| {
                u8::try_from(u16::from(below) * through / 255 + u16::from(above)).unwrap_or(u8::MAX)
            };
            *pixel = [mix(pixel[0], above.r), mix(pixel[1], above.g), mix(pixel[2], above.b)];
        }
    }

    /// The rows as PNG and PDF have them: a zero before each, all deflated.
    fn rows(&self) -> std::io::Result<Vec<u8>> {
        let mut rows = ZlibEncoder::new(Vec::new(), Compression::default());
        for row in self.pixels.chunks(self.width.max(1) as usize) {
            rows.write_all(&[0])?;
            rows.write_all(row.as_flattened())?;
        }
        rows.finish()
    }
}
