//! A mail that was saved as a file: what its queue would make of it, and the letters in it.

use std::path::{Path, PathBuf};

use fs_err as fs;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli::WrongWords;
use crate::config::{Config, Folder, LetterKind, MailWay, Queue, Way};
use crate::daemon::mailbox::{fault_of, letter_name, letters_of, sender_of};
use crate::domain::incoming::MailTags;
use crate::domain::mailed::{MailMeans, MailRefusal, MailSeen, mail_means};
use crate::outside::imap::{LARGEST_MAIL, MailMessage};
use crate::outside::pdf::Inspector;
use crate::words::texts::Language;

/// A mail, with its letters in a directory that is removed with it.
pub(super) struct SavedMail<'a> {
    pub folder: &'a Folder,
    pub tags: MailTags,
    /// The file or the directory of each letter, and how it is shown.
    pub letters: Vec<(PathBuf, PathBuf)>,
    said: Vec<String>,
    meant: Value,
    _dir: TempDir,
}

pub(super) fn is_mail(file: &Path) -> bool {
    file.is_file() && file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("eml"))
}

impl<'a> SavedMail<'a> {
    /// Reads it as the queue of this name would, or the only one that is a mailbox.
    pub(super) async fn read(
        (config, inspector): (&'a Config, &Inspector),
        name: Option<&str>,
        file: &Path,
    ) -> anyhow::Result<Self> {
        let (queue, way, folder) = queue_of(config, name)?;
        let raw = fs::read(file)?;
        let message = MailMessage::read_apart(inspector, &raw).await?;
        let tags = MailTags { subject: message.subject.clone(), to: message.to.clone() };
        let sender = sender_of(way, &message);
        let size = raw.len() as u64;
        let too_large = (size > LARGEST_MAIL).then_some(MailRefusal::TooLarge { size });
        let fault = too_large.or_else(|| fault_of(&message));
        let fate = mail_means(MailSeen { sender, fault, was_there: false, came_before: false });
        let yes = |is: bool| if is { "yes" } else { "no" };
        let mut said = vec![
            format!("{}: queue {}, folder {}", file.display(), queue.name, folder.name),
            format!("  sender may post: {}", yes(sender.is_listed)),
            format!("  sender is proved: {}", yes(sender.is_proved)),
            format!("  sender is answered: {}", yes(sender.is_answered())),
        ];
        let (mut outcome, mut letters) = ("taken", Vec::new());
        let dir = tempfile::tempdir()?;
        match &fate {
            MailMeans::Reject(refusal) => {
                outcome = "rejected";
                said.push(format!("  rejected: {}", Language::En.mail_refusal(refusal)));
            }
            MailMeans::Take(look) => {
                if look.is_some() {
                    outcome = "held";
                    said.push("  held: each letter waits for approval".to_owned());
                }
                for (n, letter) in letters_of(way, folder, message.pdfs).into_iter().enumerate() {
                    // Named as its queue would, since rules look at the name.
                    let name = letter_name(folder, &letter);
                    let (at, shown) = (dir.path().join(n.to_string()), file.join(&name));
                    let path = at.join(name);
                    let place = if folder.letter == LetterKind::Subfolder { &path } else { &at };
                    fs::create_dir_all(place)?;
                    for (name, bytes) in letter {
                        fs::write(place.join(name), bytes)?;
                    }
                    letters.push((path, shown));
                }
            }
        }
        let meant = json!({
            "file": file.display().to_string(), "queue": queue.name, "mail": outcome,
            "listed": sender.is_listed, "proved": sender.is_proved, "answered": sender.is_answered(),
        });
        Ok(Self { folder, tags, letters, said, meant, _dir: dir })
    }

    /// Says what becomes of the mail itself.
    pub(super) fn say(&self, as_json: bool) -> anyhow::Result<()> {
        if as_json {
            return crate::cli::table::json(&self.meant);
        }
        Ok(self.said.iter().try_for_each(|line| crate::cli::say(line))?)
    }
}

fn queue_of<'a>(
    config: &'a Config,
    name: Option<&str>,
) -> anyhow::Result<(&'a Queue, &'a MailWay, &'a Folder)> {
    let mailboxes = config.queues.iter().filter_map(|queue| match &queue.way {
        Way::Imap(way) => Some((queue, way.as_ref())),
        Way::Http(_) | Way::Print(_) => None,
    });
    let mailboxes: Vec<(&Queue, &MailWay)> = mailboxes.collect();
    let known = || mailboxes.iter().map(|(queue, _)| queue.name.as_str()).collect::<Vec<_>>().join(", ");
    let found = match (name, mailboxes.as_slice()) {
        (Some(name), _) => mailboxes.iter().find(|(queue, _)| queue.name == name),
        (None, [only]) => Some(only),
        (None, _) => None,
    };
    let (queue, way) = found.copied().ok_or_else(|| {
        WrongWords(match mailboxes.as_slice() {
            [] => "no queue is a mailbox: write `imap:` into a file of `queues/`".to_owned(),
            _ => format!("say which mailbox with --queue: one of {}", known()),
        })
    })?;
    let folder = config.folder(&queue.into);
    let folder = folder.ok_or_else(|| WrongWords(format!("the folder `{}` has mistakes", queue.into)))?;
    Ok((queue, way, folder))
}
