//! I23: one set of records posts. A copy of them, however it is made, is refused with the words that help.

use std::cell::Cell;
use std::os::unix::fs::PermissionsExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use chrono::TimeDelta;
use mailchute::outside::store::{Desk, Elsewhere, Report, Store, StoreError, relocate};
use serde_json::json;

use crate::rigs::files::copy_tree;
use crate::rigs::office::Office;
use crate::rigs::program::mailchute;

/// Three letters that are about to be posted: the service does not confirm anything at present.
async fn before_the_confirmation() -> Office {
    let mut office = Office::open().await;
    office.settle().await;
    office.service.order(json!({"endpoint": "read", "fault": "cut", "times": 3})).await;
    for _ in 0..3 {
        office.submit(&[1]);
    }
    office.settle().await;
    for number in 1..=3 {
        assert_eq!(office.state(number), "uploaded");
    }
    office
}

async fn authorized(office: &Office) -> usize {
    let mails = office.mails().await;
    mails.values().filter(|(_, events)| events.contains_key("authorized")).count()
}

fn opened(dir: &Path, office: &Office) -> Result<Report, StoreError> {
    Store::open(dir, office.clock.now(), false).map(|(_, report)| report)
}

fn is_copy<T: std::fmt::Debug>(opened: Result<T, StoreError>) {
    let error = opened.unwrap_err();
    assert!(matches!(error, StoreError::Copied { what: Elsewhere::Copy, .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("`mailchute run --after-restore`") && text.contains("`mailchute move`"), "{text}");
}

#[tokio::test]
async fn a_copy_of_the_records_is_refused_beside_them_and_after_them() {
    let mut office = before_the_confirmation().await;
    let copies: Vec<_> = (0..3).map(|_| tempfile::tempdir().unwrap()).collect();
    copy_tree(office.dir.path(), copies[0].path());
    is_copy(opened(copies[0].path(), &office));
    office.stop();
    copy_tree(office.dir.path(), copies[1].path());
    is_copy(opened(copies[1].path(), &office));
    // One whose database is damaged, or gone, is not made anew either.
    let database = copies[1].path().join("mailchute.db");
    std::fs::write(&database, "damaged").unwrap();
    is_copy(opened(copies[1].path(), &office));
    assert_eq!(std::fs::read(&database).unwrap(), b"damaged");
    std::fs::remove_file(&database).unwrap();
    is_copy(opened(copies[1].path(), &office));
    // Nor one without its ledger.
    copy_tree(office.dir.path(), copies[2].path());
    std::fs::remove_dir_all(copies[2].path().join("spool/ledger")).unwrap();
    is_copy(opened(copies[2].path(), &office));
    office.start();
    office.go_on_for(TimeDelta::hours(1)).await;
    assert_eq!(authorized(&office).await, 3);
    office.check().await;
    // Told that it is one, it goes on, and posts nothing by itself.
    office.stop();
    let service_knows = std::mem::replace(&mut office.dir, tempfile::tempdir().unwrap());
    copy_tree(copies[0].path(), office.dir.path());
    assert_eq!(office.start_after(true).held.len(), 3);
    office.go_on_for(TimeDelta::hours(1)).await;
    assert_eq!(authorized(&office).await, 3);
    drop(service_knows);
}

#[tokio::test]
async fn records_put_back_are_refused_in_a_new_directory_and_over_the_ones_that_stand_there() {
    for is_in_place in [false, true] {
        let mut office = before_the_confirmation().await;
        office.stop();
        let backup = tempfile::tempdir().unwrap();
        copy_tree(office.dir.path(), backup.path());
        office.start();
        office.go_on_for(TimeDelta::hours(1)).await;
        office.stop();
        let state = office.dir.path().to_owned();
        if !is_in_place {
            std::fs::remove_dir_all(&state).unwrap();
        }
        // Over what stands there, the files stay the same and get the old contents.
        copy_tree(backup.path(), &state);
        is_copy(opened(&state, &office));
        assert_eq!(authorized(&office).await, 3, "in place: {is_in_place}");
    }
}

#[tokio::test]
async fn records_are_bound_at_their_first_start_and_outlive_a_rename_a_crash_and_the_loss_of_either_part() {
    let mut office = before_the_confirmation().await;
    office.stop();
    let state = office.dir.path().to_owned();
    let db = rusqlite::Connection::open(state.join("mailchute.db")).unwrap();
    db.execute("DELETE FROM meta WHERE key = 'place'", []).unwrap();
    drop(db);
    std::fs::remove_file(state.join("spool/ledger/place")).unwrap();
    assert!(opened(&state, &office).unwrap().bound, "an earlier version's");
    assert!(!opened(&state, &office).unwrap().bound);
    // Moved with its directory it is the same.
    let moved = tempfile::tempdir().unwrap();
    let moved = moved.path().join("records");
    std::fs::create_dir_all(moved.parent().unwrap()).unwrap();
    if std::fs::rename(&state, &moved).is_ok() {
        opened(&moved, &office).unwrap();
        std::fs::rename(&moved, &state).unwrap();
    }
    for lost in ["spool/ledger/place", "mailchute.db"] {
        std::fs::remove_file(state.join(lost)).unwrap();
        assert!(!opened(&state, &office).unwrap().bound, "{lost}");
    }
    // A damaged file beside the ledger alone holds nobody up.
    std::fs::write(state.join("spool/ledger/place"), "\0\0\0").unwrap();
    assert!(opened(&state, &office).unwrap().held.is_empty());
    office.start();
    office.go_on_for(TimeDelta::hours(1)).await;
    assert_eq!(authorized(&office).await, 3);
    office.check().await;
}

/// Ends in the middle: at the n-th file. Whether it came to its end.
fn moved_until(from: &Path, to: &Path, n: usize) -> bool {
    let seen = Cell::new(0);
    let progress = |_: &Path| {
        seen.set(seen.get() + 1);
        assert!(seen.get() <= n, "the process ends here");
    };
    catch_unwind(AssertUnwindSafe(|| relocate(from, to, &progress).unwrap())).is_ok()
}

#[tokio::test]
async fn a_move_holds_nothing_loses_nothing_and_may_end_at_any_file() {
    let mut was_sealed = 0;
    for n in 0.. {
        let mut office = before_the_confirmation().await;
        office.stop();
        // Submitted while nobody runs.
        office.submit(&[2]);
        let (old, parent) = (office.dir.path().to_owned(), tempfile::tempdir().unwrap());
        let new = parent.path().join("new");
        let is_done = moved_until(&old, &new, n);
        if !is_done {
            // At most one of the two may post.
            assert!(
                new.join("mailchute.db").exists().then(|| opened(&new, &office)).is_none_or(|it| it.is_err())
            );
            if new.join("mailchute.db").exists() {
                let error = Store::open(&new, office.clock.now(), true).unwrap_err();
                assert!(matches!(error, StoreError::BeingFilled(_)), "{error}");
            }
            let is_sealed = matches!(Desk::open(&old), Err(StoreError::Moved { .. }));
            was_sealed += usize::from(is_sealed);
            assert_eq!(opened(&old, &office).is_err(), is_sealed, "{n}");
            relocate(&old, &new, &|_| {}).unwrap();
        }
        let error = opened(&old, &office).unwrap_err();
        assert!(
            matches!(&error, StoreError::Moved { to, .. } if *to == new.canonicalize().unwrap()),
            "{error}"
        );
        assert!(Store::open(&old, office.clock.now(), true).is_err(), "for ever");
        // Once more it has nothing to do.
        relocate(&old, &new, &|_| {}).unwrap();
        office.dir = parent;
        std::fs::rename(&new, office.dir.path().with_extension("records")).unwrap();
        std::fs::remove_dir(office.dir.path()).unwrap();
        std::fs::rename(office.dir.path().with_extension("records"), office.dir.path()).unwrap();
        let report = office.start();
        assert!(report.held.is_empty() && !report.bound, "{n}: {report:?}");
        office.go_on_for(TimeDelta::hours(1)).await;
        assert_eq!(authorized(&office).await, 4, "{n}");
        office.check().await;
        if is_done {
            assert!(n > 5 && was_sealed == 1, "{n} files, {was_sealed}");
            break;
        }
    }
}

#[tokio::test]
async fn a_move_that_ended_before_its_last_step_is_completed_by_another() {
    let mut office = before_the_confirmation().await;
    office.stop();
    let (old, parent) = (office.dir.path().to_owned(), tempfile::tempdir().unwrap());
    let new = parent.path().join("new");
    relocate(&old, &new, &|_| {}).unwrap();
    // It was killed before it removed the mark of its beginning.
    let mark = new.join("being-filled");
    assert!(!mark.exists());
    std::fs::copy(new.join("spool/ledger/name"), &mark).unwrap();
    assert!(opened(&new, &office).is_err());
    relocate(&old, &new, &|_| {}).unwrap();
    assert!(!mark.exists());
    opened(&new, &office).unwrap();
}

#[tokio::test]
async fn a_move_is_refused_into_a_place_that_can_not_have_the_records_and_while_the_daemon_runs() {
    let mut office = before_the_confirmation().await;
    let old = office.dir.path().to_owned();
    let new = tempfile::tempdir().unwrap();
    let refused = |from: &Path, to: PathBuf| relocate(from, &to, &|_| {}).unwrap_err();
    assert!(matches!(refused(&old, new.path().to_owned()), StoreError::InUse(_)));
    office.stop();
    assert!(matches!(refused(&old, old.join("within")), StoreError::NoRoom(_)));
    assert!(!old.join("within").exists());
    assert!(matches!(refused(&old, old.clone()), StoreError::NoRoom(_)));
    std::fs::write(new.path().join("somebody's"), "x").unwrap();
    assert!(matches!(refused(&old, new.path().to_owned()), StoreError::NoRoom(_)));
    assert_eq!(std::fs::read_dir(new.path()).unwrap().count(), 1);
    assert!(matches!(refused(new.path(), old.clone()), StoreError::Nothing(_)));
    let copy = tempfile::tempdir().unwrap();
    copy_tree(&old, copy.path());
    assert!(matches!(refused(copy.path(), new.path().join("x")), StoreError::Copied { .. }));
    // Nothing came of any of it.
    office.start();
    office.go_on_for(TimeDelta::hours(1)).await;
    assert_eq!(authorized(&office).await, 3);
    office.check().await;
}

#[tokio::test]
async fn commands_say_where_records_that_were_moved_are() {
    let mut office = before_the_confirmation().await;
    office.stop();
    let dir = tempfile::tempdir().unwrap();
    let places = &office.service.welcome.places;
    let secret = dir.path().join("secret");
    std::fs::write(&secret, "secret\n").unwrap();
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();
    let config = |state: &Path| {
        let text = format!(
            "state: {}\naccounts:\n  main:\n    base_url: {}\n    auth_url: {}\n    client_id: x\n    \
             client_secret: {{file: {}}}\n",
            state.display(),
            places.base_url,
            places.auth_url,
            secret.display(),
        );
        std::fs::write(dir.path().join("mailchute.yaml"), text).unwrap();
    };
    let run = |arguments: &[&str]| {
        let output = mailchute(arguments).current_dir(dir.path()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    config(office.dir.path());
    let new = dir.path().join("new").to_string_lossy().into_owned();
    let (code, said, told) = run(&["move", "new"]);
    assert_eq!((code, told.as_str()), (Some(0), ""), "{said}");
    assert!(said.contains(&format!("write `state: {new}` into mailchute.yaml")), "{said}");
    for command in [&["list"][..], &["run"], &["run", "--after-restore"], &["cancel", "1"], &["move", "else"]]
    {
        let (code, said, told) = run(command);
        assert_eq!((code, said.as_str()), (Some(1), ""), "{command:?}");
        assert!(
            told.contains(&format!("were moved to {new} and post from there: write `state: {new}`")),
            "{told}"
        );
    }
    config(Path::new(&new));
    let (code, said, _) = run(&["list"]);
    assert_eq!((code, said.matches("uploaded").count()), (Some(0), 3), "{said}");
}
