//! From a folder's rules file as it is written to a valid folder.

use std::path::Path;
use std::time::Duration;

use regex::Regex;

use super::build::Build;
use super::either::{ReceiverKind as WrittenReceiver, WrittenCheck};
use super::folder::{Book, Folder, FolderTerms, Keep, LetterKind, real};
use super::words::Burst;
use super::words_people::Release;
use super::yaml_folder::{self as yaml, DuplicateAction};
use crate::domain::address::Address;
use crate::domain::address_book::Columns;
use crate::domain::drop::shown;
use crate::domain::letter::Print;
use crate::domain::printed::{Area, Attention, CheckPage, CheckPrint};
use crate::domain::rules::{self, OnPage, PageReceiver, ReceiverFrom, Rule, Rules, When};
use crate::words::texts::Names;

/// A scanner or a slow copy may pause in the middle of a file.
const INCOMPLETE: Duration = Duration::from_mins(2);

impl Build<'_, yaml::Folder> {
    pub(super) fn folder(&mut self, file: &Path) -> Option<Folder> {
        let written = &self.written.value;
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let beside = file.parent().unwrap_or(Path::new(""));
        let account = self.account();
        let sender = self.sender(&["sender"], &written.sender);
        let ignore = written.watch.ignore.iter();
        let ignore = ignore.filter_map(|pattern| self.around.patterns.glob(pattern)).collect();
        let names = self.names();
        let notify = self.notify(beside);
        let book = written.address_book.as_ref().map(|book| self::book(book, beside));
        if !self.written.has_items(&["rules"]) {
            let help = "write at least one; without one nothing can be posted";
            self.wrong(&["rules"], "there is no rule", help);
        }
        let rules = written.rules.iter().enumerate();
        let rules: Vec<Option<Rule>> =
            rules.map(|(index, rule)| self.rule(index, rule, sender.as_ref())).collect();
        self.is_sane();
        Some(Folder {
            file: file.to_owned(),
            path: real(&beside.join(&written.path)),
            shown_as: written.shown_as.clone().filter(|shown| !shown.trim().is_empty()),
            accept: written.accept,
            mode: written.watch.mode,
            settle: written.watch.settle.map(|length| length.0),
            poll: written.watch.poll.map(|length| length.0),
            incomplete: written.watch.incomplete.map_or(INCOMPLETE, |length| length.0),
            ignore,
            letter: written.letter,
            first_start: written.first_start,
            sidecar_within: written.sidecar_within.0,
            rules: Rules {
                folder: name.clone(),
                account: account?,
                cost_centre: written.cost_centre.clone(),
                check_page: check_page(&written.check_page),
                check_print: check_print(written.check_print),
                rules: rules.into_iter().collect::<Option<_>>()?,
            },
            name,
            book,
            path_at: self.written.wrong(&["path"], "", ""),
            names,
            language: self.around.language,
            zone: self.around.zone,
            postal_data: self.around.postal_data.clone(),
            notify,
            keep: self.keep(),
            notify_at: self.written.has(&["notify"]).then(|| self.written.doubtful(&["notify"], "", "")),
            terms: terms(written),
            addresses: std::sync::Arc::clone(&self.around.addresses),
        })
    }

    fn account(&mut self) -> Option<String> {
        let given = &self.written.value.account;
        // The accounts of mailchute.yaml are not known, which was reported already.
        let Some(accounts) = &self.around.accounts else { return Some(given.clone().unwrap_or_default()) };
        let known = accounts.join(", ");
        match (given, accounts.as_slice()) {
            (Some(name), accounts) if accounts.contains(name) => Some(name.clone()),
            (Some(name), _) => {
                let what = format!("there is no account `{name}`");
                self.wrong(&["account"], what, &format!("mailchute.yaml has: {known}"));
                None
            }
            (None, [only]) => Some(only.clone()),
            (None, _) => {
                self.wrong(&[], "the key `account` is missing", &format!("choose one of: {known}"));
                None
            }
        }
    }

    fn names(&mut self) -> Names {
        let usual = Names::usual(self.around.language);
        let given = &self.written.value.shelf;
        let or = |given: &Option<String>, usual: String| given.clone().unwrap_or(usual);
        let names = Names {
            held: or(&given.held, usual.held),
            sent: or(&given.sent, usual.sent),
            rejected: or(&given.rejected, usual.rejected),
            cancelled: or(&given.cancelled, usual.cancelled),
            approve: or(&given.approve, usual.approve),
            cancel: or(&given.cancel, usual.cancel),
            by_copy: self.written.value.approval.not_by_owner,
        };
        let all = names.all();
        // On Windows and on a Mac two names that differ only in case are one.
        let folded: Vec<String> = all.iter().map(|name| shown(name.as_bytes()).to_lowercase()).collect();
        let twice = |names: &[String]| (1..names.len()).any(|n| names[..n].contains(&names[n]));
        if twice(&folded) {
            let is_same = (1..all.len()).any(|n| all[..n].contains(&all[n]));
            let how =
                if is_same { "" } else { ", because upper and lower case are one on Windows and on a Mac" };
            let what = format!("two of its subfolders have the same name{how}");
            self.wrong(&["shelf"], what, "give each a name of its own");
        }
        let plain = |name: &str| {
            !name.is_empty() && !name.contains('/') && !name.starts_with('.') && name.len() < 200
        };
        if !all.iter().all(|name| plain(name)) {
            self.wrong(
                &["shelf"],
                "a name of a subfolder must be a plain word",
                "without `/` and not beginning with `.`",
            );
        }
        names
    }

    /// What is valid by itself and makes no sense here.
    fn is_sane(&mut self) {
        self.repeated_names();
        self.settle_is_sane();
        self.approval_is_sane();
        self.limits_are_sane();
        self.nothing_behind_a_rule_for_all();
    }

    fn settle_is_sane(&mut self) {
        let watch = &self.written.value.watch;
        if watch.settle.is_some_and(|settle| settle.0.as_millis() < 100) {
            let help = "at least 100ms; what is still being written would be taken in";
            self.wrong(&["watch", "settle"], "it is too short", help);
        }
        if watch.poll.is_some_and(|poll| poll.0.as_millis() < 100) {
            self.wrong(&["watch", "poll"], "it is too short", "at least 100ms");
        }
        let book = self.written.value.address_book.as_ref();
        if book.is_some_and(|book| book.settle.0.as_secs() < 1) {
            let help = "at least 1s; half of a book that is being saved would be used";
            self.wrong(&["address_book", "settle"], "it is too short", help);
        }
    }

    fn approval_is_sane(&mut self) {
        let written = &self.written.value;
        if written.approval.not_by_owner && written.release != Release::Approval {
            let help = "with `release: approval` each letter waits for an approval";
            self.wrong(&["approval", "not_by_owner"], "no letter of this folder waits for an approval", help);
        }
        if written.approval.not_by_owner && written.letter == LetterKind::Subfolder {
            let help = "use `letter: file`, or leave it out";
            self.wrong(
                &["approval", "not_by_owner"],
                "the owner of a subfolder need not be the owner of its files",
                help,
            );
        }
    }

    fn limits_are_sane(&mut self) {
        let limits = &self.written.value.limits;
        for (key, limit) in
            [("letters_per_day", limits.letters_per_day), ("sheets_per_day", limits.sheets_per_day)]
        {
            if limit == Some(0) {
                let help = "if each letter must wait for a person, write `release: approval`";
                self.wrong(&["limits", key], "every letter would be over this limit", help);
            }
        }
    }

    /// The first rule that fits decides, so what follows a rule for everything never does.
    fn nothing_behind_a_rule_for_all(&mut self) {
        let rules = &self.written.value.rules;
        let is_for_all = |rule: &yaml::Rule| {
            let yaml::When { file_name, pages, size, weekday, time, page, page_area: _, subject, to } =
                &rule.when;
            let any_name =
                file_name.as_deref().is_none_or(|name| ["", ".", ".*", ".+", "^", "^.*$"].contains(&name));
            any_name
                && pages.is_none()
                && size.is_none()
                && weekday.is_none()
                && time.is_none()
                && page.is_none()
                && subject.is_none()
                && to.is_none()
        };
        let Some(at) = rules.iter().position(is_for_all).filter(|at| at + 1 < rules.len()) else { return };
        let what =
            format!("it never applies, because the rule \"{}\" before it fits everything", rules[at].name);
        let index = (at + 1).to_string();
        let doubt = self.written.doubtful(&["rules", &index, "name"], what, "put the rule for the rest last");
        self.problems.push(doubt);
    }

    fn repeated_names(&mut self) {
        let rules = &self.written.value.rules;
        for (index, rule) in rules.iter().enumerate() {
            if rules[..index].iter().any(|earlier| earlier.name == rule.name) {
                let what = format!("two rules are called `{}`", rule.name);
                self.wrong(&["rules", &index.to_string(), "name"], what, "give each its own name");
            }
        }
    }

    fn rule(&mut self, index: usize, rule: &yaml::Rule, sender: Option<&Address>) -> Option<Rule> {
        let index = index.to_string();
        let at = |path: &'static [&'static str]| [&["rules", index.as_str()], path].concat();
        let mut regex = |path: &'static [&'static str], text: Option<&String>| match text {
            Some(text) => self.regex(&at(path), text).map(Some),
            None => Some(None),
        };
        let file_name = regex(&["when", "file_name"], rule.when.file_name.as_ref())?;
        let subject = regex(&["when", "subject"], rule.when.subject.as_ref())?;
        let to = regex(&["when", "to"], rule.when.to.as_ref())?;
        let page = match &rule.when.page {
            Some(text) => Some(OnPage {
                text: self.regex(&at(&["when", "page"]), text)?,
                area: rule.when.page_area.map(area),
            }),
            None => None,
        };
        if page.is_none() && rule.when.page_area.is_some() {
            let help = "write what is looked for there as `page`, or leave it out";
            self.wrong(&at(&["when", "page_area"]), "nothing is looked for in this area", help);
        }
        self.shipping(&at(&["shipping"]), &rule.shipping);
        self.print(&at(&["print"]), &rule.print);
        let on_page = page.as_ref().map(|page| page.text.as_ref());
        let texts = [file_name.as_deref(), on_page, subject.as_deref(), to.as_deref()];
        let receiver = self.receiver(&at(&["receiver"]), &rule.receiver, &texts);
        let sender = match &rule.sender {
            Some(own) => self.sender(&at(&["sender"]), own),
            None => sender.cloned(),
        };
        let mut print_files = Vec::new();
        for (n, special) in rule.print_files.iter().enumerate() {
            let n = n.to_string();
            let place = [at(&["print_files"]), vec![n.as_str()]].concat();
            let yaml::PrintFile { file_name, color, duplex, staple, bind } = special;
            let print = Print { color: *color, duplex: *duplex, staple: *staple, bind: *bind };
            self.print(&place, &print);
            print_files.push((self.regex(&[place.as_slice(), &["file_name"]].concat(), file_name)?, print));
        }
        Some(Rule {
            name: rule.name.clone(),
            line: self.written.line(&at(&[])),
            when: When {
                file_name,
                pages: rule.when.pages.map(|pages| (pages.0, pages.1)),
                size: rule.when.size.map(|size| (size.0, size.1)),
                weekday: rule.when.weekday.as_ref().map(|days| days.0.clone()),
                time: rule.when.time.map(|hours| (hours.0, hours.1)),
                page,
                subject,
                to,
            },
            receiver,
            sender: sender?,
            shipping: rule.shipping.clone(),
            print: rule.print.clone(),
            print_files,
            reply_letterpack: self.reply(&at(&["reply_letterpack"]), rule.reply_letterpack.as_ref()),
        })
    }

    fn keep(&mut self) -> Keep {
        let yaml::Keep { sealed_pdf, spool, originals, history } = &self.written.value.keep;
        let keep = Keep {
            sealed_pdf: *sealed_pdf,
            spool: spool.0,
            originals: originals.map(|length| length.0),
            history: history.map(|length| length.0),
        };
        if keep
            .history
            .is_some_and(|history| history < keep.spool.max(keep.originals.unwrap_or(Duration::MAX)))
        {
            let help = "names are removed last: give `originals` a time that is not above `history`";
            self.wrong(&["keep", "history"], "what is kept longer still contains the names", help);
        }
        keep
    }

    /// `texts` are the expressions whose groups a key may contain.
    fn receiver(
        &mut self,
        path: &[&str],
        written: &WrittenReceiver,
        texts: &[Option<&Regex>],
    ) -> ReceiverFrom {
        match written {
            WrittenReceiver::Sidecar => ReceiverFrom::Sidecar,
            WrittenReceiver::Page(yaml::WrittenPageReceiver { area: place, first_time }) => {
                let holds_strangers = *first_time == yaml::FirstTime::Hold;
                ReceiverFrom::Page(PageReceiver { area: place.map(area), holds_strangers })
            }
            WrittenReceiver::Written(file) => ReceiverFrom::Written(self.address(path, file, true)),
            WrittenReceiver::Book(template) => {
                if self.written.value.address_book.is_none() {
                    self.wrong(path, "there is no address book to look in", "name one under `address_book`");
                }
                let groups = texts.iter().flatten().flat_map(|regex| regex.capture_names().flatten());
                let groups = groups.map(|group| (group.to_owned(), String::new())).collect();
                if let Err(why) = rules::fill(template, &groups) {
                    self.wrong(path, why, "the groups are those of `file_name` and `page` in the same rule");
                }
                ReceiverFrom::Book(template.clone())
            }
        }
    }
}

