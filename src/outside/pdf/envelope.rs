//! A letter's envelope as it will be addressed, as a PDF of our own.

use std::fmt::Write as _;

use super::made;
use crate::domain::address::{Address, in_lines};
use crate::domain::letter::{Method, Order, Shipping, ShippingOption};

/// In millimetres.
const WIDTH: f64 = 235.0;
const HEIGHT: f64 = 120.0;
const POINT: f64 = 72.0 / 25.4;

/// The envelope of an order. It is a drawing for people; the service prints its own.
pub fn envelope(order: &Order) -> Vec<u8> {
    let mut content = String::new();
    frame(&mut content, (0.5, 0.5, WIDTH - 1.0, HEIGHT - 1.0), "0.6 G");
    method(&mut content, &order.shipping);
    let to = &order.receiver.address;
    let mut lines = lines(to, 30.0).into_iter();
    let mut down = 42.0;
    say(&mut content, (75.0, down), 16.0, &lines.next().unwrap_or_default());
    for line in lines {
        down += 8.0;
        say(&mut content, (75.0, down), 12.0, &line);
    }
    for line in in_lines(&format!("{} {}", to.name, order.receiver.honorific), 19.0) {
        down += 11.0;
        say(&mut content, (75.0, down), 20.0, &line);
    }
    let mut down = 88.0;
    for line in self::lines(&order.sender, 22.0).into_iter().chain(in_lines(&order.sender.name, 22.0)) {
        say(&mut content, (8.0, down), 8.0, &line);
        down += 4.5;
    }
    made::page(WIDTH * POINT, HEIGHT * POINT, &content)
}

/// The postal code, and the address in lines. `most` is the number of full-width characters that fit a line.
fn lines(address: &Address, most: f64) -> Vec<String> {
    let code = address.postal_code.split_at_checked(3);
    let code = code.map_or_else(|| address.postal_code.clone(), |(first, rest)| format!("{first}-{rest}"));
    let place = format!("{}{}{}", address.state, address.city, address.address1);
    [format!("〒{code}")].into_iter().chain(in_lines(&place, most)).collect()
}

fn method(content: &mut String, shipping: &Shipping) {
    let (name, color) = match shipping.method {
        Method::Normal => ("普通郵便", "0.4 G"),
        Method::LetterpackLite => ("レターパックライト", "0.1 0.4 0.8 RG"),
        Method::LetterpackPlus => ("レターパックプラス", "0.8 0.1 0.1 RG"),
    };
    let options: Vec<&str> = shipping
        .options
        .iter()
        .map(|option| match option {
            ShippingOption::Express => "速達",
            ShippingOption::Trackable => "特定記録",
            ShippingOption::SimpleRegistered => "簡易書留",
            ShippingOption::NormalRegistered => "一般書留",
        })
        .collect();
    frame(content, (8.0, 8.0, 52.0, 14.0), color);
    say(content, (11.0, 17.0), 12.0, name);
    if !options.is_empty() {
        frame(content, (8.0, 25.0, 52.0, 9.0), "0.8 0.1 0.1 RG");
        say(content, (11.0, 31.0), 10.0, &options.join("・"));
    }
}

/// Text whose baseline is so far from the top.
fn say(content: &mut String, (left, down): (f64, f64), size: f64, text: &str) {
    content.push_str(&made::text((left * POINT, (HEIGHT - down) * POINT), size, text));
}

/// A rectangle: left, top, width and height.
fn frame(content: &mut String, (left, top, width, height): (f64, f64, f64, f64), color: &str) {
    let bottom = HEIGHT - top - height;
    let [x, y, across, down] = [left, bottom, width, height].map(|length| length * POINT);
    let _ = writeln!(content, "{color} {x:.2} {y:.2} {across:.2} {down:.2} re S");
}

/// A strip with a line of text in Latin letters, as wide as A4.
pub fn caption(text: &str) -> Vec<u8> {
    let (width, height) = (595.0, 22.0);
    let ground = format!("0.92 g 0 0 {width} {height} re f 0.15 g\n");
    made::page(width, height, &(ground + &made::plain((10.0, 7.0), 9.0, text)))
}
