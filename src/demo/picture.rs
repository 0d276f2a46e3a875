//! What the demo said as a picture of a terminal (SVG). Each line comes at its time, without a script; whoever wants no
//! motion sees the end. Pure.

use std::fmt::Write as _;
use std::time::Duration;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The terminal's size in characters.
const COLUMNS: usize = 100;
const ROWS: usize = 30;
/// The size of a character in the picture, times ten.
const ACROSS: usize = 84;
const DOWN: usize = 190;
const STYLE: &str = "\
text { font: 14px ui-monospace, 'DejaVu Sans Mono', Menlo, 'Noto Sans Mono CJK JP', monospace; fill: #d8dee4; white-space: pre; }
.title { fill: #9aa5b1; } .told { fill: #9fb7d0; } .good { fill: #7fd3a0; } .wait { fill: #f0c26a; } .bad { fill: #ff9a92; }
@media (prefers-reduced-motion: no-preference) {
  .line { animation: come 1ms both; }
  @keyframes come { from { opacity: 0; } }
}
";

/// A text, and when it was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) at: Duration,
    pub(super) text: String,
}

/// The lines of a text on the terminal. What is too long goes on below, at a space if there is one.
fn lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let mut rest = line.to_owned();
        while rest.width() > COLUMNS {
            let mut width = 0;
            let fits = |(_, c): &(usize, char)| {
                width += c.width().unwrap_or_default();
                width <= COLUMNS
            };
            let end =
                rest.char_indices().take_while(fits).last().map_or(rest.len(), |(at, c)| at + c.len_utf8());
            let end = rest[..end].rfind(' ').filter(|at| *at > end / 2).map_or(end, |at| at + 1);
            lines.push(rest.drain(..end).collect());
            rest.insert_str(0, "    ");
        }
        lines.push(rest);
    }
    lines
}

fn class(line: &str) -> &'static str {
    let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
    if line.starts_with("  |") {
        "told"
    } else if has(&[" shipped, ", " confirmed"]) {
        "good"
    } else if has(&[" held: "]) {
        "wait"
    } else if has(&[" rejected: "]) {
        "bad"
    } else {
        ""
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

pub(super) fn svg(said: &[Said]) -> String {
    let of_one = |said: &Said| lines(&said.text).into_iter().map(|line| (said.at, line)).collect::<Vec<_>>();
    let lines: Vec<(Duration, String)> = said.iter().flat_map(of_one).collect();
    let (width, height) = (COLUMNS * ACROSS / 10 + 32, (ROWS * DOWN) / 10 + 52);
    let whole = lines.last().map_or(Duration::ZERO, |(at, _)| *at).as_secs_f64().max(0.1);
    let top = |line: usize| line.saturating_sub(ROWS) * DOWN / 10;
    let mut moves = String::from("@keyframes roll { from { transform: none; }");
    for (n, (at, _)) in lines.iter().enumerate().skip(ROWS) {
        let part = at.as_secs_f64() / whole * 100.0;
        let _ = write!(moves, " {part:.2}% {{ transform: translateY(-{}px); }}", top(n + 1));
    }
    let end = top(lines.len());
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" role=\"img\">\n\
         <title>mailchute demo</title>\n<style>\n{STYLE}{moves} }}\n\
         .roll {{ transform: translateY(-{end}px); }}\n\
         @media (prefers-reduced-motion: no-preference) {{ .roll {{ animation: roll {whole:.2}s step-end forwards; }} }}\n\
         </style>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#14181c\"/>\n\
         <text class=\"title\" x=\"16\" y=\"24\">$ mailchute demo</text>\n\
         <clipPath id=\"screen\"><rect y=\"34\" width=\"{width}\" height=\"{}\"/></clipPath>\n\
         <g clip-path=\"url(#screen)\"><g class=\"roll\">\n",
        height - 40
    );
    for (n, (at, line)) in lines.iter().enumerate().filter(|(_, (_, line))| !line.is_empty()) {
        let (y, class, delay) = (48 + n * DOWN / 10, class(line), at.as_secs_f64());
        let _ = writeln!(
            svg,
            "<text class=\"line {class}\" x=\"16\" y=\"{y}\" style=\"animation-delay:{delay:.2}s\">{}</text>",
            escaped(line)
        );
    }
    svg.push_str("</g></g>\n</svg>\n");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_go_on_below() {
        let words = "word ".repeat(30);
        let wrapped = lines(&words);
        assert_eq!(wrapped.len(), 2);
        assert!(wrapped.iter().all(|line| line.width() <= COLUMNS) && wrapped[1].starts_with("    word"));
        assert!(lines(&"郵".repeat(120)).iter().all(|line| line.width() <= COLUMNS));
        assert_eq!(lines("a\n\nb"), ["a", "", "b"]);
    }

    #[test]
    fn everything_that_was_said_is_in_the_picture_and_the_end_is_seen_without_motion() {
        let said: Vec<Said> = (0..40)
            .map(|n| Said { at: Duration::from_millis(n * 100), text: format!("line <{n}> & more") })
            .collect();
        let svg = svg(&said);
        for n in 0..40 {
            assert!(svg.contains(&format!(">line &lt;{n}&gt; &amp; more</text>")), "{n}");
        }
        assert!(svg.contains(&format!(".roll {{ transform: translateY(-{}px); }}", 10 * DOWN / 10)), "{svg}");
    }
}
