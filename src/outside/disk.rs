//! Which file systems are not local: other machines, or another program, can write there without the kernel's
//! hearing of it, and locks and syncs may not hold. One list, for hot folders and for the state directory.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// A kind of file system that is not local.
struct NotLocal {
    /// As `linux/magic.h` and the file systems' own headers have it.
    magic: u64,
    name: &'static str,
    /// What the kernel calls it in a list of mounts; a name that ends with a dot begins those of several kinds.
    types: &'static [&'static str],
}

const NOT_LOCAL: [NotLocal; 13] = [
    NotLocal { magic: 0x6969, name: "NFS", types: &["nfs", "nfs4"] },
    NotLocal { magic: 0x517b, name: "SMB", types: &["smbfs"] },
    NotLocal { magic: 0xfe53_4d42, name: "SMB", types: &["smb3"] },
    NotLocal { magic: 0xff53_4d42, name: "CIFS", types: &["cifs"] },
    NotLocal { magic: 0x5346_414f, name: "AFS", types: &["openafs"] },
    NotLocal { magic: 0x6b41_4653, name: "AFS", types: &["afs"] },
    NotLocal { magic: 0x00c3_6400, name: "Ceph", types: &["ceph"] },
    NotLocal { magic: 0x0102_1997, name: "9p", types: &["9p"] },
    // sshfs, gluster, virtiofs and others.
    NotLocal { magic: 0x6573_5546, name: "FUSE", types: &["fuse", "fuse.", "fuseblk", "virtiofs"] },
    NotLocal { magic: 0x0bd0_0bd0, name: "Lustre", types: &["lustre"] },
    NotLocal { magic: 0x7461_636f, name: "OCFS2", types: &["ocfs2"] },
    NotLocal { magic: 0x0116_1970, name: "GFS2", types: &["gfs2"] },
    // Looking at it may mount any of the others.
    NotLocal { magic: 0x0187, name: "autofs", types: &["autofs"] },
];

/// The name of a kind of file system, by its magic number, if it is not local.
pub fn not_local(kind: u64) -> Option<&'static str> {
    // The sign of a magic number differs by machine.
    let kind = kind & 0xffff_ffff;
    NOT_LOCAL.iter().find(|one| one.magic == kind).map(|one| one.name)
}

/// The mount points of this process, and the type of each file system.
#[derive(Debug, Default)]
pub struct Mounts(Vec<(PathBuf, String)>);

/// More symbolic links than these lead nowhere, as for the kernel.
const MOST_LINKS: u32 = 40;

impl Mounts {
    /// The mounts at this moment. No file system is asked, so this never hangs.
    pub fn now() -> Self {
        Self::read(&std::fs::read("/proc/self/mounts").unwrap_or_default())
    }

    fn read(mounts: &[u8]) -> Self {
        let fields = mounts.split(|byte| *byte == b'\n').filter_map(|line| {
            let mut fields = line.split(|byte| *byte == b' ').skip(1);
            let point = PathBuf::from(OsString::from_vec(unescaped(fields.next()?)));
            Some((point, String::from_utf8_lossy(fields.next()?).into_owned()))
        });
        Self(fields.collect())
    }

    fn around(&self, path: &Path) -> Option<&(PathBuf, String)> {
        let around = self.0.iter().filter(|(point, _)| path.starts_with(point));
        // Of two at one point, the later one lies on top.
        around.max_by_key(|(point, _)| point.as_os_str().len())
    }

    /// The type of the file system at a path without symbolic links.
    pub fn kind(&self, path: &Path) -> Option<&str> {
        self.around(path).map(|(_, kind)| kind.as_str())
    }

    /// Where it is mounted.
    pub fn point(&self, path: &Path) -> Option<&Path> {
        self.around(path).map(|(point, _)| point.as_path())
    }

    fn is_local(&self, path: &Path) -> bool {
        let is_of =
            |kind: &str, known: &&str| kind == *known || known.ends_with('.') && kind.starts_with(*known);
        self.kind(path)
            .is_none_or(|kind| !NOT_LOCAL.iter().flat_map(|one| one.types).any(|known| is_of(kind, known)))
    }

    /// Where an absolute path leads, as far as that can be found out without asking a file system that is not
    /// local, which may never answer; and whether it leads into one of those.
    pub fn resolve(&self, path: &Path) -> (PathBuf, bool) {
        let mut to_go: Vec<OsString> = path.iter().rev().map(OsStr::to_owned).collect();
        let (mut real, mut links) = (PathBuf::new(), 0);
        while let Some(part) = to_go.pop() {
            if part == ".." {
                real.pop();
                continue;
            }
            let next = real.join(&part);
            if !self.is_local(&next) {
                let rest = to_go.iter().rev().filter(|part| *part != ".");
                return (rest.fold(next, |path, part| path.join(part)), true);
            }
            match std::fs::read_link(&next) {
                Ok(target) if links < MOST_LINKS => {
                    links += 1;
                    to_go.extend(target.iter().rev().map(OsStr::to_owned));
                }
                Ok(_) | Err(_) => real = next,
            }
        }
        (real, false)
    }
}

