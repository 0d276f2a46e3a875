//! What a new configuration no longer asks for: rules, limits, approvals, checks. A rules file that is half
//! saved looks like such a change, so it comes into force later than others. Pure.

use super::folder::{Accept, FirstStart, Folder};
use crate::domain::printed::{Attention, CheckPrint};
use crate::domain::rules::{PageReceiver, ReceiverFrom, Rule, When};

/// What is looser in one folder than before, in words for the journal.
pub fn looser(old: &Folder, new: &Folder) -> Vec<String> {
    let mut found = Vec::new();
    let mut note = |is_looser: bool, what: &str| {
        if is_looser {
            found.push(format!("{}: {what}", new.name));
        }
    };
    let (was, is) = (&old.terms, &new.terms);
    note(was.approval && !is.approval, "no approval");
    note(was.posting.is_some() && is.posting.is_none(), "no posting times");
    note(old.names.by_copy && !new.names.by_copy, "an approval by the owner counts");
    note(is_less(was.duplicates, is.duplicates), "duplicates are looked for in a shorter time");
    note(is_more(was.letters_per_day, is.letters_per_day), "more letters in a day");
    note(is_more(was.sheets_per_day, is.sheets_per_day), "more sheets in a day");
    note(is_denser(was.burst, is.burst), "more letters in a burst");
    note(
        (old.first_start, new.first_start) == (FirstStart::Hold, FirstStart::Take),
        "what lay there is taken",
    );
    note(old.rules.check_page.is_some() && new.rules.check_page.is_none(), "pages are not checked any more");
    let holds_unclear = |folder: &Folder| folder.rules.check_page.is_some_and(|check| check.holds_unclear);
    note(holds_unclear(old) && !holds_unclear(new), "pages that cannot be read go on");
    let print = |folder: &Folder| {
        let CheckPrint { size, landscape, fonts, blank, color, placeholder, .. } = folder.rules.check_print;
        [size, landscape, fonts, blank, color, placeholder]
    };
    let is_laxer = print(old).iter().zip(print(new)).any(|(old, new)| *old == Attention::Hold && new < *old);
    note(is_laxer, "what may be printed otherwise than meant goes on");
    note(
        old.postal_data.is_some() && new.postal_data.is_none(),
        "places of addresses are not checked any more",
    );
    note((old.accept, new.accept) == (Accept::No, Accept::Yes), "drops are taken in");
    let ignores =
        |folder: &Folder, pattern: &str| folder.ignore.iter().any(|other| other.as_str() == pattern);
    note(old.ignore.iter().any(|pattern| !ignores(new, pattern.as_str())), "a name is not ignored any more");
    for rule in &old.rules.rules {
        let what = match new.rules.rules.iter().find(|other| other.name == rule.name) {
            None => "is gone",
            Some(other) if asks_less(rule, other) => "has one condition less",
            Some(other) if trusts_strangers(rule, other) => "posts to new receivers without asking",
            Some(_) => continue,
        };
        note(true, &format!("the rule \"{}\" {what}", rule.name));
    }
    found
}

/// Whether receivers who are new to the folder waited and do not any more.
fn trusts_strangers(old: &Rule, new: &Rule) -> bool {
    let holds =
        |rule: &Rule| matches!(rule.receiver, ReceiverFrom::Page(PageReceiver { holds_strangers: true, .. }));
    let sends = |rule: &Rule| {
        matches!(rule.receiver, ReceiverFrom::Page(PageReceiver { holds_strangers: false, .. }))
    };
    holds(old) && sends(new)
}

fn asks_less(old: &Rule, new: &Rule) -> bool {
    let conditions = |When { file_name, pages, size, weekday, time, page, subject, to }: &When| {
        let times = [weekday.is_some(), time.is_some()];
        let mails = [subject.is_some(), to.is_some()];
        let others = [file_name.is_some(), pages.is_some(), size.is_some(), page.is_some()];
        [times.as_slice(), &mails, &others].concat()
    };
    conditions(&old.when).iter().zip(conditions(&new.when)).any(|(had, has)| *had && !has)
}

/// Whether a limit is gone or higher.
fn is_more(old: Option<u32>, new: Option<u32>) -> bool {
    old.is_some_and(|old| new.is_none_or(|new| new > old))
}

/// Whether a time is gone or shorter.
fn is_less<T: PartialOrd>(old: Option<T>, new: Option<T>) -> bool {
    old.is_some_and(|old| new.is_none_or(|new| new < old))
}

