//! Converts between a letter and the JSON of the service.

use super::wire;
use crate::domain::address::Address;
use crate::domain::letter::{
    Document, Method, Number, Order, PAPER, Print, Reading, ShippingOption, Shown, ShownAddress, ShownFile,
    ShownReply, Status, file_name,
};

/// The body of the request that creates this mail, byte for byte.
pub fn create_body(number: Number, order: &Order) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&create_mail(number, order))
}

pub(super) fn create_mail(number: Number, order: &Order) -> wire::CreateMail {
    let files = order.documents.iter().enumerate().map(|(index, document)| file(number, index, document));
    wire::CreateMail {
        shipping_method: match order.shipping.method {
            Method::Normal => wire::ShippingMethod::Normal,
            Method::LetterpackLite => wire::ShippingMethod::LetterpackLite,
            Method::LetterpackPlus => wire::ShippingMethod::LetterpackPlus,
        },
        shipping_options: order.shipping.options.iter().map(|option| shipping_option(*option)).collect(),
        sender_address: address(&order.sender, None),
        receiver_address: address(&order.receiver.address, Some(&order.receiver.honorific)),
        reply_letterpack: order
            .reply_letterpack
            .as_ref()
            .map(|pack| wire::ReplyLetterpack { address: pack.address.as_ref().map(|to| address(to, None)) }),
        files: files.collect(),
    }
}

fn file(number: Number, index: usize, document: &Document) -> wire::File {
    let Print { color, duplex, staple, bind } = &document.print;
    wire::File {
        file_name: file_name(number, index),
        page_count: document.pages,
        paper_size: PAPER.to_owned(),
        color: color.word().to_owned(),
        duplex: duplex.word().to_owned(),
        staple: staple.map(|staple| staple.word().to_owned()),
        bind: bind.then_some(true),
    }
}

fn shipping_option(option: ShippingOption) -> wire::ShippingOption {
    match option {
        ShippingOption::Express => wire::ShippingOption::Express,
        ShippingOption::Trackable => wire::ShippingOption::Trackable,
        ShippingOption::SimpleRegistered => wire::ShippingOption::SimpleRegistered,
        ShippingOption::NormalRegistered => wire::ShippingOption::NormalRegistered,
    }
}

fn address(address: &Address, honorific: Option<&String>) -> wire::Address {
    let Address { postal_code, state, city, address1, name } = address.clone();
    wire::Address { postal_code, state, city, address1, name, honorific: honorific.cloned() }
}

/// A mail as the service shows it, in the types of `letter`.
pub fn reading(mail: wire::Mail) -> Reading {
    let address = |shown: Option<wire::ShownAddress>| shown.map(shown_address).unwrap_or_default();
    let shown = Shown {
        method: mail.shipping_method,
        options: mail.shipping_options,
        sender: address(mail.sender_address),
        receiver: address(mail.receiver_address),
        reply: match mail.reply_letterpack {
            wire::Enclosed::Pack { address: to } => ShownReply::Pack(address(to)),
            wire::Enclosed::Nothing => ShownReply::Nothing,
            wire::Enclosed::Unsaid => ShownReply::Unsaid,
        },
        files: mail.contents.map(|contents| contents.into_iter().map(shown_file).collect()),
    };
    Reading {
        status: match mail.status {
            wire::Status::Pending => Status::Pending,
            wire::Status::Confirmed => Status::Confirmed,
            wire::Status::Shipped => Status::Shipped,
            wire::Status::Cancelled => Status::Cancelled,
        },
        cancellable: mail.cancellable,
        created_at: mail.created_at,
        confirm_by: mail.confirm_by,
        ships_at: mail.scheduled_to_ship_at,
        shipped_at: mail.shipped_at,
        tracking: mail.tracking_number.filter(|number| !number.trim().is_empty()),
        shown,
    }
}

fn shown_address(shown: wire::ShownAddress) -> ShownAddress {
    let wire::ShownAddress { postal_code, state, city, address1, name, honorific } = shown;
    ShownAddress { postal_code, state, city, address1, name, honorific }
}

fn shown_file(content: wire::Content) -> ShownFile {
    let wire::Content { id: _, file_name, page_count, paper_size, color, duplex, staple, bind } = content;
    ShownFile { name: file_name, pages: page_count, paper: paper_size, color, duplex, staple, bind }
}
