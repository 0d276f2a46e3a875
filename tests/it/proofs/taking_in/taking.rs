//! How the daemon takes drops in: it opens the folder, looks, claims, decides.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use mailchute::loops::intake::{
    FormerUser, Identity, Met, Next, RecordedPath, Stamp, former_user, identity, is_ours, next,
};
use mailchute::outside::hot::{CLAIMING, CLAIMING_ALONE, MOVING, MoveStep};
use mailchute::outside::store::BegunMarker;

use super::State;
use super::daemon::{Hand, Looks, Moving, Reading, Row, SETTLE, Still, What, held, looks_of};
use super::disk::{Dir, File, Part};
use super::looks::{name, settling, sidecar_of, stamp};
use super::sizes::{Locks, Size};

impl State {
    pub fn open(&mut self, size: &Size, index: usize) {
        let is_marked = self.daemons[index].mark.0 == self.disk.marker;
        let daemon = &self.daemons[index];
        let is_known = daemon.was_there.is_some() && is_marked;
        let identity = is_known.then(|| self.identity(daemon.recorded));
        let is_copy = identity == Some(Identity::Copy);
        let is_new = !is_known || is_copy;
        let mut holds = true;
        if size.takes && is_new {
            let Some(may_be_posted) = self.mark(index, identity) else { return };
            holds = may_be_posted;
        } else if is_new {
            self.disk.marker += 1;
        }
        let daemon = &mut self.daemons[index];
        let up = daemon.up.as_mut().unwrap();
        if identity != Some(Identity::Known) || up.came_back {
            let known = |file: &File| {
                let is_seen = up.seen.iter().any(|(seen, _, _)| *seen == name(file));
                up.came_back && is_seen && file.at() == Some(Dir::Folder)
            };
            // Older than the marker is whatever there is, wherever it lies: a cut may bring it back.
            let old = self.disk.files.iter().enumerate().filter(|(_, file)| holds && !known(file));
            daemon.was_there.get_or_insert_default().extend(old.map(|(file, _)| file));
        }
        if is_new {
            daemon.mark = (self.disk.marker, self.next_claim);
        }
        daemon.folder += u8::from(is_copy);
        daemon.recorded = (self.place.path, self.place.directory);
        (up.is_open, up.came_back) = (true, false);
        let begun: Vec<Dir> = daemon.rows.iter().filter_map(|row| row.moving).collect();
        self.disk.make_moves_durable(&begun);
        let (mut claims, mut cleared) = (Vec::new(), Vec::new());
        for claim in self.disk.claims() {
            let known = daemon.knows(&self.disk, claim);
            let is_since = !is_new && daemon.mark.1 <= claim;
            let mut claim = claim;
            if is_copy {
                self.disk.rename_claim(claim, self.next_claim);
                claim = self.next_claim;
                self.next_claim += 1;
                self.disk.was_there.insert(claim);
            } else if !is_ours(known.record.is_some() || known.in_spool, is_since, size.locks != Locks::None)
            {
                self.disk.rename_claim(claim, claim);
                self.disk.was_there.insert(claim);
            }
            if next(daemon.knows(&self.disk, claim)) == Next::Clear && !self.disk.was_there.contains(&claim) {
                cleared.push(claim);
            } else {
                claims.push((claim, None));
            }
        }
        daemon.up().claims = claims;
        // A sidecar lies beside its PDF again before anything is looked at.
        for claim in cleared {
            self.put_back(claim);
        }
    }

    /// One step of marking a folder. Once it is marked, whether others may have posted what is in it.
    fn mark(&mut self, index: usize, identity: Option<Identity>) -> Option<bool> {
        let daemon = &mut self.daemons[index];
        let up = daemon.up.as_mut().unwrap();
        match up.marking {
            None => {
                let marker =
                    Some(self.disk.marker).filter(|marker| *marker > 0).map(|marker| marker.to_string());
                let begun = daemon.begun.map(|begun| BegunMarker { id: begun.to_string(), is_copy: false });
                let user =
                    former_user(identity, marker.as_deref(), begun.as_ref(), daemon.was_there.is_some());
                let id = self.disk.marker + u8::from(user != FormerUser::Unfinished);
                daemon.begun = if user == FormerUser::None { Some(id) } else { daemon.begun };
                up.marking = Some((user.may_have_posted(), id));
            }
            Some((_, id)) if self.disk.marker != id => self.disk.marker = id,
            Some((may_be_posted, _)) => {
                (up.marking, daemon.begun) = (None, None);
                return Some(may_be_posted);
            }
        }
        None
    }

