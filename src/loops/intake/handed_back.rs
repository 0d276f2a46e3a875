//! Hands back a file that was put into `Approve` or `Cancel` and changes nothing.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::decide::content_of;
use super::instructions::Failed;
use super::shared::Shared;
use crate::config::Folder;
use crate::domain::drop::{Origin, Refusal, Undecided, is_pdf, pdf_of, shown};
use crate::outside::hot::{Hot, WAS_THERE};
use crate::outside::journal;

/// The name of a sidecar in its claim if it lay alone in `Approve` or `Cancel`.
const ALONE: &[u8] = b"address";

/// The command is not carried out, and a text in the folder says why.
pub(super) async fn not_taken(
    shared: &Arc<Shared>,
    folder: &Folder,
    hot: &Arc<Hot>,
    place: &str,
    name: &[u8],
    refusal: Refusal,
) -> Result<(), Failed> {
    let Some(ulid) = shared.new_ulid() else { return Ok(()) };
    let origin = Origin { folder: folder.name.clone(), name: name.to_vec(), owner: None };
    // If the daemon dies here, it is held as something that was there before, and never taken for a drop. A sidecar that
    // is alone gets another name there, because a claim with sidecars only is put back into the folder.
    let claim = format!("{ulid}{WAS_THERE}");
    let claimed_as = if pdf_of(name).is_some() { ALONE } else { name };
    if let Err(error) = hot.claim_from(&claim, Path::new(place), name, claimed_as) {
        // It is tried again under another name.
        hot.unclaim(&claim).unwrap_or_default();
        return Err(error.into());
    }
    // The sidecars of a PDF come after it, for the same reason. Left alone, they would be taken for those of another drop
    // of the name.
    let sidecars = if is_pdf(name) { hot.sidecars_beside(Path::new(place), name) } else { Ok(Vec::new()) };
    for sidecar in sidecars.unwrap_or_default() {
        if let Err(error) = hot.claim(&claim, Some(place), &[&sidecar])
            && error.kind() != io::ErrorKind::NotFound
        {
            journal::not_obeyed(&folder.name, &shown(&sidecar), &error);
        }
    }
    let content = content_of(hot, &claim, claimed_as);
    if matches!(refusal, Refusal::SidecarAlone { .. }) {
        shared.alone.add(&shared.store, &folder.name, name, ulid.time())?;
    }
    let (refused, now) = (Undecided::Refused(refusal), shared.clock.now());
    shared.store.undecide(ulid, origin, refused, content, (now, now)).await?;
    shared.bells.originals.notify_one();
    Ok(())
}
