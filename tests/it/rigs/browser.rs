//! A real browser without a window, driven through its own pipe. Where none is installed, its tests say so and do
//! nothing, unless `MAILCHUTE_NEEDS_BROWSER` is set.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

/// What is wrong with a page for people who see little or use no mouse.
const ACCESSIBLE: &str = include_str!("accessible.js");

#[expect(clippy::print_stderr, reason = "whoever runs the tests must see it")]
pub fn skipped(without: &str) {
    eprintln!("skipped: there is no {without} here");
}

/// Ends when it is dropped.
pub struct Browser {
    child: Child,
    write: ChildStdin,
    read: BufReader<ChildStdout>,
    number: u64,
    session: Option<String>,
    _profile: TempDir,
}

impl Browser {
    pub fn start() -> Option<Self> {
        let is_there = |name: &&str| {
            Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
        };
        let Some(program) = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(is_there)
        else {
            assert!(std::env::var_os("MAILCHUTE_NEEDS_BROWSER").is_none(), "install Debian's chromium");
            skipped("chromium");
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        let line = format!(
            "exec {program} --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --remote-debugging-pipe \
             --user-data-dir={} about:blank 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null",
            profile.path().display()
        );
        let mut command = Command::new("sh");
        let mut child =
            command.args(["-c", &line]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (write, read) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut browser = Self { child, write, read, number: 0, session: None, _profile: profile };
        let pages = browser.call("Target.getTargets", &json!({}))["targetInfos"].clone();
        let page = pages.as_array().unwrap().iter().find(|page| page["type"] == "page").unwrap().clone();
        let attached =
            browser.call("Target.attachToTarget", &json!({"targetId": page["targetId"], "flatten": true}));
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        Some(browser)
    }

    fn call(&mut self, method: &str, params: &Value) -> Value {
        self.asked(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    fn asked(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        self.number += 1;
        let mut message = json!({"id": self.number, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        self.write.write_all(message.to_string().as_bytes()).unwrap();
        self.write.write_all(&[0]).unwrap();
        self.write.flush().unwrap();
        loop {
            let mut text = Vec::new();
            assert!(self.read.read_until(0, &mut text).unwrap() > 0, "the browser has ended");
            let answer: Value = serde_json::from_slice(&text[..text.len() - 1]).unwrap();
            if answer["id"] == self.number {
                return answer
                    .get("error")
                    .map_or_else(|| Ok(answer["result"].clone()), |error| Err(error.clone()));
            }
        }
    }

    /// The value of an expression, which may be a promise.
    pub fn run(&mut self, script: &str) -> Value {
        let wanted = json!({"expression": script, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", &wanted);
        assert!(answer.get("exceptionDetails").is_none(), "{script}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits in the page until an expression is true.
    pub fn until(&mut self, script: &str) {
        let wait = format!(
            "new Promise((done) => {{ const end = performance.now() + 20000; const is = () => {{ try {{ return {script}; }}
               catch {{ return false; }} }}; const look = () => {{ if (is()) done(true);
               else if (performance.now() > end) done(false); else setTimeout(look, 20); }}; look(); }})"
        );
        let params = json!({"expression": wait, "returnByValue": true, "awaitPromise": true});
        // A page that goes away takes its promise along, and the next one has to keep it.
        let mut turns = (0..100).map(|_| self.asked("Runtime.evaluate", &params));
        let kept = turns.find_map(|answer| answer.ok()?["result"]["value"].as_bool());
        drop(turns);
        assert_eq!(kept, Some(true), "waited in vain until {script}; the page is {}", self.text());
    }

    fn text(&mut self) -> Value {
        self.run("document.body.innerText")
    }

    pub fn open(&mut self, address: &str) {
        self.call("Page.enable", &json!({}));
        self.call("Page.navigate", &json!({"url": address}));
        self.until(&format!("location.href === {} && document.readyState === 'complete'", json!(address)));
    }

    /// Presses a key as a person does.
    pub fn press(&mut self, key: &str) {
        let text = if key.chars().count() == 1 { key } else { "" };
        self.call("Input.dispatchKeyEvent", &json!({"type": "keyDown", "key": key, "text": text}));
        self.call("Input.dispatchKeyEvent", &json!({"type": "keyUp", "key": key}));
    }

    pub fn write(&mut self, text: &str) {
        self.call("Input.insertText", &json!({"text": text}));
    }

    /// Shows pages in this size, language and colours from now on.
    pub fn is_like(&mut self, (width, height): (u32, u32), language: &str, scheme: &str) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", &size);
        let agent = json!({"userAgent": "a browser of a test", "acceptLanguage": language});
        self.call("Emulation.setUserAgentOverride", &agent);
        let scheme = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", &json!({"features": scheme}));
    }

    pub fn picture(&mut self, to: &Path) {
        let size = self.run("[innerWidth, Math.min(document.documentElement.scrollHeight, 1500)]");
        let clip = json!({"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1});
        let wanted = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        let taken = self.call("Page.captureScreenshot", &wanted);
        std::fs::write(to, STANDARD.decode(taken["data"].as_str().unwrap()).unwrap()).unwrap();
    }

    /// Opens a page light and dark, on a telephone and in Japanese, and looks whether everybody can use it. With
    /// `MAILCHUTE_WRITE_PICTURES=DIR` the pictures of the documents are made anew, as `tests/pictures` does.
    pub fn everybody_can_use(&mut self, address: &str, picture: Option<&str>) {
        let pictures = std::env::var_os("MAILCHUTE_WRITE_PICTURES");
        for (size, language, scheme, kind) in [
            ((1280, 800), "en", "light", "light"),
            ((1280, 800), "en", "dark", "dark"),
            ((420, 850), "en", "light", "phone"),
            ((1280, 800), "ja", "light", "japanese"),
        ] {
            self.is_like(size, language, scheme);
            self.open(address);
            self.until("[...document.images].every((image) => image.loading === 'lazy' || image.complete)");
            let barriers = self.barriers();
            assert!(barriers.is_empty(), "{address} {kind}: {}", barriers.join("\n"));
            let is_wide = self.run("document.documentElement.scrollWidth > innerWidth");
            assert_eq!(is_wide, false, "{address} {kind} is too wide");
            if let (Some(dir), Some(name)) = (&pictures, picture) {
                self.until("[...document.images].every((image) => image.complete || image.getBoundingClientRect().top > innerHeight)");
                self.picture(&Path::new(dir).join(format!("{name}-{kind}.png")));
            }
        }
    }

    /// What is wrong with the open page for people who see little or use no mouse.
    fn barriers(&mut self) -> Vec<String> {
        serde_json::from_value(self.run(ACCESSIBLE)).unwrap()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
