//! The name of a claim. It begins with the drop's ULID.
//!
//! | name | what it is |
//! |---|---|
//! | `ULID` | a directory with the drop and its sidecars, each under its own name |
//! | `ULID.there` | the same, for something that must be held whatever else is known |
//! | `ULID-invoice.pdf` | a file that was dropped alone: one rename claims it, and no directory is made |

use crate::outside::spool::Ulid;

/// The end of the name of a claim that holds something which lay in the folder before its drops counted.
pub const WAS_THERE: &str = ".there";

/// Between the ULID and the name of a file that was dropped alone.
const ALONE: &str = "-";
const ULID: usize = 26;
/// The maximum length of a file's name in bytes.
const LONGEST: usize = 255;

/// The claim of a file that was dropped alone. `None` if its name is too long, or no text: then it is claimed
/// into a directory.
pub fn claim_of_file(ulid: &Ulid, name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok()?;
    fits_in_claim(name.as_bytes()).then(|| format!("{ulid}{ALONE}{name}"))
}

/// Whether the name of a file that was dropped alone fits in the name of its claim.
pub fn fits_in_claim(name: &[u8]) -> bool {
    std::str::from_utf8(name).is_ok() && ULID + ALONE.len() + name.len() <= LONGEST
}

/// The ULID of a claim. `None` if the name is not that of a claim.
pub fn ulid_of_claim(claim: &str) -> Option<Ulid> {
    let (ulid, rest) = claim.split_at_checked(ULID)?;
    let is_claim = rest.is_empty() || rest == WAS_THERE || file_in(claim).is_some();
    ulid.parse().ok().filter(|_| is_claim)
}

/// The dropped name, if the claim is a file.
pub(super) fn file_in(claim: &str) -> Option<&str> {
    let name = claim.get(ULID..)?.strip_prefix(ALONE)?;
    Some(name).filter(|name| !name.is_empty())
}

/// Whether the claim holds something that must be held whatever else is known.
pub fn was_there(claim: &str) -> bool {
    claim.get(ULID..) == Some(WAS_THERE)
}

/// Whether the claim is a file, so that nothing came with it.
pub fn is_file_claim(claim: &str) -> bool {
    file_in(claim).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_named_by_its_ulid_and_perhaps_by_its_file() {
        let ulid: Ulid = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
        for name in ["a.pdf", ".there", "a.there", "-", "請求書.pdf", "01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
            let claim = claim_of_file(&ulid, name.as_bytes()).unwrap();
            assert_eq!((ulid_of_claim(&claim), file_in(&claim)), (Some(ulid.clone()), Some(name)));
            assert!(!was_there(&claim));
        }
        for claim in ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAV.there"] {
            assert_eq!((ulid_of_claim(claim), file_in(claim)), (Some(ulid.clone()), None));
        }
        for other in [
            "",
            "a.pdf",
            "01ARZ3NDEKTSV4RRFFQ69G5FA",
            "01ARZ3NDEKTSV4RRFFQ69G5FAV-",
            "01ARZ3NDEKTSV4RRFFQ69G5FAVx",
            "請求書請求書請求書請求書",
        ] {
            assert_eq!(ulid_of_claim(other), None, "{other}");
        }
        assert_eq!(claim_of_file(&ulid, &[b'x'; 228]).map(|claim| claim.len()), Some(255));
        assert_eq!(claim_of_file(&ulid, &[b'x'; 229]), None);
        assert_eq!(claim_of_file(&ulid, b"\xff.pdf"), None);
    }
}
