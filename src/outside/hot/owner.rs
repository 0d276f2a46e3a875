//! Whether a file's owner is evidence of who wrote it: only if nobody else could have written it (I24).

use std::os::fd::AsFd;

use rustix::fs;
use rustix::io::Errno;

const OTHERS_WRITE: u32 = 0o022;
/// Access lists that the mode does not show. POSIX lists show in the mode's group bits, which are their mask.
const LISTS_BESIDE_THE_MODE: [&str; 4] =
    ["system.nfs4_acl", "system.cifs_acl", "system.smb3_acl", "system.richacl"];
const POSIX_LIST: &str = "system.posix_acl_access";

/// What a file system reports about an access list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    /// There is none, or its mask shows in the mode.
    InTheMode,
    Beside,
    /// The file system has no access lists.
    Unknown,
    NotReadable,
}

/// Pure. On a share the server's permissions count, and a list that is not shown may allow more than the
/// mode.
fn is_evidence(mode: u32, list: List, is_remote: bool) -> bool {
    let by_list = match list {
        List::InTheMode => true,
        List::Unknown => !is_remote,
        List::Beside | List::NotReadable => false,
    };
    mode & OTHERS_WRITE == 0 && by_list
}

pub(super) fn only_the_owner_writes(file: impl AsFd, mode: u32, is_remote: bool) -> bool {
    is_evidence(mode, list(file), is_remote)
}

fn list(file: impl AsFd) -> List {
    let mut nothing: [u8; 0] = [];
    for name in LISTS_BESIDE_THE_MODE {
        match fs::fgetxattr(file.as_fd(), name, &mut nothing) {
            Ok(_) | Err(Errno::RANGE) => return List::Beside,
            Err(Errno::NODATA | Errno::NOTSUP) => {}
            Err(_) => return List::NotReadable,
        }
    }
    match fs::fgetxattr(file.as_fd(), POSIX_LIST, &mut nothing) {
        Ok(_) | Err(Errno::RANGE | Errno::NODATA) => List::InTheMode,
        Err(Errno::NOTSUP) => List::Unknown,
        Err(_) => List::NotReadable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_evidence_only_if_nobody_else_could_have_written() {
        for (mode, list, here, on_a_share) in [
            (0o100_600, List::InTheMode, true, true),
            (0o100_640, List::InTheMode, true, true),
            (0o100_660, List::InTheMode, false, false),
            (0o100_642, List::InTheMode, false, false),
            (0o100_640, List::Unknown, true, false),
            (0o100_660, List::Unknown, false, false),
            (0o100_640, List::Beside, false, false),
            (0o100_640, List::NotReadable, false, false),
        ] {
            let found = [false, true].map(|is_remote| is_evidence(mode, list, is_remote));
            assert_eq!(found, [here, on_a_share], "{mode:o} {list:?}");
        }
    }
}
