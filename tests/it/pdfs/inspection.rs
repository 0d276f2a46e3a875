//! The process that reads PDFs from anybody: what it can't do, and what it answers about PDFs that are hostile.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lopdf::{Dictionary, Stream};
use mailchute::domain::drop::Doubt;
use mailchute::outside::pdf::Inspector;
use serde_json::{Value, json};

use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::service::{pdf, pdf_of};

const MAILCHUTE: &str = env!("CARGO_BIN_EXE_mailchute");

/// The soft and hard limit of one kind, of a process.
fn limit(process: u32, kind: &str) -> (String, String) {
    let limits = std::fs::read_to_string(format!("/proc/{process}/limits")).unwrap();
    let line = limits.lines().find(|line| line.starts_with(kind)).unwrap();
    let mut values = line[kind.len()..].split_whitespace().map(str::to_owned);
    (values.next().unwrap(), values.next().unwrap())
}

#[test]
fn the_child_gives_everything_up_before_it_reads_a_byte() {
    let mut child = Command::new(MAILCHUTE);
    let (lies, (lengths, mut to)) = (tempfile::tempfile().unwrap(), std::io::pipe().unwrap());
    let child = child.arg("count-pages").stdin(lies.try_clone().unwrap()).stdout(Stdio::piped());
    let mut child = child.stderr(lengths).spawn().unwrap();
    let begun = Instant::now();
    for (kind, most) in [
        ("Max address space", "536870912"),
        ("Max open files", "0"),
        ("Max file size", "0"),
        ("Max processes", "0"),
        ("Max core file size", "0"),
        ("Max cpu time", "10"),
    ] {
        // Between the two limits the kernel sends SIGXCPU.
        let hard = if kind == "Max cpu time" { "11" } else { most };
        // Nothing was written to it yet.
        while limit(child.id(), kind) != (most.to_owned(), hard.to_owned()) {
            assert!(begun.elapsed() < Duration::from_secs(20), "{kind}: {:?}", limit(child.id(), kind));
            std::thread::yield_now();
        }
    }
    let mut from = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut tell = |length: usize, there: usize| {
        to.write_all([length as u64, there as u64].map(u64::to_le_bytes).as_flattened()).unwrap();
    };
    for pages in [4, 3] {
        let pdf = pdf(pages);
        // It is told of a part when that lies there, and takes nothing beyond it.
        for (at, end) in [(0, 0), (0, pdf.len() / 2), (pdf.len() / 2, pdf.len())] {
            lies.write_all_at(&pdf[at..end], at as u64).unwrap();
            lies.write_all_at(&vec![0; pdf.len() - end], end as u64).unwrap();
            tell(pdf.len(), end);
        }
        assert_eq!(from.next().unwrap().unwrap(), format!("{{\"pages\":{pages}}}"));
    }
    // More than there can be is nothing that it reads on after.
    tell(100, 101);
    assert!(!child.wait().unwrap().success());
    assert!(from.next().is_none());
}

/// Zeros that are small on paper, compressed twice.
fn bomb(megabytes: usize) -> Vec<u8> {
    let mut once = Stream::new(Dictionary::new(), vec![0; megabytes << 20]);
    once.compress().unwrap();
    let mut twice = Stream::new(Dictionary::new(), once.content);
    twice.compress().unwrap();
    twice.content
}

const TWICE: &str = "/Filter[/FlateDecode/FlateDecode]";

fn stream(dictionary: &str, data: &[u8]) -> Vec<u8> {
    let head = format!("<<{dictionary}/Length {}>>stream\n", data.len());
    [head.as_bytes(), data, b"\nendstream"].concat()
}

/// One page, and an object beside it.
fn beside(object: &[u8]) -> Vec<u8> {
    let pages = b"<</Type/Pages/Kids[3 0 R]/Count 1>>".as_slice();
    pdf_of(&[b"<</Type/Catalog/Pages 2 0 R>>", pages, b"<</Type/Page/Parent 2 0 R>>", object])
}

/// A tree of nodes one below the other, with a page at its end.
fn deep(levels: usize) -> Vec<u8> {
    let mut objects = vec!["<</Type/Catalog/Pages 2 0 R>>".to_owned()];
    objects.extend((0..levels).map(|n| format!("<</Type/Pages/Kids[{} 0 R]/Count 1>>", n + 3)));
    objects.push("<</Type/Page>>".to_owned());
    pdf_of(&objects)
}

/// Each node has the next one twice.
fn doubling(levels: usize) -> Vec<u8> {
    let mut objects = vec!["<</Type/Catalog/Pages 2 0 R>>".to_owned()];
    objects.extend((0..levels).map(|n| {
        let (next, count) = (n + 3, 1_u64 << (levels - n));
        format!("<</Type/Pages/Kids[{next} 0 R {next} 0 R]/Count {count}>>")
    }));
    objects.push("<</Type/Page>>".to_owned());
    pdf_of(&objects)
}