    /// Which folder the directory is that has its marker.
    fn identity(&self, (path, directory): (u8, u8)) -> Identity {
        let (recorded, found) = (directory.to_string(), self.place.directory.to_string());
        let recorded_path = match () {
            () if path == self.place.path => RecordedPath::This,
            () if self.place.has_copy => RecordedPath::Marked,
            () => RecordedPath::Gone,
        };
        identity(Met { recorded: Some(&recorded), found: Some(&found), recorded_path })
    }

    /// One look at the folder; the first drop that is finished is taken in hand.
    pub fn look(&mut self, size: &Size, index: usize) {
        if self.look_at_wishes(index) {
            return;
        }
        let listing: Vec<(Vec<u8>, Stamp)> = self
            .disk
            .lying(Dir::Folder)
            .map(|(file, found)| (name(found), stamp(file, found.version)))
            .collect();
        let mut settling = settling(&self.daemons[index].up().seen);
        let settle = std::time::Duration::from_secs(SETTLE.unsigned_abs());
        let look = settling.look(TimeDelta::seconds(self.now), settle, listing.clone(), |_, _| None);
        let seen = listing
            .iter()
            .map(|(name, stamp)| (name.clone(), stamp.clone(), settling.since(name).unwrap().num_seconds()));
        let mut seen: Vec<_> = seen.collect();
        let may_decide = self.may_decide(size, index);
        let ready = |wanted: &[u8]| look.ready.iter().find(|name| *name == wanted);
        let wholes = look.ready.iter().filter(|name| name.len() == 1).filter_map(|pdf| {
            let sidecar = sidecar_of(pdf);
            if settling.knows(&sidecar) { Some(vec![ready(&sidecar)?, pdf]) } else { Some(vec![pdf]) }
        });
        let number =
            |stamp: &Stamp| (usize::try_from(stamp.inode).unwrap(), u8::try_from(stamp.size).unwrap());
        let looks =
            |parts: &[&Vec<u8>]| parts.iter().map(|name| number(settling.looks(name).unwrap())).collect();
        let mut wholes: Vec<(Vec<&Vec<u8>>, Looks)> =
            wholes.map(|parts| (parts.clone(), looks(&parts))).filter(|_| may_decide).collect();
        // A cut may have brought one back under the name of another, which only this disk can have.
        let mut names = BTreeSet::new();
        wholes.retain(|(parts, _)| names.insert(parts.clone()));
        let was_there = self.daemons[index].was_there.clone().unwrap_or_default();
        let is_old = |(_, parts): &(_, Looks)| parts.last().is_some_and(|(file, _)| was_there.contains(file));
        // Those that were dropped alone are claimed together, if they are the first.
        let alone = wholes.iter().take_while(|whole| whole.1.len() == 1 && !is_old(whole)).count().max(1);
        wholes.truncate(alone);
        for (parts, _) in &wholes {
            seen.retain(|(seen, _, _)| !parts.contains(&seen));
        }
        self.daemons[index].up().seen = seen;
        let mut claims = Vec::new();
        for whole in wholes {
            let claim = self.next_claim;
            self.next_claim += 1;
            if is_old(&whole) {
                self.disk.was_there.insert(claim);
            }
            if whole.1.len() == 1 && !is_old(&whole) {
                self.disk.make_file_claim(claim);
            } else {
                self.disk.make_place(claim);
            }
            claims.push((claim, whole.1));
        }
        self.daemons[index].up().hand = match claims.pop() {
            Some((claim, parts)) if claims.is_empty() => Some(Hand::Claim { claim, parts, step: 0 }),
            Some(last) => {
                claims.push(last);
                let drops = claims.into_iter().map(|(claim, parts)| (claim, parts[0])).collect();
                Some(Hand::ClaimTogether { drops, step: 0 })
            }
            None => None,
        };
    }

