//! What the operator reads about e-mails: what they report, and whether they can be sent.

use crate::base::clock::Time;
use crate::domain::drop::showable;
use crate::outside::store::{News, OwedRow};
use crate::words::texts::{AlertNews, Language};

/// What people must be told, to how many of them an e-mail goes, and how many programs are called.
pub fn owed(row: &OwedRow, people: usize, programs: usize) {
    let notice = row.notice.as_str();
    // Operators hear which recipient a mail server rejects. The journal does not.
    let subject =
        if matches!(row.news(), Some(News::Unwanted { .. })) { "a recipient" } else { &row.subject };
    let reported = match programs {
        0 => format!("e-mails to {people}"),
        _ => format!("e-mails to {people}, programs called: {programs}"),
    };
    match row.news() {
        Some(News::AccountPaused { account, cause }) => {
            let (title, advice) = Language::En.told(&AlertNews::Paused { account: &account, cause: &cause });
            tracing::error!(subject, notice, people, "{title}. {advice} ({reported})");
        }
        Some(News::AccountWorks { account }) => {
            tracing::info!(subject, notice, people, "account {account} works again ({reported})");
        }
        Some(News::Alarm { alarm, detail, over }) => {
            let detail = showable(&detail);
            let Ok(alarm) = alarm.parse() else {
                return tracing::warn!(subject, notice, people, "alarm `{alarm}`: {detail} ({reported})");
            };
            if over {
                let (title, _) = Language::En.told(&AlertNews::Over { alarm: &alarm });
                tracing::info!(subject, notice, people, "over: {title} ({reported})");
            } else {
                let (title, advice) = Language::En.told(&AlertNews::Alarm { alarm: &alarm, detail: &detail });
                let (cause, remedy) = (advice.cause.trim_end_matches('.'), advice.remedy);
                tracing::error!(subject, notice, people, "alarm: {title}: {cause}. {remedy} ({reported})");
            }
        }
        Some(News::Mail { .. }) => {
            tracing::info!(subject, notice, people, "what became of a mail is reported ({reported})");
        }
        Some(News::Unwanted { recipient, code }) if recipient.contains("://") => {
            tracing::warn!(subject, notice, people, "a program takes no requests: {code} ({reported})");
        }
        Some(News::Unwanted { code, .. }) => {
            tracing::warn!(
                subject,
                notice,
                people,
                "the mail server rejects a recipient: {code} ({reported})"
            );
        }
        Some(News::Letter { .. } | News::Drop { .. } | News::Digest { .. }) | None => {
            tracing::info!(subject, notice, people, "{subject}: `{notice}` is reported ({reported})");
        }
    }
}

pub fn mail_sent(email: i64, kind: &str) {
    tracing::info!(email, kind, "e-mail {email} ({kind}) was sent");
}

pub fn mail_later(email: i64, code: &str) {
    tracing::warn!(email, code, "e-mail {email} is not accepted now ({code}); it is sent again");
}

pub fn mail_refused(email: i64, code: &str) {
    tracing::error!(
        email,
        code,
        "e-mail {email} is rejected ({code}) and not sent again; operators are told"
    );
}

pub fn mail_unmade(email: i64, why: &str) {
    tracing::error!(email, why, "e-mail {email} can't be made: {why}; it is tried again");
}

pub fn hook_taken(request: i64, kind: &str, program: &str) {
    tracing::info!(request, kind, program, "request {request} ({kind}) was taken by {program}");
}

pub fn hook_later(request: i64, program: &str, why: &str, until: Time) {
    let until = until.format("%Y-%m-%dT%H:%M:%SZ");
    tracing::warn!(
        request,
        program,
        why,
        "{program} does not take requests: {why}; all for it are kept and sent again from {until}"
    );
}

pub fn hook_not_this(request: i64, program: &str, why: &str) {
    tracing::warn!(
        request,
        program,
        why,
        "request {request} is not taken by {program}: {why}; it is sent again"
    );
}

pub fn hook_refused(request: i64, program: &str, why: &str) {
    tracing::error!(
        request,
        program,
        why,
        "request {request} was not taken by {program}: {why}; it is not sent again, and operators are told"
    );
}

pub fn hook_gone(request: i64, program: &str) {
    tracing::warn!(request, program, "request {request} is not sent: {program} is not configured any more");
}

/// Its recipient is not said: a journal has no addresses of people.
pub fn mail_taken_out(email: i64, kind: &str) {
    tracing::warn!(
        email,
        kind,
        "e-mail {email} ({kind}) is not sent: its recipient is not configured for that any more"
    );
}

pub fn mail_server_away(why: &str) {
    tracing::error!(why, "no e-mail can be sent: {why}; all are kept and sent later");
}

pub fn mail_server_works() {
    tracing::info!("e-mails are sent again");
}
