//! Malformed input of every kind: never a panic, never a 500, and the service goes on.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::rigs::service::{Service, letter, panics, pdf};
use mailchute::sandbox::{Options, Patience};

/// Sends raw bytes, ends the sending side, and gives everything that came back.
async fn raw(service: &Service, bytes: &[u8]) -> Vec<u8> {
    let address = service.welcome.places.base_url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).await.unwrap();
    // A service that hangs up early is within its rights; so is a reset.
    let _ = stream.write_all(bytes).await;
    let _ = stream.shutdown().await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    answer
}

fn status(answer: &[u8]) -> Option<u16> {
    let head = std::str::from_utf8(answer.get(..12)?).ok()?;
    head.strip_prefix("HTTP/1.1 ")?.parse().ok()
}

async fn harmless(service: &Service, what: &str, bytes: &[u8]) {
    let answer = raw(service, bytes).await;
    let status = status(&answer);
    assert!(status.is_none_or(|status| status < 500), "{what}: {status:?}");
    assert_eq!(service.get("/v1/account").await.status(), 200, "after {what}");
    assert_eq!(panics(), 0, "after {what}");
}

/// Small, fast, and the same in every run.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }
}

/// Valid requests to spoil: each head ends in a blank line, each declares its length.
fn requests(service: &Service, upload: &[u8], boundary: &str) -> Vec<Vec<u8>> {
    let bearer = format!("authorization: Bearer {}\r\n", service.token);
    let request = |line: &str, headers: &str, body: &[u8]| {
        let head =
            format!("{line} HTTP/1.1\r\nhost: 127.0.0.1\r\n{headers}content-length: {}\r\n\r\n", body.len());
        [head.as_bytes(), body].concat()
    };
    let json = format!("{bearer}content-type: application/json\r\n");
    let form = "content-type: application/x-www-form-urlencoded\r\nauthorization: Basic aWQ6c2VjcmV0\r\n";
    let multipart = format!("content-type: multipart/form-data; boundary={boundary}\r\n");
    vec![
        request("POST /v1/mails", &json, letter().to_string().as_bytes()),
        request("POST /auth/token", form, b"grant_type=client_credentials&scope=mails%3Aread"),
        request("POST /upload", &multipart, upload),
        request("GET /v1/mails/m1/contents/c1/pdf", &bearer, b""),
        request("POST /_sandbox/faults", "", br#"{"endpoint":"download","fault":"delay","delay_ms":1}"#),
        request("POST /_sandbox/clock", "", br#"{"advance":"1ms"}"#),
        request("GET /download/m1/c1?X-Amz-Date=x&X-Amz-Expires=y", "", b""),
        request("GET /inbox?before=m1", "accept-language: ja;q=0.5,en\r\n", b""),
    ]
}

async fn upload_body(service: &Service) -> (Vec<u8>, String) {
    let target = service.create(&letter()).await.contents.remove(0).upload;
    let mut body = Vec::new();
    for (name, value) in &target.fields {
        body.extend(
            format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n").bytes(),
        );
    }
    body.extend(b"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\n\r\n");
    body.extend(pdf(1));
    body.extend(b"\r\n--b--\r\n");
    (body, "b".to_owned())
}

#[tokio::test]
async fn random_bytes_and_spoilt_requests_are_harmless() {
    let service = Service::start().await;
    let (upload, boundary) = upload_body(&service).await;
    let requests = requests(&service, &upload, &boundary);
    for whole in &requests[..3] {
        let answered = status(&raw(&service, whole).await).unwrap();
        assert!(answered < 500);
    }
    let mut chance = Chance(0x2545_f491_4f6c_dd1d);
    for round in 0..600 {
        let mut bytes = requests[round % requests.len()].clone();
        match chance.below(5) {
            // Some bytes changed, the request cut short, a piece twice, pure noise, a byte lost.
            0 => {
                for _ in 0..=chance.below(8) {
                    let at = chance.below(bytes.len());
                    bytes[at] = chance.next().to_le_bytes()[0];
                }
            }
            1 => bytes.truncate(chance.below(bytes.len())),
            2 => {
                let (from, len) = (chance.below(bytes.len()), chance.below(64));
                let piece = bytes[from..bytes.len().min(from + len)].to_vec();
                let at = chance.below(bytes.len());
                bytes.splice(at..at, piece);
            }
            3 => bytes = (0..chance.below(300)).map(|_| chance.next().to_le_bytes()[0]).collect(),
            _ => drop(bytes.remove(chance.below(bytes.len()))),
        }
        let answer = raw(&service, &bytes).await;
        let status = status(&answer);
        assert!(status.is_none_or(|status| status < 500), "round {round}: {status:?}");
    }
    assert_eq!(service.get("/v1/account").await.status(), 200);
    assert_eq!(panics(), 0);
}

#[tokio::test]
async fn an_upload_cut_anywhere_is_never_taken() {
    let service = Service::start().await;
    let (upload, boundary) = upload_body(&service).await;
    for keep in (0..upload.len() - 4).step_by(41) {
        let body = &upload[..keep];
        let head = format!(
            "POST /upload HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary={boundary}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let answer = raw(&service, &[head.as_bytes(), body].concat()).await;
        assert_eq!(status(&answer), Some(400), "cut after {keep} of {} bytes", upload.len());
    }
}

#[tokio::test]
async fn awkward_requests_one_by_one() {
    let service = Service::start().await;
    let bearer = format!("authorization: Bearer {}", service.token);
    let post = |body: &[u8]| {
        let head = format!(
            "POST /v1/mails HTTP/1.1\r\nhost: x\r\n{bearer}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        [head.as_bytes(), body].concat()
    };
    for (what, bytes) in [
        ("non-UTF-8 in JSON", post(b"{\"shipping_method\":\"\xff\xfe\"}")),
        ("a lone surrogate", post(br#"{"shipping_method":"\ud800"}"#)),
        ("deep nesting", post("[".repeat(200_000).as_bytes())),
        ("a huge number", post(br#"{"files":[{"page_count":1e999999}]}"#)),
        ("a NUL", post(b"{\"a\0\":1}")),
        ("a gigabyte declared to the API", b"POST /v1/mails HTTP/1.1\r\nhost: x\r\ncontent-length: 1073741824\r\n\r\n{".to_vec()),
        ("a length that is no number", b"POST /v1/mails HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n{".to_vec()),
        ("two lengths", b"POST /v1/mails HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}".to_vec()),
        ("length and chunks", b"POST /v1/mails HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n".to_vec()),
        ("a head without end", [b"GET /inbox HTTP/1.1\r\nhost: ".to_vec(), vec![b'x'; 600_000]].concat()),
        ("a thousand headers", [b"GET /inbox HTTP/1.1\r\n".to_vec(), b"a: b\r\n".repeat(1000), b"\r\n".to_vec()].concat()),
        ("a path of bytes", b"GET /inbox/%ff%00%2f..%2f HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".to_vec()),
        ("a method of its own", b"BREW /v1/mails HTTP/1.1\r\nhost: x\r\n\r\n".to_vec()),
        ("an absolute target", b"GET http://evil.example/v1/account HTTP/1.1\r\nhost: x\r\n\r\n".to_vec()),
        ("HTTP/2 out of the blue", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec()),
        ("a bad Basic header", b"POST /auth/token HTTP/1.1\r\nhost: x\r\nauthorization: Basic ////\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: 0\r\n\r\n".to_vec()),
    ] {
        harmless(&service, what, &bytes).await;
    }
}

#[tokio::test]
async fn a_gigabyte_declared_to_the_upload_is_refused_unread() {
    let service = Service::start().await;
    let head = b"POST /upload HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: 1073741824\r\n\r\n--b";
    let answer = raw(&service, head).await;
    assert_eq!(status(&answer), Some(400));
    let text = String::from_utf8(answer).unwrap();
    assert!(
        text.contains("<Code>EntityTooLarge</Code>") && text.contains("<ProposedSize>1073741824<"),
        "{text}"
    );
}

#[tokio::test]
async fn bodies_over_the_limit_are_refused_with_413() {
    let service = Service::start().await;
    let big = service.api(reqwest::Method::POST, "/v1/mails").header("content-type", "application/json");
    let answer = big.body(vec![b' '; (1 << 20) + 1]).send().await.unwrap();
    crate::rigs::service::problem(answer, 413, "request_too_large").await;
    let clock = service.control(reqwest::Method::POST, "clock", Value::from("x".repeat(70_000))).await;
    assert_eq!(clock.status(), 413);
}

#[tokio::test]
async fn a_connection_too_many_is_told_so_at_once() {
    let service = Service::start().await;
    let address = service.welcome.places.base_url.trim_start_matches("http://");
    let mut open = Vec::new();
    let mut answer = Vec::new();
    // Each line is taken before the next one is opened.
    for _ in 0..=1024 {
        let mut line = TcpStream::connect(address).await.unwrap();
        line.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        answer = vec![0; 12];
        line.read_exact(&mut answer).await.unwrap();
        if status(&answer) == Some(503) {
            break;
        }
        open.push(line);
    }
    assert_eq!(status(&answer), Some(503), "after {} connections", open.len());
    assert!(open.len() > 1000, "{}", open.len());
    drop(open);
    while service.http.get(&service.welcome.places.inbox_url).send().await.unwrap().status() == 503 {}
}

#[tokio::test]
async fn slow_callers_are_cut() {
    let patience = Patience { head: Duration::from_millis(100), body: Duration::from_millis(100) };
    let service = Service::with(Options { patience, ..Options::default() }).await;
    let address = service.welcome.places.base_url.trim_start_matches("http://").to_owned();
    let bearer = format!("authorization: Bearer {}\r\n", service.token);
    for (what, begin, expected) in [
        ("a head that does not end", "GET /inbox HTTP/1.1\r\nhost:".to_owned(), None),
        ("nothing at all", String::new(), None),
        (
            "a JSON body that does not come",
            format!("POST /v1/mails HTTP/1.1\r\nhost: x\r\n{bearer}content-type: application/json\r\ncontent-length: 9\r\n\r\n{{"),
            Some(408),
        ),
        (
            "a form that does not come",
            "POST /auth/token HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: 9\r\n\r\ng".to_owned(),
            Some(400),
        ),
        (
            "a file that does not come",
            "POST /upload HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: 99\r\n\r\n--b".to_owned(),
            Some(400),
        ),
    ] {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        stream.write_all(begin.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert_eq!(status(&answer), expected, "{what}");
    }
    // A fault on order has no more patience than the service.
    service.order(json!({"endpoint": "create", "fault": "status", "status": 503})).await;
    let mut stream = TcpStream::connect(&address).await.unwrap();
    stream.write_all(b"POST /v1/mails HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{").await.unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(status(&answer), Some(503));
}