    /// Whether what decides besides the drop has settled.
    fn may_decide(&mut self, size: &Size, index: usize) -> bool {
        let has_book = !size.book || self.book(index).is_some();
        has_book && (!size.rules || self.are_rules_in_force(index))
    }

    /// A claim that is looked at until it is still, and then decided.
    pub fn resume(&mut self, index: usize) {
        let up = self.daemons[index].up();
        if let Some((claim, parts)) = up.claimed.pop() {
            up.hand = Some(Hand::Decide { claim, still: Still::Settled(parts) });
            return;
        }
        for place in 0..up.claims.len() {
            let claim = up.claims[place].0;
            let now = looks_of(&self.disk, claim);
            match &up.claims[place].1 {
                Some((seen, since)) if *seen == now => {
                    if self.now - since >= SETTLE {
                        up.claims.remove(place);
                        up.hand = Some(Hand::Decide { claim, still: Still::Claimed(now) });
                        return;
                    }
                }
                Some(_) | None => {
                    up.claims[place].1 = Some((now, self.now));
                    return;
                }
            }
        }
    }

    pub fn go(&mut self, size: &Size, index: usize) {
        let Some(hand) = self.daemons[index].up().hand.take() else { return };
        let next = match hand {
            Hand::Claim { claim, parts, step } => self.claiming(claim, parts, step),
            Hand::ClaimTogether { drops, step } => self.claiming_together(index, drops, step),
            Hand::Decide { claim, still } => self.decide(index, claim, still),
            Hand::Judge { claim, still, step, reading } => {
                self.judging(size, index, (claim, still), step, reading)
            }
            Hand::Move(moving) => self.moving(index, moving),
            Hand::Remove { file } => {
                self.disk.remove(file);
                None
            }
        };
        self.daemons[index].up().hand = next;
    }

    fn claiming(&mut self, claim: u8, parts: Looks, step: usize) -> Option<Hand> {
        let files: Vec<usize> = parts.iter().map(|(file, _)| *file).collect();
        let order = if self.disk.is_file(claim) { CLAIMING_ALONE.as_slice() } else { CLAIMING.as_slice() };
        let steps = steps(order, &files);
        let (move_step, file) = steps[step];
        if !self.disk.go(move_step, file, Dir::Folder, Dir::Claim(claim)) {
            // Somebody took it away again.
            self.put_back(claim);
            return None;
        }
        if step + 1 < steps.len() {
            return Some(Hand::Claim { claim, parts, step: step + 1 });
        }
        Some(Hand::Decide { claim, still: Still::Settled(parts) })
    }

    /// All are renamed before the first sync, and a sync of a directory is one of all of them.
    fn claiming_together(
        &mut self,
        index: usize,
        drops: Vec<(u8, (usize, u8))>,
        step: usize,
    ) -> Option<Hand> {
        let all: Vec<usize> = (0..drops.len()).collect();
        let steps = steps(&CLAIMING_ALONE, &all);
        let (move_step, first) = steps[step];
        let concerned = if move_step == MoveStep::Rename { &drops[first..=first] } else { &drops[..] };
        for (claim, (file, _)) in concerned {
            self.disk.go(move_step, *file, Dir::Folder, Dir::Claim(*claim));
        }
        if step + 1 < steps.len() {
            return Some(Hand::ClaimTogether { drops, step: step + 1 });
        }
        for (claim, part) in drops {
            if held(&self.disk, claim).is_some() {
                self.daemons[index].up().claimed.push((claim, vec![part]));
            } else {
                // Somebody took it away again.
                self.disk.unclaim(claim);
            }
        }
        None
    }

