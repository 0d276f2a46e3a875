//! The real program as a process, which can be signalled and killed. It ends when this is dropped.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use serde_json::Value;

pub struct Program {
    child: Child,
    pub output: BufReader<ChildStdout>,
}

/// The program, not started yet.
pub fn mailchute(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mailchute"));
    command.args(arguments).stdin(Stdio::null()).env_remove("RUST_LOG");
    command
}

impl Program {
    pub fn start(arguments: &[&str]) -> Self {
        let mut child = mailchute(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// A sandbox on a free port, and its first line.
    pub fn sandbox(arguments: &[&str]) -> (Self, Value) {
        let mut program = Self::start(&[&["sandbox", "--listen", "127.0.0.1:0"], arguments].concat());
        let mut line = String::new();
        program.output.read_line(&mut line).unwrap();
        (program, serde_json::from_str(&line).unwrap())
    }

    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status().unwrap();
        assert!(sent.success());
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
