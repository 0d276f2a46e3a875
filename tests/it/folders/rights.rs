//! Shelves and texts are the folder's group's, as the folder itself is, whatever umask and group the service has.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::fs::{XattrFlags, getxattr, setxattr};

use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::program::mailchute;
use crate::rigs::service::pdf;

/// Of another group, if the test may say so.
const GROUP: u32 = 4242;

/// A list of rights as the kernel keeps it: owner, this user, group, mask, others.
fn list(user: u32, rights: u16) -> Vec<u8> {
    let entry = |tag: u16, rights: u16, id: u32| {
        [&tag.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat()
    };
    let nobody = u32::MAX;
    [
        2_u32.to_le_bytes().to_vec(),
        entry(1, 7, nobody),
        entry(2, rights, user),
        entry(4, 7, nobody),
        entry(0x10, 7, nobody),
        entry(0x20, 0, nobody),
    ]
    .concat()
}

/// The group and rights of something in the folder, once it is there.
fn rights(room: &Mailroom, path: &str) -> (u32, u32) {
    let begun = Instant::now();
    loop {
        if let Ok(meta) = std::fs::metadata(room.path(path)) {
            return (meta.gid(), meta.mode() & 0o7777);
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "waited in vain: {path}");
        std::thread::yield_now();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn people_of_the_folder_s_group_can_use_shelves_and_texts() {
    let rules = RULES
        .replace("{poll: 1s}", "{settle: 100ms, poll: 1s}")
        .replace("rules:", "release: approval\nrules:");
    let room = Mailroom::of_today(&rules).await;
    let is_root = rustix::process::geteuid().is_root();
    let group = if is_root { GROUP } else { rustix::process::getegid().as_raw() };
    let folder = room.hot();
    std::os::unix::fs::chown(&folder, None, Some(group)).unwrap();
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o2770)).unwrap();
    // One that an earlier version made.
    std::fs::create_dir(room.path("Sent")).unwrap();
    std::os::unix::fs::chown(room.path("Sent"), None, Some(rustix::process::getegid().as_raw())).unwrap();
    std::fs::set_permissions(room.path("Sent"), PermissionsExt::from_mode(0o1700)).unwrap();
    let config = room.dir.path().join("mailchute.yaml");
    let doctor = || {
        let done = mailchute(&["doctor", "--config", config.to_str().unwrap()]).output().unwrap();
        String::from_utf8([done.stdout, done.stderr].concat()).unwrap()
    };
    let said = doctor();
    assert!(said.contains("its group can't use `Sent`") && said.contains("chmod 2770"), "{said}");
    let checked = mailchute(&["check", "--config", config.to_str().unwrap()]).output().unwrap();
    assert!(String::from_utf8(checked.stderr).unwrap().contains("its group can't use `Sent`"));
    let has_lists =
        setxattr(&folder, "system.posix_acl_default", &list(4343, 6), XattrFlags::empty()).is_ok();
    let mut daemon = std::process::Command::new("sh")
        .args(["-c", "umask 077; exec \"$0\" run --config \"$1\"", env!("CARGO_BIN_EXE_mailchute")])
        .arg(&config)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    for shelf in ["Approve", "Cancel"] {
        assert_eq!(rights(&room, shelf), (group, 0o2770), "{shelf}");
    }
    std::fs::write(room.path("x.pdf"), pdf(1)).unwrap();
    assert_eq!(rights(&room, "Held/x.txt"), (group, 0o660));
    assert_eq!(rights(&room, "Held"), (group, 0o2770));
    assert_eq!(rights(&room, "Sent"), (group, 0o2770), "it is given back to the group");
    assert_eq!(rights(&room, ".mailchute").1 & 0o777, 0o700, "nobody else reads our directory");
    if has_lists {
        let of = |path: &Path, name: &str| {
            let mut found = [0; 200];
            getxattr(path, name, &mut found)
                .is_ok_and(|length| found[..length].windows(4).any(|id| id == 4343_u32.to_le_bytes()))
        };
        assert!(of(&room.path("Held"), "system.posix_acl_default"), "what is made on the shelf has it too");
        assert!(of(&room.path("Held/x.txt"), "system.posix_acl_access"));
    }
    assert!(!doctor().contains("its group can't use"), "{}", doctor());
    daemon.kill().unwrap();
    daemon.wait().unwrap();
}
