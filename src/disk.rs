//! Which file systems are not local: other machines, or another program, can write there without the kernel's
//! hearing of it, and locks and syncs may not hold. One list, for hot folders and for the state directory.

use std::io;
use std::path::Path;

/// Magic numbers, as `linux/magic.h` and the file systems' own headers have them.
const NOT_LOCAL: [(u64, &str); 12] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xfe53_4d42, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0x5346_414f, "AFS"),
    (0x6b41_4653, "AFS"),
    (0x00c3_6400, "Ceph"),
    (0x0102_1997, "9p"),
    // sshfs, gluster, virtiofs and others.
    (0x6573_5546, "FUSE"),
    (0x0bd0_0bd0, "Lustre"),
    (0x7461_636f, "OCFS2"),
    (0x0116_1970, "GFS2"),
];

/// The name of a kind of file system, by its magic number, if it is not local.
pub fn not_local(kind: u64) -> Option<&'static str> {
    // The sign of a magic number differs by machine.
    let kind = kind & 0xffff_ffff;
    NOT_LOCAL.iter().find(|(magic, _)| *magic == kind).map(|(_, name)| *name)
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
}
