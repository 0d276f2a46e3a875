//! Letters per day as a chart. Pure: counts in, positions out.

use serde::Serialize;

pub(super) const WIDTH: u32 = 640;
pub(super) const HEIGHT: u32 = 130;
/// Space above for the highest bar's number.
const TOP: u32 = 18;
/// Space below for the days.
const FOOT: u32 = 20;
const GAP: u32 = 4;

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
    /// Whether its number is written above it: the latest of the highest bars.
    pub(super) told: bool,
}

/// One bar for each day, the last one today. A day with any letter has a visible bar.
pub(super) fn bars(days: Vec<(String, u64)>) -> Vec<Bar> {
    let count = u32::try_from(days.len()).unwrap_or(u32::MAX).max(1);
    let most = days.iter().map(|(_, letters)| *letters).max().unwrap_or_default().max(1);
    let highest = days.iter().rposition(|(_, letters)| *letters == most);
    let (step, room) = (WIDTH / count, HEIGHT - TOP - FOOT);
    let bar = |(n, (day, letters)): (u32, (String, u64))| {
        let part = u128::from(letters) * u128::from(room) / u128::from(most);
        let height = u32::try_from(part).unwrap_or(room).max(u32::from(letters > 0) * 2);
        let width = step.saturating_sub(GAP).max(1);
        let x = n * step + GAP / 2;
        let named = (count - 1 - n).is_multiple_of(7);
        let told = usize::try_from(n).ok() == highest;
        Bar { told, x, y: HEIGHT - FOOT - height, width, height, letters, day, middle: x + width / 2, named }
    };
    (0..count).zip(days).map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_day_fills_the_room_and_a_single_letter_is_seen() {
        let days = [3000, 0, 1, 1500].map(|letters| (letters.to_string(), letters)).to_vec();
        let bars = bars(days);
        let heights: Vec<u32> = bars.iter().map(|bar| bar.height).collect();
        assert_eq!(heights, [92, 0, 2, 46]);
        assert!(bars.iter().all(|bar| bar.y + bar.height == HEIGHT - FOOT && bar.x + bar.width <= WIDTH));
        assert!(bars.windows(2).all(|two| two[0].x + two[0].width < two[1].x));
        assert!(bars[3].named && !bars[2].named, "today is named");
        assert_eq!(bars.iter().map(|bar| bar.told).collect::<Vec<_>>(), [true, false, false, false]);
        let same = super::bars(vec![(String::new(), 5); 3]);
        assert_eq!(same.iter().filter(|bar| bar.told).count(), 1, "numbers would lie on each other");
        assert!(super::bars(Vec::new()).is_empty());
    }
}
