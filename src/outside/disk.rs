//! Which file systems are not local. On these, other machines or another program can write without the
//! kernel's notice, and locks and syncs may have no effect. One list for hot folders and the state directory.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// A kind of file system that is not local.
struct NotLocal {
    /// From `linux/magic.h` and the file systems' own headers.
    magic: u64,
    name: &'static str,
    /// The kernel's names for it in a list of mounts. A name that ends with a dot is the beginning of several
    /// names.
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
    // Accessing it may mount any of the others.
    NotLocal { magic: 0x0187, name: "autofs", types: &["autofs"] },
];

/// The name of a kind of file system by its magic number, if that kind is not local.
pub fn not_local(kind: u64) -> Option<&'static str> {
    // The sign of a magic number differs between machines.
    let kind = kind & 0xffff_ffff;
    NOT_LOCAL.iter().find(|one| one.magic == kind).map(|one| one.name)
}

/// The mount points of this process, and the type of each file system.
#[derive(Debug, Default)]
pub struct Mounts(Vec<(PathBuf, String)>);

/// The maximum number of symbolic links followed, as in the kernel.
const MOST_LINKS: u32 = 40;

impl Mounts {
    /// The current mounts. No file system is asked, so this never hangs.
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
        // Of two mounts at one point, the later one is on top.
        around.max_by_key(|(point, _)| point.as_os_str().len())
    }

    /// The type of the file system at a path without symbolic links.
    pub fn kind(&self, path: &Path) -> Option<&str> {
        self.around(path).map(|(_, kind)| kind.as_str())
    }

    /// The mount point of a path.
    pub fn point(&self, path: &Path) -> Option<&Path> {
        self.around(path).map(|(point, _)| point.as_path())
    }

    fn is_local(&self, path: &Path) -> bool {
        let is_of =
            |kind: &str, known: &&str| kind == *known || known.ends_with('.') && kind.starts_with(*known);
        self.kind(path)
            .is_none_or(|kind| !NOT_LOCAL.iter().flat_map(|one| one.types).any(|known| is_of(kind, known)))
    }

    /// The target of an absolute path, as far as it can be found without asking a file system that is not
    /// local and may never answer. The boolean says whether it leads to such a file system.
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

/// A field of the list of mounts, in which the kernel writes blanks and similar characters as `\040`.
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

/// File systems whose id is derived from their UUID, so it stays the same over reboots: ext2, ext3, ext4 and
/// btrfs.
const OF_THEIR_UUID: [u64; 2] = [0xef53, 0x9123_683e];

/// The id of the file system on which a file lies, if it stays the same for the life of that file system.
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
        // A machine on which the number is signed gives this.
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
            // What lies beyond the mount is not looked at.
            ("out/y", PathBuf::from("/mnt/c/../c/x/y"), true),
            ("back", PathBuf::from("/mnt/c/../c/x"), true),
            ("round/x", here.join("round/x"), false),
        ] {
            assert_eq!(mounts.resolve(&here.join(path)), (leads_to, is_apart), "{path}");
        }
    }
}
