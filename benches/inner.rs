//! The inner parts by themselves: `cargo bench --bench inner`.

#![expect(clippy::unwrap_used, reason = "in a bench a panic is the message")]

use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use chrono::TimeDelta;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mailchute::loops::intake::{Settling, Stamp};
use mailchute::outside::pdf::{Inspector, judge};
use sha2::{Digest as _, Sha256};

/// So many pages, and so many bytes beside them.
fn pdf(pages: usize, ballast: usize) -> Vec<u8> {
    let kids: Vec<String> = (0..pages).map(|page| format!("{} 0 R", page + 3)).collect();
    let mut objects = vec![
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        format!("<</Type/Pages/Kids[{}]/Count {pages}>>", kids.join(" ")).into_bytes(),
    ];
    let page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>";
    objects.extend((0..pages).map(|_| page.to_vec()));
    if ballast > 0 {
        let head = format!("<</Length {ballast}>>stream\n").into_bytes();
        objects.push([head, vec![b'x'; ballast], b"\nendstream".to_vec()].concat());
    }
    let mut bytes = b"%PDF-1.4\n".to_vec();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).into_bytes();
    for (index, object) in objects.iter().enumerate() {
        writeln!(table, "{:010} 00000 n ", bytes.len()).unwrap();
        bytes.extend([format!("{} 0 obj", index + 1).as_bytes(), object, b"endobj\n"].concat());
    }
    let at = bytes.len();
    let end = format!("trailer<</Size {}/Root 1 0 R>>\nstartxref\n{at}\n%%EOF\n", objects.len() + 1);
    bytes.extend([table, end.into_bytes()].concat());
    bytes
}

/// Name, pages, bytes beside them.
const SIZES: [(&str, usize, usize); 4] =
    [("1", 1, 0), ("100", 100, 0), ("2,000", 2000, 0), ("1 and 10 MB", 1, 9_900_000)];

/// A file read and its pages counted by another process: a child that stays, and `qpdf` if it is there.
fn checked(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let inspector = Inspector::of(Path::new(env!("CARGO_BIN_EXE_mailchute")));
    let file = tempfile::NamedTempFile::new().unwrap();
    let qpdf = || Command::new("qpdf").arg("--show-npages").arg(file.path()).output();
    let mut group = criterion.benchmark_group("a file checked");
    group.sample_size(30);
    for (name, pages, ballast) in SIZES {
        std::fs::write(file.path(), pdf(pages, ballast)).unwrap();
        group.bench_function(format!("mailchute, {name}"), |bencher| {
            bencher.iter(|| {
                let bytes = std::fs::read(file.path()).unwrap();
                let counted = runtime.block_on(inspector.pages(&bytes)).unwrap().unwrap();
                assert_eq!(counted as usize, pages);
            });
        });
        if qpdf().is_ok() {
            group.bench_function(format!("qpdf, {name}"), |bencher| {
                bencher
                    .iter(|| assert_eq!(qpdf().unwrap().stdout.trim_ascii(), pages.to_string().as_bytes()));
            });
        }
    }
    group.finish();
}

fn pages(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pages of a PDF");
    for (name, pages, ballast) in SIZES {
        let pdf = pdf(pages, ballast);
        group.throughput(Throughput::Bytes(pdf.len() as u64));
        group.bench_function(name, |bencher| bencher.iter(|| judge(black_box(&pdf))));
    }
    group.finish();
}

fn hash(criterion: &mut Criterion) {
    let bytes = pdf(1, 100_000);
    criterion.bench_function("hash of 100 KB", |bencher| bencher.iter(|| Sha256::digest(black_box(&bytes))));
}

/// A look at a folder in which nothing has changed.
fn settling(criterion: &mut Criterion) {
    let stamp = |n: u64| Stamp {
        kind: None,
        inode: n,
        size: 100_000,
        links: 1,
        readable: true,
        times: (1, 1),
        inside: 0,
    };
    let listing: Vec<_> = (0..100_000).map(|n| (format!("INV-{n:06}.pdf").into_bytes(), stamp(n))).collect();
    let mut settling = Settling::default();
    let mut look = |listing| settling.look(TimeDelta::zero(), Duration::from_secs(5), listing, |_, _| None);
    look(listing.clone());
    criterion.bench_function("a look at 100,000 names", |bencher| {
        bencher.iter_batched(|| listing.clone(), &mut look, criterion::BatchSize::LargeInput);
    });
}

criterion_group!(benches, pages, checked, hash, settling);
criterion_main!(benches);