fn tree(pages: &str) -> Vec<u8> {
    pdf_of(&["<</Type/Catalog/Pages 2 0 R>>", pages, "<</Type/Page/Parent 2 0 R>>"])
}

/// The table of contents is a stream.
fn contents(dictionary: &str, data: &[u8]) -> Vec<u8> {
    let start = b"%PDF-1.5\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n4 0 obj";
    let at = start.len() - "4 0 obj".len();
    let object = stream(&format!("/Type/XRef/Root 1 0 R{dictionary}"), data);
    [start, object.as_slice(), format!("\nendobj\nstartxref\n{at}\n%%EOF\n").as_bytes()].concat()
}

/// The tree of pages lies in a stream of objects that says it has `n`, the page as the one at `index`.
fn in_a_stream(n: u8, index: u8) -> Vec<u8> {
    let mut bytes = b"%PDF-1.5\n".to_vec();
    let mut table = vec![0, 0, 0, 0];
    let numbered = "2 0 3 38 ";
    let objects = format!("{numbered}<</Type/Pages/Kids[3 0 R]/Count 1>>   <</Type/Page/Parent 2 0 R>>");
    let container = format!("/Type/ObjStm/N {n}/First {}", numbered.len());
    let whole = [b"<</Type/Catalog/Pages 2 0 R>>".to_vec(), stream(&container, objects.as_bytes())];
    for (number, object) in [1, 4].into_iter().zip(whole) {
        let at = u16::try_from(bytes.len()).unwrap().to_be_bytes();
        table.extend([1, at[0], at[1], 0]);
        if number == 1 {
            table.extend([2, 0, 4, 0, 2, 0, 4, index]);
        }
        bytes.extend([format!("{number} 0 obj").as_bytes(), &object, b"\nendobj\n"].concat());
    }
    let at = bytes.len();
    bytes.extend(b"5 0 obj");
    bytes.extend(stream("/Type/XRef/Root 1 0 R/Size 5/W[1 2 1]", &table));
    bytes.extend(format!("\nendobj\nstartxref\n{at}\n%%EOF\n").bytes());
    bytes
}

#[tokio::test]
async fn objects_that_lie_elsewhere_than_the_table_says_are_in_doubt() {
    let inspector = Inspector::of(Path::new(MAILCHUTE));
    for (n, index, expected) in [
        (2, 1, Ok(1)),
        (1, 1, Err(Doubt::Unreadable)),
        (3, 1, Err(Doubt::Unreadable)),
        (2, 0, Err(Doubt::Unreadable)),
    ] {
        let answer = inspector.pages(&in_a_stream(n, index)).await.unwrap();
        assert_eq!(answer, expected, "{n} objects, the page at {index}");
    }
}

#[tokio::test]
async fn hostile_pdfs_are_refused_or_counted_rightly() {
    let inspector = Inspector::of(Path::new(MAILCHUTE));
    let mut looping = pdf(1);
    let table = looping.windows(5).position(|bytes| bytes == b"xref\n").unwrap();
    let at = looping.windows(7).position(|bytes| bytes == b"trailer").unwrap() + 9;
    looping.splice(at..at, format!("/Prev {table}").bytes());
    let bomb = bomb(200);
    let swelling = stream(&format!("/Type/ObjStm/N 1/First 4{TWICE}"), &bomb);
    for (what, bytes, expected) in [
        ("an object stream that swells to 200 MB", beside(&swelling), Err(Doubt::Unreadable)),
        (
            "a table that swells to 200 MB",
            contents(&format!("/Size 9/W[1 1 1]{TWICE}"), &bomb),
            Err(Doubt::Unreadable),
        ),
        (
            "millions of numbers",
            beside(format!("[{}]", "0 ".repeat(4_900_000)).as_bytes()),
            Err(Doubt::TooMuch),
        ),
        ("millions of brackets", beside("[".repeat(5_000_000).as_bytes()), Ok(1)),
        ("dictionaries in dictionaries", beside("<</A".repeat(2_000_000).as_bytes()), Ok(1)),
        ("a kid that is its own parent", tree("<</Type/Pages/Kids[2 0 R]/Count 1>>"), Err(Doubt::Pages)),
        ("the same page twice", tree("<</Type/Pages/Kids[3 0 R 3 0 R]/Count 1>>"), Err(Doubt::Pages)),
        ("a count below zero", tree("<</Type/Pages/Kids[3 0 R]/Count -1>>"), Err(Doubt::Pages)),
        (
            "a count beyond counting",
            tree("<</Type/Pages/Kids[3 0 R]/Count 99999999999999999999>>"),
            Err(Doubt::Pages),
        ),
        ("kids that are a number", tree("<</Type/Pages/Kids 3/Count 1>>"), Err(Doubt::Pages)),
        ("kids written out", tree("<</Type/Pages/Kids[<</Type/Page>>]/Count 1>>"), Err(Doubt::Pages)),
        ("2 to the 40th pages", doubling(40), Err(Doubt::Pages)),
        ("a table that goes back to itself", looping, Ok(1)),
        (
            "a table of four thousand million",
            contents("/Size 4294967295/W[1 1 1]", b"0000"),
            Err(Doubt::Unreadable),
        ),
        (
            "a table from four thousand million",
            contents("/Size 9/Index[4294967290 9]/W[1 1 1]", b"0000"),
            Err(Doubt::Unreadable),
        ),
        (
            "a table with wide columns",
            contents("/Size 9/W[99999999 99999999 99999999]", b"0000"),
            Err(Doubt::Unreadable),
        ),
        (
            "a table with columns of no width",
            contents("/Size 4294967295/W[0 0 0]", b"0000"),
            Err(Doubt::Unreadable),
        ),
        ("a tree of 50 levels", deep(50), Ok(1)),
        ("a tree of 5,000 levels", deep(5_000), Ok(1)),
    ] {
        assert_eq!(inspector.pages(&bytes).await.unwrap(), expected, "{what}");
    }
}

