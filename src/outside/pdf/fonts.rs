//! Whether a page has fonts that are not in the PDF.

use hayro_interpret::hayro_syntax::object::{Array, Dict, Name, Stream};
use hayro_interpret::hayro_syntax::page::Resources;

/// Forms within forms are looked into this deep.
const DEEPEST: usize = 4;
const MOST_FORMS: usize = 200;

pub(super) fn are_missing(resources: &Resources<'_>) -> bool {
    let mut left = MOST_FORMS;
    any(resources, DEEPEST, &mut left, is_missing)
}

/// Whether one of them is a composite font, as Japanese text has.
pub(super) fn are_composite_missing(resources: &Resources<'_>) -> bool {
    let is_composite = |font: &Dict<'_>| font.contains_key(&b"DescendantFonts"[..]);
    let mut left = MOST_FORMS;
    any(resources, DEEPEST, &mut left, |font| is_composite(font) && is_missing(font))
}

fn any(
    resources: &Resources<'_>,
    deep: usize,
    left: &mut usize,
    is_meant: impl Fn(&Dict<'_>) -> bool + Copy,
) -> bool {
    let fonts = &resources.fonts;
    if fonts.keys().filter_map(|name| fonts.get::<Dict<'_>>(&*name)).any(|font| is_meant(&font)) {
        return true;
    }
    let Some(deeper) = deep.checked_sub(1) else { return false };
    let forms = &resources.x_objects;
    for form in forms.keys().filter_map(|name| forms.get::<Stream<'_>>(&*name)) {
        let Some(fewer) = left.checked_sub(1) else { return false };
        *left = fewer;
        let own = form.dict().get::<Dict<'_>>(&b"Resources"[..]).map(Resources::new);
        if own.is_some_and(|own| any(&own, deeper, left, is_meant)) {
            return true;
        }
    }
    false
}

fn is_missing(font: &Dict<'_>) -> bool {
    let is_type = |name: &[u8]| font.get::<Name<'_>>(&b"Subtype"[..]).is_some_and(|kind| &*kind == name);
    // Its glyphs are drawn by the file itself.
    if is_type(b"Type3") {
        return false;
    }
    let descendant = font.get::<Array<'_>>(&b"DescendantFonts"[..]);
    let descendant = descendant.and_then(|fonts| fonts.iter::<Dict<'_>>().next());
    let described = descendant.as_ref().unwrap_or(font).get::<Dict<'_>>(&b"FontDescriptor"[..]);
    let files = [&b"FontFile"[..], b"FontFile2", b"FontFile3"];
    !described.is_some_and(|described| files.iter().any(|file| described.contains_key(file)))
}
