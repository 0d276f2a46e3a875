//! Where the contestants work: a sandbox, an office, documents, and the clock of their processes.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread::park_timeout;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::ground;

pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// What the unit gives the daemon in its environment.
fn of_the_unit() -> impl Iterator<Item = (&'static str, &'static str)> {
    let unit = include_str!("../../systemd/mailchute.service");
    let lines = unit.lines().filter_map(|line| line.strip_prefix("Environment="));
    lines.flat_map(|line| line.split(' ').filter_map(|pair| pair.split_once('=')))
}

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mailchute"));
    command.args(arguments).env("RUST_LOG", "error").envs(of_the_unit());
    command
}

/// A PDF of one page and 100 KB that no other is like.
pub fn document(n: usize) -> Vec<u8> {
    // What does not compress, as scans do not.
    let mut seed = n as u64 + 1;
    let mut noise = Vec::with_capacity(100_000);
    while noise.len() < 100_000 {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        noise.extend(seed.to_le_bytes());
    }
    let head = format!("<</Length {}>>stream\n", noise.len());
    let stream = [head.as_bytes(), &noise, b"\nendstream"].concat();
    let objects: [&[u8]; 4] = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R>>",
        &stream,
    ];
    let mut pdf = b"%PDF-1.4\n".to_vec();
    let mut table = b"xref\n0 5\n0000000000 65535 f \n".to_vec();
    for (index, object) in objects.iter().enumerate() {
        writeln!(table, "{:010} 00000 n ", pdf.len()).unwrap();
        pdf.extend([format!("{} 0 obj", index + 1).as_bytes(), object, b"endobj\n"].concat());
    }
    let at = pdf.len();
    pdf.extend(table);
    pdf.extend(format!("trailer<</Size 5/Root 1 0 R>>\nstartxref\n{at}\n%%EOF\n").bytes());
    pdf
}

/// What a process has used, with its children that have ended.
pub fn cpu_of(process: &str) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let fields = stat.rsplit_once(')').unwrap().1;
    let ticks: u64 =
        fields.split_whitespace().skip(11).take(4).map(|field| field.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}

pub struct Sandbox {
    _process: Running,
    pub base: String,
    pub auth: String,
    pub client: String,
    pub secret: String,
}

impl Sandbox {
    pub fn start() -> Self {
        Self::with(&[])
    }

    fn with(more: &[&str]) -> Self {
        let mut process = program(&["sandbox", "--listen", "127.0.0.1:0"]);
        let mut process = process.args(more).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let welcome: Value = serde_json::from_str(&line).unwrap();
        let word = |key: &str| welcome[key].as_str().unwrap().to_owned();
        let (base, auth) = (word("base_url"), word("auth_url"));
        let (client, secret) = (word("client_id"), word("client_secret"));
        Self { _process: Running(process), base, auth, client, secret }
    }

    fn ask(&self, path: &str, body: Option<&Value>) -> Value {
        let host = self.base.trim_start_matches("http://");
        let mut line = TcpStream::connect(host).unwrap();
        let body = body.map(Value::to_string).unwrap_or_default();
        let method = if body.is_empty() { "GET" } else { "POST" };
        let length = body.len();
        write!(
            line,
            "{method} /_sandbox/{path} HTTP/1.0\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        line.read_to_string(&mut answer).unwrap();
        assert!(answer.split(' ').nth(1).unwrap().starts_with('2'), "{answer}");
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap_or(Value::Null)
    }

    /// Each call of so many letters waits.
    pub fn slow(&self, delay: Option<u32>, letters: usize) {
        let Some(delay_ms) = delay else { return };
        for endpoint in ["create", "upload", "read", "confirm"] {
            let times = letters * 2;
            self.ask(
                "faults",
                Some(&json!({"endpoint": endpoint, "fault": "delay", "delay_ms": delay_ms, "times": times})),
            );
        }
    }

    pub fn until_confirmed(&self, letters: usize) {
        let (mut confirmed, mut seen) = (0, 0);
        while confirmed < letters {
            park_timeout(Duration::from_millis(20));
            let news = self.ask(&format!("ledger?event=authorized&after={seen}"), None);
            let news = news["entries"].as_array().unwrap();
            confirmed += news.len();
            seen = news.last().map_or(seen, |last| last["seq"].as_u64().unwrap());
        }
    }
}

/// Whether the folder compares what is printed with the envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pages {
    Compared,
    NotRead,
}