/// A field of the list of mounts: the kernel writes blanks and the like as `\040`.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let octal = (*first == b'\\').then(|| after.get(..3)).flatten();
        let byte = octal.and_then(|octal| u8::from_str_radix(std::str::from_utf8(octal).ok()?, 8).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[3..] } else { after };
    }
    bytes
}

/// Those whose id is made of their UUID, so that it outlives reboots: ext2, ext3 and ext4, and btrfs.
const OF_THEIR_UUID: [u64; 2] = [0xef53, 0x9123_683e];

/// The id of the file system on which a file lies, where it stays the same for as long as there is this file
/// system.
pub fn lasting_id(file: &Path) -> io::Result<Option<u64>> {
    #[expect(clippy::cast_sign_loss, reason = "a magic number; its sign differs by machine")]
    let kind = rustix::fs::statfs(file)?.f_type as u64 & 0xffff_ffff;
    let id = rustix::fs::statvfs(file)?.f_fsid;
    Ok(Some(id).filter(|id| *id != 0 && OF_THEIR_UUID.contains(&kind)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_over_a_network_are_known_by_their_magic_and_local_ones_are_not() {
        for (magic, name) in
            [(0x6969, "NFS"), (0xff53_4d42, "CIFS"), (0x6573_5546, "FUSE"), (0x0116_1970, "GFS2")]
        {
            assert_eq!(not_local(magic), Some(name));
        }
        // As a machine gives it on which the number is signed.
        assert_eq!(not_local(0xffff_ffff_ff53_4d42), Some("CIFS"));
        // ext4, XFS, btrfs, tmpfs, overlayfs, ZFS.
        for local in [0xef53_u64, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0x2fc1_2fc1] {
            assert_eq!(not_local(local), None);
        }
    }

    const MOUNTS: &[u8] =
        b"/dev/sda1 / ext4 rw 0 0\nserver:/a /mnt/a\\040b nfs4 rw 0 0\nx /mnt/c fuse.sshfs rw 0 0\n\
        tmpfs /mnt/c/d tmpfs rw 0 0\nfusectl /sys/fs/fuse/connections fusectl rw 0 0\nx /mnt/e ext4 rw 0 0\n\
        x /mnt/e fuse rw 0 0\nauto /mnt/f autofs rw 0 0\n";

    #[test]
    fn the_list_of_mounts_tells_which_paths_are_local() {
        let mounts = Mounts::read(MOUNTS);
        for (path, is_local) in [
            ("/srv", true),
            ("/mnt/a b", false),
            ("/mnt/a b/in/box", false),
            ("/mnt/a bc", true),
            ("/mnt/c/in", false),
            ("/mnt/c/d/in", true),
            ("/sys/fs/fuse/connections/1", true),
            ("/mnt/e/in", false),
            ("/mnt/f/server", false),
        ] {
            assert_eq!(mounts.is_local(Path::new(path)), is_local, "{path}");
        }
        assert!(Mounts::default().is_local(Path::new("/srv")));
        assert!(Mounts::now().kind(Path::new("/proc/self")).is_some_and(|kind| kind == "proc"));
    }

    #[test]
    fn a_path_is_followed_up_to_what_may_not_answer() {
        let dir = tempfile::tempdir().unwrap();
        let here = dir.path().canonicalize().unwrap();
        std::fs::create_dir(here.join("real")).unwrap();
        for (link, target) in
            [("out", "/mnt/c/../c/x"), ("in", "real"), ("back", "in/../out"), ("round", "round")]
        {
            std::os::unix::fs::symlink(target, here.join(link)).unwrap();
        }
        let mounts = Mounts::read(MOUNTS);
        for (path, leads_to, is_apart) in [
            ("real/x", here.join("real/x"), false),
            ("in/./x", here.join("real/x"), false),
            ("nothing/../in", here.join("real"), false),
            // What lies behind it is not looked at.
            ("out/y", PathBuf::from("/mnt/c/../c/x/y"), true),
            ("back", PathBuf::from("/mnt/c/../c/x"), true),
            ("round/x", here.join("round/x"), false),
        ] {
            assert_eq!(mounts.resolve(&here.join(path)), (leads_to, is_apart), "{path}");
        }
    }
}