#[test]
fn inspect_says_what_the_daemon_would_do() {
    let dir = tempfile::tempdir().unwrap();
    let large = [pdf(1), vec![b' '; 10_000_000]].concat();
    for (name, bytes, said) in [
        ("good", pdf(3), json!({"pages": 3})),
        ("padded", [pdf(3), vec![0; 100]].concat(), json!({"held": "padded", "pages_if_approved": 3})),
        ("torn", pdf(3)[..400].to_vec(), json!({"refused": {"pdf": "torn"}})),
        ("empty", Vec::new(), json!({"refused": "empty"})),
        ("large", large, json!({"refused": {"too_large": {"size": 10_000_000 + pdf(1).len()}}})),
        ("longest", pdf(2000), json!({"pages": 2000})),
        ("long", pdf(2001), json!({"refused": {"not_postable": [{"pages": [0, 2001]}]}})),
    ] {
        let file = dir.path().join(format!("{name}.pdf"));
        std::fs::write(&file, bytes).unwrap();
        let done = Command::new(MAILCHUTE).args(["inspect", "--json"]).arg(&file).output().unwrap();
        let line: Value = serde_json::from_slice(&done.stdout).unwrap();
        for (key, value) in said.as_object().unwrap() {
            assert_eq!(&line[key], value, "{line}");
        }
        assert_eq!(done.status.success(), ["good", "longest"].contains(&name));
        let done = Command::new(MAILCHUTE).arg("inspect").arg(&file).output().unwrap();
        let line = String::from_utf8(done.stdout).unwrap();
        let word = match name {
            "good" => "3 page(s)",
            "longest" => "2000 page(s)",
            "padded" => "held: Padding follows the end of the PDF. It would be posted with 3 page(s).",
            _ => "rejected: ",
        };
        assert!(line.contains(word), "{line}");
    }
}

#[tokio::test]
async fn explain_says_which_pdfs_would_be_held() {
    let room = Mailroom::closed(RULES).await;
    for (name, bytes, said) in [
        (
            "padded",
            [pdf(3), vec![0; 100]].concat(),
            json!({"waits": {"doubt": [{"doubt": "padded", "pages": 3}]}}),
        ),
        ("torn", pdf(3)[..400].to_vec(), json!({"refused": {"pdf": "torn"}})),
    ] {
        let file = room.path(&format!("{name}.pdf"));
        std::fs::write(&file, bytes).unwrap();
        let explain = |more: &[&str]| {
            let mut command = Command::new(MAILCHUTE);
            command.arg("explain").arg("--config").arg(room.dir.path().join("mailchute.yaml")).arg(&file);
            String::from_utf8(command.args(more).output().unwrap().stdout).unwrap()
        };
        let mut line: Value = serde_json::from_str(&explain(&["--json"])).unwrap();
        if name == "padded" {
            assert!(line["waits"]["doubt"][0].as_object_mut().unwrap().remove("sha256").is_some());
        }
        for (key, value) in said.as_object().unwrap() {
            assert_eq!(&line[key], value, "{line}");
        }
        let word = if name == "padded" { "held: Padding follows" } else { "rejected: " };
        let text = explain(&[]);
        assert!(text.contains(word), "{text}");
    }
    let file = room.path("x good.pdf");
    std::fs::write(&file, pdf(1)).unwrap();
    let mut command = Command::new(MAILCHUTE);
    command.arg("explain").arg("--config").arg(room.dir.path().join("mailchute.yaml")).arg(&file);
    let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
    for told in [
        "rule \"invoices\" (line 6) does not fit",
        "no  file_name ^INV-(?<customer>\\d{6})   here: x good.pdf",
        "rule \"for everybody\" (line 10) fits",
        "yes file_name ^x   here: x good.pdf",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
}
