//! The world's content as values for the templates of the pages.

use chrono::FixedOffset;
use minijinja::context;
use minijinja::value::{Serde, Value};

use crate::base::clock::Time;
use crate::domain::address::in_lines;
use crate::outside::api::wire;
use crate::sandbox::service::Ledger;
use crate::sandbox::world::{
    self, CLIENTS_PER_ACCOUNT, Card, Content, Deletion, Entry, Mail, Phase, Reading, World,
};

const JAPAN_SECONDS: i32 = 9 * 3600;

/// Times are shown in Japanese time, where the letters would be posted.
pub(super) fn time(time: Time) -> String {
    match FixedOffset::east_opt(JAPAN_SECONDS) {
        Some(japan) => time.with_timezone(&japan).format("%Y-%m-%d %H:%M:%S JST").to_string(),
        None => time.to_rfc3339(),
    }
}

/// The day on a postmark.
fn day(time: Time) -> String {
    let japan = FixedOffset::east_opt(JAPAN_SECONDS);
    japan.map_or_else(String::new, |japan| time.with_timezone(&japan).format("%Y.%-m.%-d").to_string())
}

pub(super) fn mail(mail: &Mail, now: Time) -> Value {
    let order = &mail.order;
    let (state, why, money, shipped_at, tracking_number) = match &mail.phase {
        Phase::Pending => ("pending", None, "estimate", None, None),
        Phase::Confirmed { .. } => ("confirmed", None, "authorized", None, None),
        Phase::Cancelled { .. } => ("cancelled", None, "released", None, None),
        Phase::Shipped { at, tracking_number, billed_at, .. } => {
            let money = if billed_at.is_some() { "charged" } else { "authorized" };
            ("shipped", None, money, Some(time(*at)), tracking_number.clone())
        }
        Phase::Deleted { why, .. } => ("deleted", Some(reason(*why)), "estimate", None, None),
    };
    context! {
        id => mail.id.as_str(),
        state, why, money, shipped_at, tracking_number,
        sealed => matches!(mail.phase, Phase::Confirmed { .. } | Phase::Cancelled { .. } | Phase::Shipped { .. }),
        sender => Serde(&order.sender_address),
        receiver => Serde(&order.receiver_address),
        reply => Serde(&order.reply_letterpack),
        method => Serde(order.shipping_method),
        options => Serde(&order.shipping_options),
        amount => world::amount(order),
        pages => order.files.iter().map(|file| file.page_count).sum::<u32>(),
        sheets => world::sheets(&order.files),
        documents => mail.contents.iter().zip(&order.files).map(document).collect::<Vec<_>>(),
        created_at => time(mail.created_at),
        confirm_by => time(mail.confirm_by()),
        cancellable => mail.is_cancellable(now),
        cancel_until => time(mail.cancel_until()),
        packing_since => mail.packing_since.map(time),
        ships_at => time(mail.ships_at),
    }
}

fn reason(why: Deletion) -> &'static str {
    match why {
        Deletion::ConfirmByPassed => "confirm_by_passed",
        Deletion::CardDeclined => "card_declined",
    }
}

fn document((content, file): (&Content, &wire::File)) -> Value {
    let upload = content.upload.as_ref().map(|stored| {
        let unreadable = match &stored.reading {
            Reading::Pages(_) => None,
            Reading::Unreadable(why) => Some(why.as_str()),
        };
        let pages = match &stored.reading {
            Reading::Pages(pages) => *pages,
            Reading::Unreadable(_) => 0,
        };
        context! { size => stored.size, sha256 => stored.sha256.as_str(), unreadable, pages }
    });
    context! { upload, ..Value::from(Serde(file)) }
}

/// What stands on the envelope, in lines.
pub(super) fn envelope(mail: &Mail) -> Value {
    let (to, from) = (&mail.order.receiver_address, &mail.order.sender_address);
    let place = |address: &wire::Address, most: f64| {
        in_lines(&format!("{}{}{}", address.state, address.city, address.address1), most)
    };
    let name = format!("{} {}", to.name, to.honorific.as_deref().unwrap_or_default());
    let written = |scale: f64| (scale, place(to, 29.0 / scale), in_lines(&name, 18.0 / scale));
    let fits = |(_, place, name): &(f64, Vec<String>, Vec<String>)| place.len() * 2 + name.len() * 3 <= 20;
    let sizes = [written(1.0), written(0.8)];
    let (scale, to_place, to_name) = sizes.into_iter().find(fits).unwrap_or_else(|| written(0.6));
    let stamped = match &mail.phase {
        Phase::Shipped { at, .. } => Some(day(*at)),
        Phase::Pending | Phase::Confirmed { .. } | Phase::Cancelled { .. } | Phase::Deleted { .. } => None,
    };
    context! {
        scale,
        place => to_place,
        name => to_name,
        from => [place(from, 22.0), in_lines(&from.name, 22.0)].concat(),
        stamped,
    }
}

pub(super) fn timeline(ledger: &Ledger, mail: &Mail) -> Vec<Value> {
    let shown = |entry: &Entry| context! { at => time(entry.at), ..Value::from(Serde(&entry.event)) };
    ledger.of_mail(&mail.id).map(shown).collect()
}

pub(super) fn accounts(world: &World) -> Vec<Value> {
    let shown = |account: &world::Account| {
        let clients: Vec<Value> = world
            .clients_of(&account.id)
            .map(|client| {
                let issued_at = time(client.reissued_at.unwrap_or(client.issued_at));
                context! { id => client.id.as_str(), name => client.name.as_str(), issued_at }
            })
            .collect();
        context! {
            id => account.id.as_str(),
            name => account.name.as_str(),
            closed => account.closed_at.is_some(),
            card => match account.card { Card::Ok => "ok", Card::Declining => "declining", Card::None => "none" },
            full => clients.len() >= CLIENTS_PER_ACCOUNT,
            clients,
        }
    };
    world.accounts().map(shown).collect()
}
