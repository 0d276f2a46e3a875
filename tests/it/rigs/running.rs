//! A running daemon that serves its status.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::program::mailchute;

/// `mailchute run` as a process of its own.
pub struct Daemon {
    pub child: Child,
    pub address: String,
}

impl Daemon {
    /// A daemon that serves its status on a free port, which it logs.
    pub fn start(room: &Mailroom) -> Self {
        let config = room.dir.path().join("mailchute.yaml");
        let mut command = mailchute(&["run", "--config", config.to_str().unwrap(), "--log", "json"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = lines.find_map(|line| {
            let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
            event["address"].as_str().map(str::to_owned)
        });
        // Whatever else it tells is not waited for.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address: address.unwrap() }
    }

    pub async fn get(&self, path: &str) -> (u16, String) {
        let answer = reqwest::get(format!("http://{}{path}", self.address)).await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Takes what lies in its folder, quickly, and looks for itself.
pub async fn room() -> Mailroom {
    let quick =
        RULES.replace("{poll: 1s}", "{settle: 100ms, poll: 1s}").replace("path:", "first_start: take\npath:");
    let room = Mailroom::of_today(&quick).await;
    room.add_to_main(
        "status: {listen: '127.0.0.1:0'}\nnetwork: {quickest_retry: 100ms, slowest_retry: 1s}\n",
    );
    room
}
