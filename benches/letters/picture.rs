//! The table as a picture: one bar for each contestant, on a scale by tens.

use std::fmt::Write as _;

use crate::Run;

const ROW: usize = 34;
const LEFT: f64 = 270.0;
const WIDE: f64 = 420.0;

pub fn bars(runs: &[Run]) -> String {
    let high = runs.len() * ROW + 20;
    let most = runs.iter().map(|run| run.letters_per_second).fold(10.0, f64::max).log10();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 {high}\" font-family=\"sans-serif\" font-size=\"14\">\
         <title>Letters a second, by powers of ten</title><rect width=\"800\" height=\"{high}\" fill=\"#fff\"/>"
    );
    for (row, run) in runs.iter().enumerate() {
        let (y, text) = (row * ROW + 10, row * ROW + 30);
        let length = WIDE * run.letters_per_second.max(1.0).log10() / most;
        let colour = if run.who.starts_with("mailchute") { "#1a6" } else { "#89a" };
        let _ = write!(
            svg,
            "<text x=\"10\" y=\"{text}\">{}</text><rect x=\"{LEFT}\" y=\"{y}\" width=\"{length:.0}\" height=\"26\" fill=\"{colour}\"/>\
             <text x=\"{:.0}\" y=\"{text}\">{:.1} letters/s</text>",
            run.who,
            LEFT + length + 8.0,
            run.letters_per_second
        );
    }
    svg + "</svg>\n"
}
