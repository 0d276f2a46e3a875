//! What the program is doing when it happens.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use mailchute::sandbox::Options;

use super::{Counted, How, counted};
use crate::rigs::mailroom::{Mailroom, RULES, SIDECAR};
use crate::rigs::program::mailchute;
use crate::rigs::service::{Service, pdf, unique};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scenario {
    /// A first start, two drops in the folder: one is posted, one is torn.
    Drop,
    /// A letter that was submitted is posted.
    Post,
    /// A letter that was posted is called back by moving it.
    Cancel,
    /// A drop that waits with its sidecar is approved; the sidecar stays on its shelf.
    Approve,
    /// New rules come while it runs, and with them another drop.
    Reload,
    /// The records are copied.
    Backup,
    /// Two drops that are finished at the same time are claimed together.
    Together,
    /// More drops than are put on their shelves together, so that the next are planned while others are moved.
    Many,
}

const MANY: usize = 40;

const ADDRESS: &str =
    "postal_code: \"0600001\"\nstate: 北海道\ncity: 札幌市\naddress1: 北一条西1-1\nname: 山田 太郎\n";

/// An office where nothing was dropped yet, in memory if there is a place for that.
async fn empty(first: &str) -> Mailroom {
    let quick = RULES
        .replace("{poll: 1s}", "{settle: 100ms, incomplete: 200ms, poll: 1s}")
        .replace("path:", &format!("first_start: {first}\npath:"));
    let memory = PathBuf::from("/dev/shm");
    let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let room = Mailroom::at(Service::of_today(Options::default()).await, dir, &quick).await;
    room.add_to_main("network: {quickest_retry: 100ms, slowest_retry: 1s}\n");
    room
}

/// So many letters, each with a document of its own, from their drops to their shelves.
pub async fn burst(letters: usize) -> Mailroom {
    let room = empty("take").await;
    for n in 1..=letters {
        std::fs::write(room.path(&format!("INV-000123 {n}.pdf")), unique(n, 2)).unwrap();
    }
    let mut daemon = counted(&room, &["run"], None, None);
    daemon.until("all are on their shelf", || is_put_away(&room, letters)).await;
    assert!(daemon.end().await.success());
    assert_eq!(states(&room), vec!["confirmed"; letters], "all of them are letters");
    room
}

impl Scenario {
    pub const ALL: [Self; 8] = [
        Self::Drop,
        Self::Post,
        Self::Cancel,
        Self::Approve,
        Self::Reload,
        Self::Backup,
        Self::Together,
        Self::Many,
    ];

    /// Most moments of `Many` are alike, so only every seventeenth is tried.
    pub fn step(self) -> usize {
        if self == Self::Many { 17 } else { 1 }
    }

    /// How many of a hundred points are reached at least. How many moments there are depends on what is put together.
    pub fn reached(self) -> usize {
        if self == Self::Many { 70 } else { 90 }
    }

    pub async fn prepare(self) -> Mailroom {
        let room = empty(if self == Self::Approve { "hold" } else { "take" }).await;
        match self {
            Self::Drop | Self::Reload => {
                room.drop("INV-000123 1.pdf", 1);
                std::fs::write(room.path("x2.pdf"), &pdf(1)[..200]).unwrap();
            }
            Self::Together => {
                for n in 1..=2 {
                    room.drop(&format!("INV-000123 {n}.pdf"), n);
                }
            }
            Self::Many => {
                for n in 1..=MANY {
                    std::fs::write(room.path(&format!("INV-000123 {n}.pdf")), unique(n, 2)).unwrap();
                }
            }
            Self::Post => submit(&room),
            Self::Cancel | Self::Backup => {
                room.drop("INV-000123 1.pdf", 1);
                undisturbed(&room, posted).await;
            }
            Self::Approve => {
                room.drop("side1.pdf", 1);
                std::fs::write(room.path("side1.pdf.yaml"), SIDECAR).unwrap();
                undisturbed(&room, |room| is_put_away(room, 1)).await;
                std::fs::rename(room.path("Held/side1.pdf"), room.path("Approve/side1.pdf")).unwrap();
            }
        }
        if self == Self::Cancel {
            let sent = room.in_sent("INV-000123 1.pdf").unwrap();
            std::fs::rename(room.path(&sent), room.path("Cancel/INV-000123 1.pdf")).unwrap();
        }
        room
    }

    pub async fn run(self, room: &Mailroom, point: Option<(usize, How)>) {
        self.run_taped(room, point, None).await;
    }

    pub async fn run_taped(self, room: &Mailroom, point: Option<(usize, How)>, tape: Option<&Path>) {
        if self == Self::Backup {
            let to = room.dir.path().join("copy.db");
            let mut copying = counted(room, &["backup", to.to_str().unwrap()], point, tape);
            copying.until("it is copied", || false).await;
            return;
        }
        let mut daemon = counted(room, &["run"], point, tape);
        if self == Self::Reload {
            daemon.until("the first ones are put away", || is_put_away(room, 2)).await;
            Self::reload(room, &mut daemon).await;
            daemon.until("all are put away", || is_put_away(room, 3)).await;
        } else {
            daemon.until("it is done", || self.is_done(room)).await;
        }
        let ended = daemon.end().await;
        // Before it listens for it, that is how a program ends.
        let well = ended.success() || ended.signal() == Some(15);
        let said = daemon.said();
        let killed = matches!(point, Some((_, How::Before | How::After)));
        assert!(point.is_some() || well, "undisturbed, and it ended with {ended}: {said}");
        assert!(well || killed || said.contains("rror"), "it ended without a word: {said}");
    }

