//! A tracking number as the bar code of Japanese mail: NW-7 (Codabar), with `A` at both ends.

/// Narrow elements are one wide, wide ones this.
const WIDE: f64 = 2.5;

/// The bars, each with its place and width, and the width of all.
pub(super) fn bars(number: &str) -> (Vec<(f64, f64)>, f64) {
    let mut bars = Vec::new();
    let mut at = 0.0;
    for character in std::iter::once('A').chain(number.chars()).chain(['A']) {
        let Some(elements) = elements(character) else { continue };
        for (index, element) in elements.chars().enumerate() {
            let width = if element == '1' { WIDE } else { 1.0 };
            if index % 2 == 0 {
                bars.push((at, width));
            }
            at += width;
        }
        // A narrow gap between characters.
        at += 1.0;
    }
    (bars, at - 1.0)
}

/// Bars and gaps in turn, beginning with a bar: 1 is wide.
fn elements(character: char) -> Option<&'static str> {
    Some(match character {
        '0' => "0000011",
        '1' => "0000110",
        '2' => "0001001",
        '3' => "1100000",
        '4' => "0010010",
        '5' => "1000010",
        '6' => "0100001",
        '7' => "0100100",
        '8' => "0110000",
        '9' => "1001000",
        '-' => "0001100",
        'A' => "0011010",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads bars as a scanner does.
    fn scanned(bars: &[(f64, f64)]) -> String {
        let mut widths = Vec::new();
        for (index, (at, width)) in bars.iter().enumerate() {
            widths.push(*width);
            widths.extend(bars.get(index + 1).map(|next| next.0 - at - width));
        }
        let characters = widths.chunks(8).map(|chunk| {
            let code: String = chunk[..7].iter().map(|width| if *width > 1.5 { '1' } else { '0' }).collect();
            "0123456789-A".chars().find(|character| elements(*character) == Some(code.as_str())).unwrap()
        });
        characters.collect()
    }

    #[test]
    fn a_scanner_reads_what_was_written() {
        for number in ["123456789012", "1234-5678-9012", "0"] {
            let (bars, width) = bars(number);
            assert_eq!(scanned(&bars), format!("A{number}A"));
            let last = bars.last().unwrap();
            assert!((last.0 + last.1 - width).abs() < 0.001);
        }
    }
}
