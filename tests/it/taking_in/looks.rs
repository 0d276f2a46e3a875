//! What a daemon has seen of the folder, as the shipped `Settling` knows it.

use chrono::TimeDelta;
use mailchute::intake::{Settling, Stamp};

const LONG: std::time::Duration = std::time::Duration::from_hours(1);

pub fn stamp(file: usize, version: u8) -> Stamp {
    let times = (i64::from(version), i64::from(version));
    let (inode, size) = (file as u64, u64::from(version));
    Stamp { kind: None, inode, size, links: 1, readable: true, times, inside: 0 }
}

/// As it was left by the looks before.
pub fn settling(seen: &[(u8, Stamp, i64)]) -> Settling {
    let mut settling = Settling::default();
    let mut times: Vec<i64> = seen.iter().map(|(_, _, since)| *since).collect();
    times.sort_unstable();
    for time in times {
        let so_far = seen.iter().filter(|(_, _, since)| *since <= time);
        let listing = so_far.map(|(name, stamp, _)| (vec![*name], stamp.clone())).collect();
        settling.look(TimeDelta::seconds(time), LONG, listing, |_, _| None);
    }
    settling
}