/// Whether a burst limit allows more letters, or has a shorter period.
fn is_denser(old: Option<(u32, u64)>, new: Option<(u32, u64)>) -> bool {
    old.is_some_and(|(letters, seconds)| new.is_none_or(|(more, within)| more > letters || within < seconds))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::Config;
    use crate::config::postal::PostalFile;

    const FOLDER: &str = "path: ../in
release: approval
first_start: hold
approval: {not_by_owner: true}
limits: {letters_per_day: 10, sheets_per_day: 20, burst: 5 in 10m}
duplicates: {within: 30d, action: hold}
watch: {ignore: ['draft*', '*.bak']}
check_page: {unreadable: hold}
check_print: {size: hold, blank: hold}
sender: {postal_code: '1000001', state: 東京都, city: 千代田区, address1: 1-1, name: 社}
rules:
  - name: one
    when: {file_name: '^a', pages: 1..2, size: ..1MB, weekday: [mon], time: '09:00..17:00'}
    receiver: {postal_code: '0600001', state: 北海道, city: 札幌市, address1: 1-1, name: 佐藤}
    shipping: {method: normal}
  - name: two
    when: {size: ..2MB}
    receiver: {page: {first_time: hold}}
    shipping: {method: normal}
  - name: three
    receiver: sidecar
    shipping: {method: normal}
";
    const MAIN: &str = "state: state
accounts:
  main: {base_url: 'http://127.0.0.1:1', auth_url: 'http://127.0.0.1:1', client_id: a, client_secret: {env: X}}
";

    fn folder(text: &str) -> Folder {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("folders")).unwrap();
        std::fs::write(dir.path().join("folders/in.yaml"), text).unwrap();
        let main = dir.path().join("mailchute.yaml");
        std::fs::write(&main, MAIN).unwrap();
        Config::read(&main).unwrap_or_else(|wrong| panic!("{wrong}")).folders.remove(0)
    }

    #[test]
    fn places_that_are_not_checked_any_more_are_looser() {
        let (mut old, new) = (folder(FOLDER), folder(FOLDER));
        let list = PostalFile { file: "list.csv".into(), zone: old.zone };
        old.postal_data = Some(Arc::new(list));
        assert_eq!(looser(&old, &new).len(), 1);
        assert_eq!(looser(&new, &old), [""; 0]);
    }

    #[test]
    fn whatever_asks_for_less_is_looser_and_the_way_back_is_not() {
        let old = folder(FOLDER);
        assert_eq!(looser(&old, &folder(FOLDER)), [""; 0]);
        for (from, to) in [
            ("release: approval\n", ""),
            ("first_start: hold", "first_start: take"),
            ("approval: {not_by_owner: true}\n", ""),
            ("letters_per_day: 10, ", ""),
            ("letters_per_day: 10", "letters_per_day: 11"),
            ("sheets_per_day: 20, ", ""),
            (", burst: 5 in 10m", ""),
            ("burst: 5 in 10m", "burst: 50 in 10m"),
            ("burst: 5 in 10m", "burst: 5 in 1m"),
            ("{within: 30d, action: hold}", "{within: 3d, action: hold}"),
            ("action: hold", "action: allow"),
            ("'draft*', ", ""),
            ("pages: 1..2, ", ""),
            ("size: ..1MB, ", ""),
            (", time: '09:00..17:00'", ""),
            ("weekday: [mon], ", ""),
            ("file_name: '^a', ", ""),
            ("check_page: {unreadable: hold}\n", ""),
            ("{unreadable: hold}", "hold"),
            ("blank: hold", "blank: note"),
            ("{size: hold, blank", "{size: off, blank"),
            ("first_time: hold", "first_time: send"),
            ("  - name: three\n    receiver: sidecar\n    shipping: {method: normal}\n", ""),
            ("name: three", "name: four"),
        ] {
            let changed = FOLDER.replace(from, to);
            assert_ne!(changed, FOLDER, "{from}");
            let changed = if to.is_empty() && from.starts_with("release") {
                changed.replace("approval: {not_by_owner: true}\n", "")
            } else {
                changed
            };
            let new = folder(&changed);
            assert_ne!(looser(&old, &new), [""; 0], "{from} -> {to}");
            // A renamed rule counts as removed either way.
            if to != "name: four" {
                assert_eq!(looser(&new, &old), [""; 0], "{to} -> {from}");
            }
        }
    }
}
