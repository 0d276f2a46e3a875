//! From what is written to what is valid. Every mistake of a folder's file has its place.

use std::sync::Arc;

use regex::Regex;

use super::either::Sender;
use super::folder::Around;
use super::page::ReadFile;
use super::problem::Problem;
use super::yaml::AddressFile;
use super::yaml_folder as yaml;
use crate::domain::address::{Address, AddressMistake, Receiver};
use crate::domain::letter::{Print, ReplyLetterpack, Shipping};
use crate::domain::rules::Sidecar;

/// A file that is being read, and the list that its mistakes go to.
pub(super) struct Build<'a, T> {
    pub(super) written: &'a ReadFile<T>,
    pub(super) around: &'a Around,
    pub(super) problems: &'a mut Vec<Problem>,
}

impl<T> Build<'_, T> {
    pub(super) fn wrong(&mut self, path: &[&str], what: impl Into<String>, help: &str) {
        self.problems.push(self.written.wrong(path, what, help));
    }

    /// An address at a path. Only a receiver may have an honorific.
    pub(super) fn address(&mut self, path: &[&str], file: &AddressFile, is_receiver: bool) -> Receiver {
        let AddressFile { postal_code, state, city, address1, name, honorific } = file.clone();
        if honorific.is_some() && !is_receiver {
            self.wrong(&[path, &["honorific"]].concat(), "only a receiver has an honorific", "take it out");
        }
        let address = Address { postal_code, state, city, address1, name };
        let receiver = Receiver { address, honorific: honorific.unwrap_or_else(|| "様".to_owned()) };
        let mistakes = receiver.problems();
        for AddressMistake { field, wrong } in &mistakes {
            self.wrong(&[path, &[field.key()]].concat(), wrong.to_string(), "");
        }
        for AddressMistake { field, wrong } in receiver.address.doubts() {
            if !mistakes.iter().any(|mistake| mistake.field == field) {
                let path = [path, &[field.key()]].concat();
                self.problems.push(self.written.doubtful(&path, wrong.to_string(), ""));
            }
        }
        receiver
    }

    pub(super) fn sender(&mut self, path: &[&str], sender: &Sender) -> Option<Address> {
        match sender {
            Sender::Written(file) => Some(self.address(path, file, false).address),
            Sender::Named(name) => {
                let found = self.around.addresses.get(name).cloned();
                let told = self.around.unusable.as_ref().is_none_or(|names| names.contains(name));
                if found.is_none() && !told {
                    let known: Vec<&str> = self.around.addresses.keys().map(String::as_str).collect();
                    let help = if known.is_empty() {
                        "name it under `addresses` in mailchute.yaml".to_owned()
                    } else {
                        format!("`addresses` in mailchute.yaml has: {}", known.join(", "))
                    };
                    self.wrong(path, format!("there is no address `{name}`"), &help);
                }
                found
            }
        }
    }

    pub(super) fn shipping(&mut self, path: &[&str], shipping: &Shipping) {
        for problem in shipping.problems() {
            self.wrong(path, problem.to_string(), "");
        }
    }

    pub(super) fn print(&mut self, path: &[&str], print: &Print) {
        if print.staple.is_some() && print.bind {
            self.wrong(path, "staple it or bind it, not both", "");
        }
    }

    pub(super) fn reply(
        &mut self,
        path: &[&str],
        pack: Option<&yaml::ReplyLetterpack>,
    ) -> Option<ReplyLetterpack> {
        let file = pack?.address.as_ref();
        let path = [path, &["address"]].concat();
        Some(ReplyLetterpack { address: file.map(|file| self.address(&path, file, false).address) })
    }

    pub(super) fn regex(&mut self, path: &[&str], text: &str) -> Option<Arc<Regex>> {
        match self.around.patterns.regex(text) {
            Ok(regex) => Some(regex),
            Err(error) => {
                let said = error.to_string();
                let why = said.lines().last().unwrap_or_default().trim_start_matches("error: ");
                self.wrong(path, format!("it is not a regular expression: {why}"), "");
                None
            }
        }
    }
}

impl Build<'_, yaml::Sidecar> {
    pub(super) fn sidecar(&mut self) -> Option<Sidecar> {
        let file = &self.written.value;
        let receiver = self.address(&["receiver"], &file.receiver, true);
        let sender = match &file.sender {
            Some(sender) => Some(self.sender(&["sender"], sender)?),
            None => None,
        };
        file.shipping.iter().for_each(|shipping| self.shipping(&["shipping"], shipping));
        file.print.iter().for_each(|print| self.print(&["print"], print));
        Some(Sidecar {
            receiver,
            sender,
            shipping: file.shipping.clone(),
            print: file.print.clone(),
            reply_letterpack: self.reply(&["reply_letterpack"], file.reply_letterpack.as_ref()),
            pages: file.pages,
        })
    }
}
