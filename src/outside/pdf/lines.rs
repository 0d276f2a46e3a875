//! Characters of a page, put together to lines.

use hayro_interpret::kurbo::{Point, Rect};

use crate::domain::address::usual;
use crate::domain::printed::PrintedLine;

const MILLIMETRES_A_POINT: f64 = 25.4 / 72.0;

#[expect(
    clippy::cast_possible_truncation,
    reason = "a page is not so large that a tenth of a millimetre is lost"
)]
pub(super) fn millimetres(points: f64) -> f32 {
    (points * MILLIMETRES_A_POINT) as f32
}

/// A character on the page, in points from the left and the top.
pub(super) struct Character {
    pub(super) text: String,
    pub(super) at: Point,
    /// Where the next one would begin.
    pub(super) end: Point,
    pub(super) size: f64,
    pub(super) is_vertical: bool,
}

/// Turns a page so that most of its text is upright: some programs write a page on its side.
pub(super) fn upright(characters: Vec<Character>, width: f64, height: f64) -> (Vec<Character>, f64, f64) {
    // Where the text goes: to the right, down, to the left, up.
    let way = |one: &Character| {
        let (mut along, mut down) = (one.end.x - one.at.x, one.end.y - one.at.y);
        if one.is_vertical {
            // Downwards is upright.
            (along, down) = (down, -along);
        }
        match (along.abs() >= down.abs(), along >= 0.0, down >= 0.0) {
            (true, true, _) => 0,
            (false, _, true) => 1,
            (true, false, _) => 2,
            (false, _, false) => 3,
        }
    };
    let mut counts = [0_usize; 4];
    for one in &characters {
        if let Some(count) = counts.get_mut(way(one)) {
            *count += 1;
        }
    }
    let turned: fn(Point, f64, f64) -> Point = match counts {
        [right, down, left, up] if right >= down && right >= left && right >= up => {
            return (characters, width, height);
        }
        [_, down, left, up] if down >= left && down >= up => |at, width, _| Point::new(at.y, width - at.x),
        [_, _, left, up] if left >= up => |at, width, height| Point::new(width - at.x, height - at.y),
        [..] => |at, _, height| Point::new(height - at.y, at.x),
    };
    let is_half = counts[2] > counts[1] && counts[2] > counts[3];
    let turn = |one: Character| Character {
        at: turned(one.at, width, height),
        end: turned(one.end, width, height),
        ..one
    };
    let characters = characters.into_iter().map(turn).collect();
    if is_half { (characters, width, height) } else { (characters, height, width) }
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
pub(super) fn lines(characters: Vec<Character>) -> Vec<PrintedLine> {
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
