//! Letters per day as a chart from which values can be read. Pure: counts in, positions out.

use serde::Serialize;

const WIDTH: u32 = 640;
const HEIGHT: u32 = 150;
/// Space for the numbers at the side.
const LEFT: u32 = 60;
/// Space above, so that the highest number is not cut.
const TOP: u32 = 12;
/// Space below for the days.
const FOOT: u32 = 20;
const GAP: u32 = 4;
/// The most lines above the lowest.
const LINES: u64 = 4;

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Chart {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) left: u32,
    pub(super) lines: Vec<GridLine>,
    pub(super) bars: Vec<Bar>,
}

/// A number at the side, and where its line is.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct GridLine {
    pub(super) y: u32,
    pub(super) letters: u64,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Bar {
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) letters: u64,
    pub(super) day: String,
    /// The middle of the bar.
    pub(super) middle: u32,
    /// Whether its day is written below it.
    pub(super) named: bool,
}

/// The distance of the lines: the smallest of 1, 2, 5, 10, 20, … with which few lines are enough.
fn step(most: u64) -> u64 {
    let steps = (0..19).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u64.pow(power)));
    steps.into_iter().find(|step| most.div_ceil(*step) <= LINES).unwrap_or(most)
}

/// One bar for each day, the last one today. A day with any letter has a visible bar.
pub(super) fn chart(days: Vec<(String, u64)>) -> Chart {
    let count = u32::try_from(days.len()).unwrap_or(u32::MAX).max(1);
    let most = days.iter().map(|(_, letters)| *letters).max().unwrap_or_default().max(1);
    let step = step(most);
    let top = step.saturating_mul(most.div_ceil(step));
    let (across, room) = ((WIDTH - LEFT) / count, HEIGHT - TOP - FOOT);
    let high = |letters: u64| {
        let part = u128::from(letters) * u128::from(room) / u128::from(top);
        u32::try_from(part).unwrap_or(room)
    };
    let lines = (0..=top / step).map(|n| n * step);
    let lines = lines.map(|letters| GridLine { y: HEIGHT - FOOT - high(letters), letters }).collect();
    let bar = |(n, (day, letters)): (u32, (String, u64))| {
        let height = high(letters).max(u32::from(letters > 0) * 2);
        let width = across.saturating_sub(GAP).max(1);
        let x = LEFT + n * across + GAP / 2;
        let named = (count - 1 - n).is_multiple_of(7);
        Bar { x, y: HEIGHT - FOOT - height, width, height, letters, day, middle: x + width / 2, named }
    };
    let bars = (0..count).zip(days).map(bar).collect();
    Chart { width: WIDTH, height: HEIGHT, left: LEFT, lines, bars }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_can_be_read_and_a_single_letter_is_seen() {
        let days = [3000, 0, 1, 1500].map(|letters| (letters.to_string(), letters)).to_vec();
        let Chart { lines, bars, .. } = chart(days);
        let lines: Vec<(u64, u32)> = lines.iter().map(|line| (line.letters, line.y)).collect();
        assert_eq!(lines, [(0, 130), (1000, 91), (2000, 52), (3000, 12)]);
        let heights: Vec<u32> = bars.iter().map(|bar| bar.height).collect();
        assert_eq!(heights, [118, 0, 2, 59]);
        assert!(bars.iter().all(|bar| bar.y + bar.height == HEIGHT - FOOT && bar.x + bar.width <= WIDTH));
        assert!(bars.windows(2).all(|two| two[0].x + two[0].width < two[1].x));
        assert!(bars[3].named && !bars[2].named, "today is named");
        assert!(chart(Vec::new()).bars.is_empty());
    }

    #[test]
    fn few_lines_are_at_round_numbers() {
        for (most, wanted) in [(1, 1), (4, 1), (5, 2), (9, 5), (20, 5), (21, 10), (3001, 1000), (u64::MAX, 5)]
        {
            let step = step(most);
            assert!(most.div_ceil(step) <= LINES && step.to_string().starts_with(['1', '2', '5']), "{most}");
            assert!(most == u64::MAX || step == wanted, "{most}: {step}");
        }
    }
}
