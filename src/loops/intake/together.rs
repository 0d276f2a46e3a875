//! Claims files together that were dropped alone: one sync of each directory serves all of them. Each is decided by
//! a worker of its own, so that a slow one holds up no other.

use std::io;
use std::sync::Arc;

use super::Worked;
use super::decide::{Claim, Done, Peeked, TakeError};
use super::settle::Name;
use super::take::is_for_its_name;
use super::watched::Watched;
use super::work::Work;

/// The maximum number of drops that are claimed together.
pub(super) const MOST: usize = 16;

impl Watched {
    /// Whether others wait that can be claimed together with what was handed out last.
    pub(super) fn are_many(&self) -> bool {
        !self.free.is_empty() || self.ready.front().is_some_and(Work::may_share)
    }

    /// What was looked into is claimed together with others.
    pub(super) fn is_free(&mut self, work: Work, peeked: Option<Peeked>) {
        if let Work::Drop { mut parts, may_grow, .. } = work
            && let Some(part) = parts.pop()
        {
            self.free.push_back(Work::Free { part, may_grow, peeked });
        }
    }

    /// What was claimed together with others is decided.
    pub(super) fn is_claimed(&mut self, claim: String, work: &Work, peeked: Option<Peeked>) {
        self.claimed.extend(work.main().map(|part| Work::ClaimedTogether(claim, part.clone(), peeked)));
    }

    /// Another directory was opened, or this one anew.
    pub(super) fn begins_anew(&mut self) {
        self.free.clear();
        self.claimed.clear();
    }
}

/// Claims those of them that nothing prevents. A single drop, or other work, is carried out whole.
pub(super) async fn carry_out(folder: String, mut all: Vec<(Claim, Work)>) -> Vec<Worked> {
    let ended = |claim: Claim, work: Work, done: Result<Done, TakeError>| {
        let Claim { ulid, name, peeked, hot, .. } = claim;
        // Whoever owns it keeps others out of the folder.
        let hot = Arc::downgrade(&hot);
        Worked { folder: folder.clone(), ulid, claim: name, work, hot, peeked, done }
    };
    if all.len() <= 1 {
        let Some((mut claim, work)) = all.pop() else { return Vec::new() };
        let done = claim.take(&work).await;
        return vec![ended(claim, work, done)];
    }
    let (mut free, mut others) = (Vec::new(), Vec::new());
    for (mut claim, work) in all {
        match claim.prevented(&work).await {
            Ok(None) => free.push((claim, work)),
            Ok(Some(done)) => others.push(ended(claim, work, Ok(done))),
            Err(error) => others.push(ended(claim, work, Err(error))),
        }
    }
    let claimed = claimed_all(&mut free);
    others.extend(free.into_iter().zip(claimed).map(|((claim, work), done)| ended(claim, work, done)));
    others
}

fn claimed_all(all: &mut [(Claim, Work)]) -> Vec<Result<Done, TakeError>> {
    let Some((first, _)) = all.first() else { return Vec::new() };
    let names: Vec<&str> = all.iter().map(|(claim, _)| claim.name.as_str()).collect();
    let renamed = first.hot.claim_all(&names).unwrap_or_else(|error| {
        // Nothing is certain about any of them.
        let same = |_: &&str| Err(io::Error::new(error.kind(), error.to_string()));
        names.iter().map(same).collect()
    });
    let each = all.iter_mut().zip(renamed);
    each.map(|((claim, work), renamed)| match renamed {
        Ok(()) => Ok(Done::Claimed),
        Err(error) if is_for_its_name(&error) => claimed_alone(claim, work),
        Err(error) => claim.not_claimed(error).map(|()| Done::Nothing),
    })
    .collect()
}

/// The file system has less room for names.
fn claimed_alone(claim: &mut Claim, work: &Work) -> Result<Done, TakeError> {
    let names: Vec<&Name> = work.main().iter().map(|(name, _)| name).collect();
    Ok(if claim.claim(&names)? { Done::Claimed } else { Done::Nothing })
}