    /// New rules, and once they are in force a drop that needs them; only once.
    async fn reload(room: &Mailroom, daemon: &mut Counted) {
        let dropped = room.dir.path().join("dropped");
        if dropped.exists() {
            return;
        }
        let rules = room.dir.path().join("folders/letters.yaml");
        let text = std::fs::read_to_string(&rules).unwrap();
        std::fs::write(&rules, text.replace("'^x'", "'^[xy]'")).unwrap();
        let id = daemon.child.id().to_string();
        drop(std::process::Command::new("kill").args(["-HUP", &id]).stderr(Stdio::null()).status());
        let journal = room.dir.path().join("journal");
        let in_force = || std::fs::read_to_string(&journal).is_ok_and(|said| said.contains("is in force"));
        daemon.until("the new rules are in force", in_force).await;
        std::fs::write(room.path("y3.pdf"), pdf(2)).unwrap();
        std::fs::write(dropped, "").unwrap();
    }

    fn is_done(self, room: &Mailroom) -> bool {
        match self {
            Self::Drop => is_put_away(room, 2),
            Self::Post => states(room) == ["confirmed"],
            Self::Cancel => states(room) == ["cancelled"] && is_put_away(room, 1),
            Self::Approve => posted(room),
            Self::Together => is_put_away(room, 2) && states(room) == ["confirmed", "confirmed"],
            Self::Many => is_put_away(room, MANY) && states(room) == ["confirmed"; MANY],
            Self::Reload | Self::Backup => true,
        }
    }

    pub async fn judge(self, room: &Mailroom) {
        let drops = || room.drops();
        room.check().await;
        match self {
            Self::Drop | Self::Post | Self::Approve => {
                assert_eq!(room.row_states(), ["confirmed"], "{:?}", drops());
            }
            Self::Cancel => assert_eq!(room.row_states(), ["cancelled"]),
            Self::Reload | Self::Together => {
                assert_eq!(room.row_states(), ["confirmed", "confirmed"], "{:?}", drops());
            }
            Self::Many => assert_eq!(room.row_states(), ["confirmed"; MANY], "{:?}", drops()),
            Self::Backup => {
                assert_eq!(room.row_states(), ["confirmed"]);
                let copy = rusqlite::Connection::open(room.dir.path().join("copy.db")).unwrap();
                let letters: i64 =
                    copy.query_row("SELECT count(*) FROM letter", [], |row| row.get(0)).unwrap();
                assert_eq!(letters, 1);
            }
        }
        let mut tree = room.tree();
        if self == Self::Post {
            // The folder may not have been opened again, which removes it.
            tree.retain(|path| path != ".mailchute/probe");
        }
        if self == Self::Approve {
            let sidecar = room.in_sent("side1.pdf.yaml");
            assert!(sidecar.is_some(), "its sidecar went with it: {tree:?}");
            tree.retain(|path| Some(path) != sidecar.as_ref());
        }
        let originals: Vec<_> =
            tree.iter().filter(|path| Path::new(path).extension() != Some("txt".as_ref())).collect();
        let expected = match self {
            Self::Drop | Self::Together => 2,
            Self::Post => 0,
            Self::Cancel | Self::Approve | Self::Backup => 1,
            Self::Reload => 3,
            Self::Many => MANY,
        };
        assert_eq!(originals.len(), expected, "each original in one place: {tree:?}");
        let shelved =
            |path: &String| ["Sent/", "Rejected/", "Cancelled/"].iter().any(|shelf| path.starts_with(shelf));
        assert!(tree.iter().all(shelved) && tree.len() == 2 * expected, "each with its text: {tree:?}");
    }
}

/// A daemon before it all, whose moments are not counted.
async fn undisturbed(room: &Mailroom, is_done: impl Fn(&Mailroom) -> bool) {
    let mut daemon = counted(room, &["run"], None, None);
    daemon.until("it is done", || is_done(room)).await;
    assert!(daemon.end().await.success());
    std::fs::remove_file(room.dir.path().join("said")).unwrap();
}

fn submit(room: &Mailroom) {
    std::fs::write(room.dir.path().join("letter.pdf"), pdf(2)).unwrap();
    std::fs::write(room.dir.path().join("address.yaml"), ADDRESS).unwrap();
    let words = [
        "submit",
        "letter.pdf",
        "--to",
        "address.yaml",
        "--from",
        "address.yaml",
        "--config",
        "mailchute.yaml",
    ];
    let done = mailchute(&words).current_dir(room.dir.path()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Nothing, while there are no records yet or they are not to be read.
fn states(room: &Mailroom) -> Vec<String> {
    let Ok(desk) = mailchute::outside::store::Desk::open(&room.dir.path().join("state")) else {
        return Vec::new();
    };
    let rows = desk.letters(None, None, 1000).unwrap_or_default();
    rows.into_iter().map(|row| row.state).collect()
}

fn is_put_away(room: &Mailroom, drops: usize) -> bool {
    let Ok(desk) = mailchute::outside::store::Desk::open(&room.dir.path().join("state")) else {
        return false;
    };
    let rows = desk.drops(1000).unwrap_or_default();
    rows.len() >= drops && rows.iter().all(|drop| !drop.moving && drop.is_still_or_posted())
}

fn posted(room: &Mailroom) -> bool {
    is_put_away(room, 1) && states(room) == ["confirmed"]
}
