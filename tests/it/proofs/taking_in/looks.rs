//! What a daemon has seen of the folder, as the shipped `Settling` knows it.

use chrono::TimeDelta;
use mailchute::loops::intake::{Settling, Stamp};

use super::disk::{File, Part};

const LONG: std::time::Duration = std::time::Duration::from_hours(1);

/// A name, what it looked like, and since when.
pub type Sighting = (Vec<u8>, Stamp, i64);

pub fn stamp(file: usize, version: u8) -> Stamp {
    let times = (i64::from(version), i64::from(version));
    let (inode, size) = (file as u64, u64::from(version));
    Stamp { kind: None, inode, size, links: 1, readable: true, times, inside: 0 }
}

pub fn name(file: &File) -> Vec<u8> {
    match file.part {
        Part::Pdf => vec![file.name],
        Part::Sidecar => sidecar_of(&[file.name]),
    }
}

pub fn sidecar_of(pdf: &[u8]) -> Vec<u8> {
    [pdf, b"+"].concat()
}

/// As it was left by the looks before.
pub fn settling(seen: &[Sighting]) -> Settling {
    let mut settling = Settling::default();
    let mut times: Vec<i64> = seen.iter().map(|(_, _, since)| *since).collect();
    times.sort_unstable();
    for time in times {
        let so_far = seen.iter().filter(|(_, _, since)| *since <= time);
        let listing = so_far.map(|(name, stamp, _)| (name.clone(), stamp.clone())).collect();
        settling.look(TimeDelta::seconds(time), LONG, listing, |_, _| None);
    }
    settling
}
