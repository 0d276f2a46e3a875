//! The documents of a mail request: uploaded, checked, sealed, read back.

use chrono::SubsecRound;

use super::ids::{AccountId, ContentId, MailId};
use super::ledger::Event;
use super::mail::{Content, Mail, Phase, Reading, Stored};
use super::posting::either;
use super::problem::{Code, Fault, Problem};
use super::request::{Document, Received, UploadFields};
use super::store_error::StoreError;
use super::target::DOWNLOAD_LIFE;
use super::token::Scope;
use super::{Reply, World};
use crate::base::secret::Secret;

impl World {
    /// The last upload to a target wins, until the mail is confirmed.
    pub(super) fn upload(&mut self, fields: &UploadFields, file: Received) -> Reply {
        let place = self
            .signer
            .check_upload(&fields.0, file.size(), self.now)
            .and_then(|key| self.upload_place(&key));
        match (place, file) {
            (Err(refusal), file) => {
                self.effects.discarded.extend(kept(file).map(|stored| stored.blob));
                Reply::StoreError(refusal)
            }
            (Ok(_), Received::TooLarge { .. }) => Reply::StoreError(StoreError::Internal),
            (Ok((account, mail, content, index)), Received::Kept(stored)) => {
                let event = Event::Uploaded { content, bytes: stored.size, sha256: stored.sha256.clone() };
                let mut replaced = None;
                self.alter(&mail, |mail| replaced = mail.contents[index].upload.replace(stored));
                self.effects.discarded.extend(replaced.map(|stored: Stored| stored.blob));
                self.note(&account, Some(&mail), event);
                Reply::Stored
            }
        }
    }

    fn upload_place(&self, key: &str) -> Result<(AccountId, MailId, ContentId, usize), StoreError> {
        let denied = || StoreError::AccessDenied("Access Denied".to_owned());
        let (mail, content) = self.find_content(key).ok_or_else(denied)?;
        match mail.phase {
            Phase::Pending => {
                let id = mail.contents[content].id.clone();
                Ok((mail.account.clone(), mail.id.clone(), id, content))
            }
            Phase::Confirmed { .. }
            | Phase::Cancelled { .. }
            | Phase::Shipped { .. }
            | Phase::Deleted { .. } => Err(denied()),
        }
    }

    fn find_content(&self, key: &str) -> Option<(&Mail, usize)> {
        let (mail, content) = key.split_once('/')?;
        let mail = self.mail(mail)?;
        mail.content(&ContentId::new(content)).map(|(index, _)| (mail, index))
    }

    pub(super) fn read_pdf(&self, bearer: Option<&Secret>, id: &MailId, content: &ContentId) -> Reply {
        either(self.authorize(bearer, Scope::MailsRead).map_err(Reply::from).and_then(|account| {
            let mail =
                self.owned(&account, id).filter(|mail| !mail.is_deleted()).ok_or(Code::MailNotFound)?;
            if mail.phase == Phase::Pending {
                return Err(Code::MailNotConfirmed.into());
            }
            mail.content(content).ok_or(Code::MailContentNotFound)?;
            let key = format!("{id}/{content}");
            // The address is signed with whole seconds, so it expires on a whole second.
            let from = self.now.trunc_subsecs(0);
            let query = self.signer.download_query(&key, from);
            Ok(Reply::Pdf { key, query, expires_at: from + DOWNLOAD_LIFE })
        }))
    }

    pub(super) fn download(&self, key: &str, query: &[(String, String)]) -> Reply {
        if let Err(refusal) = self.signer.check_download(key, query, self.now) {
            return Reply::StoreError(refusal);
        }
        let found = self.find_content(key).and_then(|(mail, index)| {
            let stored = mail.contents[index].upload.as_ref()?;
            Some(Document {
                blob: stored.blob.clone(),
                sha256: stored.sha256.clone(),
                file_name: mail.order.files[index].file_name.clone(),
            })
        });
        found.map_or(Reply::StoreError(StoreError::NoSuchKey), Reply::Document)
    }
}

fn kept(file: Received) -> Option<Stored> {
    match file {
        Received::Kept(stored) => Some(stored),
        Received::TooLarge { .. } => None,
    }
}

/// The three 422s of confirmation, each with all the files that it concerns.
pub(super) fn check_files(mail: &Mail) -> Result<(), Problem> {
    let faults = |message: &dyn Fn(&Content, u32) -> Option<String>| -> Vec<Fault> {
        let files = mail.contents.iter().zip(&mail.order.files).enumerate();
        files
            .filter_map(|(index, (content, file))| {
                let message = message(content, file.page_count)?;
                let content_id = Some(content.id.to_string());
                Some(Fault { path: format!("contents.{index}"), message, content_id })
            })
            .collect()
    };
    let missing =
        faults(&|content, _| content.upload.is_none().then(|| "the file was not uploaded".to_owned()));
    let unreadable = faults(&|content, _| match &content.upload.as_ref()?.reading {
        Reading::Pages(_) => None,
        Reading::Unreadable(why) => Some(why.clone()),
    });
    let miscounted = faults(&|content, declared| match content.upload.as_ref()?.reading {
        Reading::Pages(real) if real != declared => {
            Some(format!("page_count is {declared}, but the PDF has {real} pages"))
        }
        Reading::Pages(_) | Reading::Unreadable(_) => None,
    });
    let found = [
        (Code::FileNotUploaded, missing),
        (Code::InvalidFile, unreadable),
        (Code::PageCountMismatch, miscounted),
    ];
    match found.into_iter().find(|(_, faults)| !faults.is_empty()) {
        Some((code, faults)) => Err(Problem { code, faults }),
        None => Ok(()),
    }
}
