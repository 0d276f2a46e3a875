//! The world's content as values for the templates of the pages.

use chrono::FixedOffset;
use minijinja::context;
use minijinja::value::{Serde, Value};

use crate::base::clock::Time;
use crate::domain::address::in_lines;
use crate::outside::api::wire;
use crate::sandbox::calls::SeenCall;
use crate::sandbox::happened::Ledger;
use crate::sandbox::service::Service;
use crate::sandbox::world::{
    self, CLIENTS_PER_ACCOUNT, Card, Code, Content, Entry, Mail, MailId, Phase, Reading, World,
};

const JAPAN_SECONDS: i32 = 9 * 3600;

/// Times are shown in Japanese time, where the letters would be posted.
pub(super) fn time(time: Time) -> String {
    match FixedOffset::east_opt(JAPAN_SECONDS) {
        Some(japan) => time.with_timezone(&japan).format("%Y-%m-%d %H:%M:%S JST").to_string(),
        None => time.to_rfc3339(),
    }
}

/// The same where there is little room.
fn short(time: Time) -> String {
    let japan = FixedOffset::east_opt(JAPAN_SECONDS);
    japan.map_or_else(String::new, |japan| time.with_timezone(&japan).format("%m-%d %H:%M").to_string())
}

/// The day on a postmark.
fn day(time: Time) -> String {
    let japan = FixedOffset::east_opt(JAPAN_SECONDS);
    japan.map_or_else(String::new, |japan| time.with_timezone(&japan).format("%Y.%-m.%-d").to_string())
}

/// A line of the inbox.
pub(super) fn row(mail: &Mail, _now: Time) -> Value {
    let (order, to) = (&mail.order, &mail.order.receiver_address);
    context! {
        id => mail.id.as_str(),
        state => mail.standing().word(),
        name => to.name.as_str(),
        honorific => to.honorific.as_deref(),
        place => format!("{}{}", to.state, to.city),
        method => Serde(order.shipping_method),
        options => Serde(&order.shipping_options),
        amount => world::amount(order),
        file => order.files.first().map(|file| file.file_name.as_str()),
        more => order.files.len().saturating_sub(1),
        tracking_number => mail.tracking_number(),
        created_at => short(mail.created_at),
    }
}

pub(super) fn mail(mail: &Mail, now: Time) -> Value {
    let order = &mail.order;
    let (money, shipped_at) = match &mail.phase {
        Phase::Pending | Phase::Deleted { .. } => ("estimate", None),
        Phase::Confirmed { .. } => ("authorized", None),
        Phase::Cancelled { .. } => ("released", None),
        Phase::Shipped { at, billed_at, .. } => {
            (if billed_at.is_some() { "charged" } else { "authorized" }, Some(time(*at)))
        }
    };
    context! {
        id => mail.id.as_str(),
        state => mail.standing().word(),
        money, shipped_at,
        tracking_number => mail.tracking_number(),
        bars => mail.tracking_number().map(bars),
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

/// A call with its answer, and why it was refused.
pub(super) fn call(call: &SeenCall) -> Value {
    let code = call.code().and_then(|code| Code::ALL.into_iter().find(|known| known.as_str() == code));
    context! {
        number => call.number,
        at => time(call.at),
        method => call.method.as_str(),
        path => call.path.as_str(),
        mail => call.mail.as_ref().map(MailId::as_str),
        status => call.status.map(|status| status.as_u16()),
        is_refused => call.status.is_none_or(|status| status.as_u16() >= 400),
        fault => call.fault.map(Serde),
        code => code.map(Code::as_str),
        is_own => code.is_some_and(|code| !code.is_in_the_contract()),
        request => call.request(),
        answer => call.answer(),
    }
}

fn bars(number: &str) -> Value {
    let (bars, width) = super::bars::bars(number);
    context! { bars, width }
}

/// What the empty inbox teaches: where to call, and lines that post a letter.
pub(super) fn tutorial(service: &Service) -> Value {
    let beginning = service.beginning.get();
    let valid = beginning.and_then(|beginning| {
        let secret = beginning.secret.as_ref()?;
        let is_valid = service.look(|world, _| {
            world.client(beginning.client.as_str()).is_some_and(|client| client.secret_is(secret.expose()))
        });
        is_valid.then(|| (beginning.client.as_str(), secret.expose()))
    });
    // Whoever reaches this address from another machine needs credentials from a person.
    let credentials = valid.filter(|_| service.is_for_this_machine);
    let places = &service.places;
    context! {
        base_url => places.base_url.as_str(), auth_url => places.auth_url.as_str(),
        control_url => places.control_url.as_str(),
        client_id => credentials.map(|(id, _)| id),
        credentials => credentials.map(|(id, secret)| quoted(&format!("{id}:{secret}"))),
        is_for_this_machine => service.is_for_this_machine,
    }
}

/// As a shell takes it between single quotes.
fn quoted(text: &str) -> String {
    text.replace('\'', r"'\''")
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