fn terms(written: &yaml::Folder) -> FolderTerms {
    let (limits, duplicates) = (&written.limits, &written.duplicates);
    FolderTerms {
        approval: written.release == Release::Approval,
        posting: match &written.release {
            Release::At(line) => Some(line.as_ref().clone()),
            Release::Automatic | Release::Approval => None,
        },
        duplicates: (duplicates.action == DuplicateAction::Hold).then_some(duplicates.within.0),
        letters_per_day: limits.letters_per_day,
        sheets_per_day: limits.sheets_per_day,
        burst: limits.burst.map(|Burst(letters, within)| (letters, within.as_secs().max(1))),
    }
}

fn check_page(written: &WrittenCheck) -> Option<CheckPage> {
    match written {
        WrittenCheck::Off => None,
        WrittenCheck::On(yaml::PageCheck {
            contradiction: yaml::OnContradiction::Hold,
            unreadable,
            area: place,
        }) => {
            Some(CheckPage { holds_unclear: *unreadable == yaml::OnUnreadable::Hold, area: place.map(area) })
        }
    }
}

fn check_print(written: yaml::PrintCheck) -> CheckPrint {
    let usual = CheckPrint::default();
    let or = |given: Option<yaml::WrittenAttention>, usual| match given {
        Some(yaml::WrittenAttention::Off) => Attention::Off,
        Some(yaml::WrittenAttention::Note) => Attention::Note,
        Some(yaml::WrittenAttention::Hold) => Attention::Hold,
        None => usual,
    };
    let yaml::PrintCheck { size, landscape, fonts, blank, color, placeholder } = written;
    let reads_pages = [fonts, blank, color].into_iter().flatten();
    CheckPrint {
        size: or(size, usual.size),
        landscape: or(landscape, usual.landscape),
        fonts: or(fonts, usual.fonts),
        blank: or(blank, usual.blank),
        color: or(color, usual.color),
        placeholder: or(placeholder, usual.placeholder),
        reads_pages: reads_pages.into_iter().any(|given| given != yaml::WrittenAttention::Off),
    }
}

fn area(written: yaml::WrittenArea) -> Area {
    let yaml::WrittenArea { left, top, width, height } = written;
    Area { left: left.0, top: top.0, width: width.0, height: height.0 }
}

fn book(book: &yaml::AddressBook, beside: &Path) -> Book {
    let yaml::Columns { postal_code, state, city, address1, name, honorific } = book.columns.clone();
    let key = book.key.clone();
    let columns = Columns { key, postal_code, state, city, address1, name, honorific };
    Book { file: beside.join(&book.file), columns, settle: book.settle.0 }
}