/// In what the contestants' configuration differs from that which `init` writes.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    pub pages: Pages,
    /// How many letters are in calls at the same time.
    pub at_once: usize,
}

impl Setting {
    /// How many `init` writes.
    pub const AT_ONCE: usize = 8;
    pub const USUAL: Self = Self { pages: Pages::NotRead, at_once: Self::AT_ONCE };
}

/// A sandbox and a daemon on the configuration that `init` writes, without its limits.
pub struct Office {
    dir: TempDir,
    letters: usize,
    pub sandbox: Sandbox,
    daemon: Running,
}

impl Office {
    /// Letters that are posted before the burst.
    pub const BEFORE: usize = 1;
    pub const SETTLE: Duration = Duration::from_secs(1);

    /// With so many documents written beside its folder.
    pub fn open(letters: usize, Setting { pages, at_once }: Setting) -> Self {
        let dir = ground::new_dir();
        let path = dir.path();
        assert!(program(&["init", path.to_str().unwrap()]).stdout(Stdio::null()).status().unwrap().success());
        let secret = std::fs::read_to_string(path.join("main.secret")).unwrap();
        let sandbox = Sandbox::with(&["--client", &format!("trial:{}", secret.trim())]);
        let edit = |file: &str, changes: &[(&str, &str)]| {
            let mut text = std::fs::read_to_string(path.join(file)).unwrap();
            for (from, to) in changes {
                assert!(text.contains(from), "{from}");
                text = text.replace(from, to);
            }
            std::fs::write(path.join(file), text).unwrap();
        };
        edit("mailchute.yaml", &[("http://127.0.0.1:8460", &sandbox.base)]);
        let (usual, wanted) = (Setting::AT_ONCE, format!("letters_at_once: {at_once} "));
        edit("mailchute.yaml", &[(&format!("letters_at_once: {usual} "), &wanted)]);
        let free = [
            ("  # settle: 5s", "  settle: 1s"),
            ("letters_per_day: 200", "letters_per_day: 1000000"),
            ("sheets_per_day: 1500", "sheets_per_day: 1000000"),
            ("burst: 50 in 10m", "burst: 1000000 in 10m"),
        ];
        edit("folders/invoices.yaml", &free);
        if pages == Pages::NotRead {
            edit("folders/invoices.yaml", &[("check_page: hold", "check_page: off ")]);
        }
        let config = path.join("mailchute.yaml");
        let daemon = Running(
            program(&["run", "--config", config.to_str().unwrap()]).stderr(Stdio::null()).spawn().unwrap(),
        );
        while !path.join("hot/invoices/Approve").is_dir() {
            park_timeout(Duration::from_millis(10));
        }
        // Rules and address book settle before they decide, once: one letter is through before the burst begins.
        std::fs::write(path.join("hot/invoices").join(name_of(letters)), document(letters)).unwrap();
        sandbox.until_confirmed(Self::BEFORE);
        let written = path.join("written");
        std::fs::create_dir(&written).unwrap();
        for n in 0..letters {
            std::fs::write(written.join(name_of(n)), document(n)).unwrap();
        }
        Self { dir, letters, sandbox, daemon }
    }

    /// Ends it; what it has written is there until that is dropped.
    pub fn close(self) -> TempDir {
        self.dir
    }

    pub fn cpu(&self) -> Duration {
        cpu_of(&self.daemon.0.id().to_string())
    }

    /// Into the folder, by rename.
    pub fn drop_all(&self) {
        let (written, hot) = (self.dir.path().join("written"), self.dir.path().join("hot/invoices"));
        for n in 0..self.letters {
            std::fs::rename(written.join(name_of(n)), hot.join(name_of(n))).unwrap();
        }
    }
}

fn name_of(n: usize) -> String {
    format!("INV-000123-{n}.pdf")
}

/// Until inotifywait watches: the kernel says so of its handle.
pub fn until_watched(script: &Child) {
    let children = format!("/proc/{0}/task/{0}/children", script.id());
    loop {
        let found = std::fs::read_to_string(&children).unwrap_or_default();
        let watches = |child: &str| {
            let infos = std::fs::read_dir(format!("/proc/{child}/fdinfo")).into_iter().flatten().flatten();
            infos
                .filter_map(|info| std::fs::read_to_string(info.path()).ok())
                .any(|info| info.contains("inotify wd"))
        };
        if found.split_whitespace().any(watches) {
            return;
        }
        park_timeout(Duration::from_millis(10));
    }
}
