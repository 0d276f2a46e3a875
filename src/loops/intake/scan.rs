//! Looks at everything in a folder. Each finished drop, with what belongs to it, becomes work.

use std::collections::HashSet;
use std::io;

use chrono::TimeDelta;

use super::settle::{Name, Settling, Stamp};
use super::shape::{NoDrop, no_drop};
use super::shared::{Shared, settle_time};
use super::shelf_names::ShelfNames;
use super::stamp::stamp_inside;
use super::watched::{EarlierContent, Watched};
use super::work::Work;
use crate::config::{Accept, FirstStart, Folder, LetterKind};
use crate::domain::drop::{Kind, is_pdf, pdf_of, shown, sidecars_in_any_form};
use crate::outside::hot::{Hot, SeenEntry, kind};
use crate::outside::pdf::is_pdf_end;

impl Watched {
    /// Looks at everything that is there. What is finished becomes work.
    pub(super) fn scan(
        &mut self,
        shared: &Shared,
        folder: &Folder,
        hot: &Hot,
    ) -> io::Result<Option<TimeDelta>> {
        let listing = self.listed(folder, hot)?;
        let now = shared.clock.steady();
        let settle = settle_time(folder, hot);
        self.held_up.retain(&listing);
        let had_end = |name: &[u8], at: u64| hot.end_at(name, at).is_ok_and(|tail| is_pdf_end(&tail));
        self.waiting.grow(&listing, (&self.settling, settle), now, had_end);
        self.waiting.lie_alone(&listing, now);
        let waits = |name: &[u8], settling: &Settling| self.waiting.extra(folder, name, settling);
        let mut look = self.settling.look(now, settle, listing, waits);
        self.stuck.retain(|name, _| self.settling.knows(name));
        self.was_there.retain(|(name, _), _| self.settling.knows(name));
        let ready = Some(look.ready).filter(|_| folder.accept == Accept::Yes).unwrap_or_default();
        let finished: HashSet<&[u8]> = ready.iter().map(Vec::as_slice).collect();
        for name in &ready {
            if self.ready.len() >= self.max_ready {
                // The others are found again once these are taken in.
                return Ok(Some(now));
            }
            let Some(stamp) = self.settling.looks(name).cloned() else { continue };
            if self.stuck.get(name).is_some_and(|(before, until)| *before == stamp && now < *until) {
                continue;
            }
            if pdf_of(name).is_some() {
                if self.waiting.is_alone(name) {
                    // Its PDF may have been taken in without it. If not, it waits for that.
                    let is_over = !self.waiting.is_first_asked(name);
                    if is_over {
                        self.settling.forget(name);
                    } else {
                        look.next = Some(now);
                    }
                    self.ready.push_back(Work::Sidecar { part: (name.clone(), stamp), is_over });
                }
                continue;
            }
            if let Some(sidecars) = self.finished_sidecars(name, &finished) {
                let drop = self.drop_of(folder, (name.clone(), stamp), sidecars);
                self.ready.push_back(drop);
            }
        }
        Ok(look.next)
    }

    /// The sidecars of a PDF. `None` if one of them is not finished.
    fn finished_sidecars(&self, pdf: &Name, finished: &HashSet<&[u8]>) -> Option<Vec<(Name, Stamp)>> {
        if !is_pdf(pdf) {
            return Some(Vec::new());
        }
        // A PDF of another form that was handed out in this look still lies there, and its sidecar is its own.
        let lies = |form: &[u8]| self.settling.knows(form) || finished.contains(form);
        let known = sidecars_in_any_form(pdf, lies).into_iter().filter_map(|sidecar| {
            let stamp = self.settling.looks(&sidecar)?.clone();
            Some(finished.contains(sidecar.as_slice()).then_some((sidecar, stamp)))
        });
        known.collect()
    }

    /// The work of taking in what is finished.
    fn drop_of(&mut self, folder: &Folder, main: (Name, Stamp), sidecars: Vec<(Name, Stamp)>) -> Work {
        let (name, stamp) = &main;
        let was_there = match self.was_there.get(&(name.clone(), stamp.inode)) {
            Some(EarlierContent::MayBePosted) => true,
            Some(EarlierContent::AsConfigured) => folder.first_start == FirstStart::Hold,
            None => false,
        };
        self.settling.forget(name);
        let (lacked, had_no_end) = self.waiting.over(name, stamp);
        let is_document =
            !was_there && folder.letter == LetterKind::File && stamp.kind.is_none() && is_pdf(name);
        let is_subfolder =
            !was_there && folder.letter == LetterKind::Subfolder && stamp.kind == Some(Kind::Directory);
        let may_grow = (is_document || is_subfolder) && !had_no_end;
        let peek =
            is_document && !lacked && sidecars.is_empty() && folder.rules.may_need_sidecar(&shown(name));
        let was_alone = sidecars.iter().any(|(sidecar, _)| self.waiting.came_alone(sidecar));
        let mut parts = sidecars;
        parts.push(main);
        Work::Drop { parts, was_there, peek, may_grow, was_alone }
    }

    /// Everything that may be a drop, or belong to one.
    fn listed(&mut self, folder: &Folder, hot: &Hot) -> io::Result<Vec<(Name, Stamp)>> {
        // Collecting uses the list's own memory, which is large in a flood.
        Ok(hot.list(None)?.into_iter().filter_map(|seen| self.stamped(folder, hot, seen)).collect())
    }

    /// `None` if it is neither a drop nor a part of one.
    fn stamped(&mut self, folder: &Folder, hot: &Hot, seen: SeenEntry) -> Option<(Name, Stamp)> {
        let is_shelf = |(_, _, shelves): &(_, _, ShelfNames)| shelves.contains(&shown(&seen.name));
        match no_drop(folder, &seen.name, kind(&seen.stat)) {
            Some(NoDrop::Ignored | NoDrop::OwnDirectory) => return None,
            Some(NoDrop::Sidecar) | None => {}
        }
        if self.shelves.as_ref().is_some_and(is_shelf) {
            return None;
        }
        let inside = match kind(&seen.stat) {
            // It may be gone or something else by now, and must not hold up the others.
            Some(Kind::Directory) if folder.letter == LetterKind::Subfolder => {
                stamp_inside(hot.inside(&seen.name).ok()?)
            }
            Some(_) | None => 0,
        };
        let stamp = Stamp::of(&seen, inside);
        if stamp.times.1 <= self.since && !self.known.contains(&seen.name) {
            let may_be_posted = self.posted_before.is_some_and(|before| stamp.times.1 <= before);
            let content =
                if may_be_posted { EarlierContent::MayBePosted } else { EarlierContent::AsConfigured };
            self.was_there.insert((seen.name.clone(), stamp.inode), content);
        }
        Some((seen.name, stamp))
    }
}