    /// What is in a claim without its drop goes back.
    fn put_back(&mut self, claim: u8) {
        let files: Vec<usize> = self.disk.lying(Dir::Claim(claim)).map(|(file, _)| file).collect();
        for file in files {
            for step in MOVING {
                self.disk.go(step, file, Dir::Claim(claim), Dir::Folder);
            }
        }
        self.disk.unclaim(claim);
    }

    fn decide(&mut self, index: usize, claim: u8, still: Still) -> Option<Hand> {
        let daemon = &mut self.daemons[index];
        let known = daemon.knows(&self.disk, claim);
        let row = daemon.row_of(claim);
        match next(known) {
            Next::Judge => {
                if matches!(still, Still::Claimed(_)) && self.bring_left_behind(claim) {
                    let looks = (looks_of(&self.disk, claim), self.now);
                    self.daemons[index].up().claims.push((claim, Some(looks)));
                    return None;
                }
                let daemon = &mut self.daemons[index];
                let reading =
                    Reading { by_person: row.is_some(), rules: daemon.up().rules, ..Reading::default() };
                return Some(Hand::Judge { claim, still, step: 0, reading });
            }
            Next::Hold => self.hold(index, claim),
            Next::BringAlong => {
                // Its sidecar lies beside where it lay.
                let row = row?;
                if let Some(sidecar) = self.disk.part(Dir::Held, claim, Part::Sidecar) {
                    let (from, to) = (Dir::Held, Dir::Claim(claim));
                    let files = vec![sidecar];
                    return Some(Hand::Move(Moving { row, files, from, to, step: 0, copy: None }));
                }
                daemon.rows[row].place = Some(Dir::Claim(claim));
                daemon.up().claims.push((claim, None));
            }
            Next::BackToShelf => daemon.rows[row?].place = Some(Dir::Claim(claim)),
            Next::Clear => self.put_back(claim),
            Next::Leave => {}
        }
        None
    }

    /// A power cut may have left the sidecar of a claimed drop in the folder, or it came while a file that was
    /// claimed alone settled. Then the claim becomes a directory.
    fn bring_left_behind(&mut self, claim: u8) -> bool {
        let Some(main) = held(&self.disk, claim) else { return false };
        let name = self.disk.files[main].name;
        let lies = |dir: Dir, part: Part| {
            self.disk
                .lying(dir)
                .find(|(_, file)| (file.part, file.name) == (part, name))
                .map(|(file, _)| file)
        };
        let is_one =
            lies(Dir::Claim(claim), Part::Sidecar).is_none() && lies(Dir::Folder, Part::Pdf).is_none();
        let Some(sidecar) = lies(Dir::Folder, Part::Sidecar).filter(|_| is_one) else { return false };
        if self.disk.is_file(claim) {
            self.disk.rename_claim(claim, claim);
        }
        CLAIMING.into_iter().all(|step| self.disk.go(step, sidecar, Dir::Folder, Dir::Claim(claim)))
    }

    /// What waits for a person, or is refused.
    pub fn hold(&mut self, index: usize, claim: u8) {
        let Some(file) = held(&self.disk, claim).map(|file| &self.disk.files[file]) else { return };
        let daemon = &mut self.daemons[index];
        let folder = (daemon.folder, self.place.copy);
        daemon.record(Row {
            claim,
            drop: file.drop,
            name: file.name,
            bytes: (if self.same { 0 } else { file.drop }, file.version),
            what: What::Waits,
            place: Some(Dir::Claim(claim)),
            moving: None,
            folder,
        });
    }
}

/// The steps of an order with several files, each of which is renamed.
pub fn steps(order: &[MoveStep], files: &[usize]) -> Vec<(MoveStep, usize)> {
    let each = |step: &MoveStep| match step {
        MoveStep::Rename => files.iter().map(|file| (MoveStep::Rename, *file)).collect(),
        MoveStep::SyncClaims | MoveStep::SyncTo | MoveStep::SyncFrom => vec![(*step, files[0])],
    };
    order.iter().flat_map(each).collect()
}
