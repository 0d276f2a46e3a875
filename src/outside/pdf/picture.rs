//! A picture of a page, and how it is asked for. PNG and PDF keep pixels in the same form, so a picture is passed on
//! as it comes from the child; the parent never looks into it.

use std::io::{self, Read as _};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::{Deserialize, Serialize};

use super::made::{Object, file};
use crate::domain::printed::Area;

/// The number of pixels of one picture.
pub(super) const MOST_PIXELS: f64 = 16e6;

/// What is to be drawn of a PDF.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct DrawWish {
    /// From 0.
    pub page: u32,
    /// In pixels. The height follows.
    pub width: u16,
    pub grayscale: bool,
    /// A staple is shown at the top left.
    pub staple: bool,
    /// Areas that are framed, in millimetres from the top left.
    pub areas: Vec<Area>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    /// Text was not drawn, because its font is neither in the PDF nor given. This stands across the picture.
    pub font_missing: bool,
    /// Red, green and blue of each pixel, a zero before each row, deflated.
    #[serde(with = "as_base64")]
    pub rows: Vec<u8>,
}

mod as_base64 {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        STANDARD.decode(String::deserialize(from)?).map_err(D::Error::custom)
    }
}

impl Picture {
    /// As a file that every program shows.
    pub fn png(&self) -> Vec<u8> {
        let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
        let size = [self.width, self.height].map(u32::to_be_bytes);
        // Eight bits each of red, green and blue.
        chunk(&mut png, *b"IHDR", &[size.as_flattened(), &[8, 2, 0, 0, 0]].concat());
        chunk(&mut png, *b"IDAT", &self.rows);
        chunk(&mut png, *b"IEND", &[]);
        png
    }

    /// All below one another. They must have the same width.
    pub fn column(pictures: &[Self]) -> io::Result<Self> {
        let mut rows = ZlibEncoder::new(Vec::new(), Compression::default());
        for picture in pictures {
            let bytes = (u64::from(picture.width) * 3 + 1) * u64::from(picture.height);
            let written = io::copy(&mut ZlibDecoder::new(picture.rows.as_slice()).take(bytes), &mut rows)?;
            // Another number would shift everything below.
            if written != bytes || pictures.first().is_some_and(|first| first.width != picture.width) {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
        Ok(Self {
            width: pictures.first().map_or(0, |first| first.width),
            height: pictures.iter().map(|picture| picture.height).sum(),
            font_missing: pictures.iter().any(|picture| picture.font_missing),
            rows: rows.finish()?,
        })
    }
}

fn chunk(png: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    let mut check = flate2::Crc::new();
    check.update(&kind);
    check.update(data);
    png.extend(u32::try_from(data.len()).unwrap_or(u32::MAX).to_be_bytes());
    png.extend(kind);
    png.extend(data);
    png.extend(check.sum().to_be_bytes());
}

/// What the child is given before the font and the PDF: the length of the wish, the wish, and the length of the font.
pub(super) fn head(wish: &DrawWish, font: u64) -> serde_json::Result<Vec<u8>> {
    let wish = serde_json::to_vec(wish)?;
    Ok([&(wish.len() as u64).to_le_bytes(), wish.as_slice(), &font.to_le_bytes()].concat())
}

/// The wish, the font and the PDF.
pub(super) fn unpacked(all: &[u8]) -> Option<(DrawWish, &[u8], &[u8])> {
    let part = |all: &'_ [u8]| -> Option<(usize, usize)> {
        let (length, _) = all.split_first_chunk::<8>()?;
        Some((8, usize::try_from(u64::from_le_bytes(*length)).ok()?))
    };
    let take = |all: &mut &[u8]| -> Option<std::ops::Range<usize>> {
        let (head, length) = part(all)?;
        let range = head..head.checked_add(length)?;
        (range.end <= all.len()).then_some(range)
    };
    let mut rest = all;
    let wish = take(&mut rest)?;
    let (wish, rest) = (serde_json::from_slice(rest.get(wish.clone())?).ok()?, rest.get(wish.end..)?);
    let mut after = rest;
    let font = take(&mut after)?;
    Some((wish, rest.get(font.clone())?, rest.get(font.end..)?))
}

/// Pictures as the pages of a PDF, each as wide as A4.
pub fn as_pdf(pictures: &[Picture]) -> Vec<u8> {
    let kids: Vec<String> = (0..pictures.len()).map(|index| format!("{} 0 R", 3 + index * 3)).collect();
    let paints: Vec<(f64, String)> = pictures
        .iter()
        .map(|picture| {
            let high = 595.0 * f64::from(picture.height) / f64::from(picture.width.max(1));
            (high, format!("595 0 0 {high:.2} 0 0 cm /P Do"))
        })
        .collect();
    let mut objects: Vec<Object<'_>> = vec![
        ("<</Type/Catalog/Pages 2 0 R>>".to_owned(), None),
        (format!("<</Type/Pages/Kids[{}]/Count {}>>", kids.join(" "), pictures.len()), None),
    ];
    for (picture, (high, paint)) in pictures.iter().zip(&paints) {
        let (width, height, next) = (picture.width, picture.height, objects.len() + 2);
        let page = format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 {high:.2}]/Contents {next} 0 R/Resources<</XObject<</P {} 0 R>>>>>>",
            next + 1
        );
        let image = format!(
            "<</Type/XObject/Subtype/Image/Width {width}/Height {height}/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter\
             /FlateDecode/DecodeParms<</Predictor 15/Colors 3/Columns {width}>>/Length {}>>",
            picture.rows.len()
        );
        objects.push((page, None));
        objects.push((format!("<</Length {}>>", paint.len()), Some(paint.as_bytes())));
        objects.push((image, Some(&picture.rows)));
    }
    file(&objects)
}
