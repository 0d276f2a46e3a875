//! The answers that the client gets instead of the service's.

use std::io;
use std::net::SocketAddr;

use super::{Wrong, passed_on};

fn status(code: u16, more: &str) -> Vec<u8> {
    format!("HTTP/1.1 {code} x\r\nconnection: close\r\ncontent-length: 0\r\n{more}\r\n").into_bytes()
}

fn with_body(code: u16, kind: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {code} x\r\nconnection: close\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}")
        .into_bytes()
}

/// Ten megabytes of blanks in sixty-five kilobytes: a first one, and then 40,000 times 258 of what came before, by
/// deflate's own fixed codes.
fn bomb() -> Vec<u8> {
    let (mut bits, mut bytes) = (Vec::new(), vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
    let mut put = |code: u32, length: u32| bits.extend((0..length).rev().map(|bit| code >> bit & 1 == 1));
    // One last block; a blank; each length 258 at distance 1; the end.
    put(0b110, 3);
    put(0x30 + u32::from(b' '), 8);
    for _time in 0..40_000 {
        put(0b1100_0101, 8);
        put(0, 5);
    }
    put(0, 7);
    bytes.extend(
        bits.chunks(8).map(|some| some.iter().rev().fold(0_u8, |byte, bit| byte << 1 | u8::from(*bit))),
    );
    bytes.extend([0; 8]);
    bytes
}

/// What is answered instead.
pub(super) async fn spoilt(request: &[u8], to: SocketAddr, wrong: Wrong) -> io::Result<Vec<u8>> {
    let head_end = |answer: &[u8]| answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    let code = |answer: &[u8]| String::from_utf8_lossy(&answer[9..12]).parse().unwrap();
    Ok(match wrong {
        Wrong::ClosedAfter => {
            passed_on(request, to).await?;
            Vec::new()
        }
        Wrong::Status(code) => status(code, ""),
        Wrong::StatusAfter(code) => {
            passed_on(request, to).await?;
            status(code, "")
        }
        Wrong::TooMany => status(429, "retry-after: 30\r\n"),
        Wrong::Page => with_body(200, "text/html", "<html>All is well</html>"),
        Wrong::Redirect => status(307, "location: http://127.0.0.1:1/elsewhere\r\n"),
        Wrong::EmptyAfter => status(code(&passed_on(request, to).await?), ""),
        Wrong::CutAfter => {
            let answer = passed_on(request, to).await?;
            let end = head_end(&answer);
            answer[..end + (answer.len() - end) / 2].to_vec()
        }
        Wrong::NoJsonAfter => {
            with_body(code(&passed_on(request, to).await?), "application/json", "{\"id\": nothing")
        }
        Wrong::EvilId => {
            let body =
                "{\"id\": \"../../account\", \"access_token\": \"\\r\\nx: y\", \"token_type\": \"bearer\"}";
            with_body(200, "application/json", body)
        }
        Wrong::Bomb => {
            let head = "HTTP/1.1 200 x\r\nconnection: close\r\ncontent-type: application/json\r\n";
            let bomb = bomb();
            let more = format!("content-encoding: gzip\r\ncontent-length: {}\r\n\r\n", bomb.len());
            [head.as_bytes(), more.as_bytes(), &bomb].concat()
        }
        Wrong::Closed
        | Wrong::Late
        | Wrong::Silent
        | Wrong::SilentAfter
        | Wrong::ResetAfter
        | Wrong::SlowHeadAfter
        | Wrong::Endless => Vec::new(),
    })
}
