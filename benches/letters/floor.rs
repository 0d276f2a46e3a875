//! The least that posts a letter: the four calls with the same bodies, over connections that are kept. The
//! durable one also hashes, counts the pages and writes five times to a disk before it goes on, many letters'
//! writes in one sync.

use std::io::Write as _;
use std::sync::{Arc, Mutex, mpsc};

use reqwest::Client;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::sync::oneshot;

use crate::ground;
use crate::place::Sandbox;

#[derive(Debug)]
pub struct Floor {
    pub at_once: usize,
    pub durable: bool,
}

type Write = (Vec<u8>, oneshot::Sender<()>);

/// Writes what has come together, and syncs once for all of it.
fn journal(incoming: &mpsc::Receiver<Write>) {
    let mut file = ground::new_file();
    while let Ok(first) = incoming.recv() {
        let writes: Vec<Write> = std::iter::once(first).chain(incoming.try_iter()).collect();
        for (line, _) in &writes {
            file.write_all(line).unwrap();
        }
        file.sync_data().unwrap();
        for (_, told) in writes {
            told.send(()).unwrap();
        }
    }
}

impl Floor {
    pub fn post(&self, sandbox: &Sandbox, documents: Vec<Vec<u8>>) {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let (write, incoming) = mpsc::channel();
        let journal = std::thread::spawn(move || journal(&incoming));
        runtime.block_on(self.all(sandbox, documents, write));
        journal.join().unwrap();
    }

    async fn all(&self, sandbox: &Sandbox, documents: Vec<Vec<u8>>, write: mpsc::Sender<Write>) {
        let http = Client::builder().no_proxy().build().unwrap();
        let token =
            http.post(format!("{}/token", sandbox.auth)).basic_auth(&sandbox.client, Some(&sandbox.secret));
        let token: Value = answered(
            token.form(&[("grant_type", "client_credentials"), ("scope", "mails:read mails:write")]),
        )
        .await;
        let token: Arc<str> = token["access_token"].as_str().unwrap().into();
        let left = Arc::new(Mutex::new(documents));
        let workers = (0..self.at_once).map(|_| {
            let (http, token, left) = (http.clone(), Arc::clone(&token), Arc::clone(&left));
            let (base, write) = (sandbox.base.clone(), self.durable.then(|| write.clone()));
            tokio::spawn(async move {
                loop {
                    let Some(pdf) = left.lock().unwrap().pop() else { return };
                    post(&http, &base, &token, pdf, write.as_ref()).await;
                }
            })
        });
        for worker in workers.collect::<Vec<_>>() {
            worker.await.unwrap();
        }
    }
}

async fn answered(request: reqwest::RequestBuilder) -> Value {
    let answer = request.send().await.unwrap().error_for_status().unwrap().bytes().await.unwrap();
    serde_json::from_slice(&answer).unwrap_or(Value::Null)
}

/// Waits until a line is on the disk, if anything is to be.
async fn written(write: Option<&mpsc::Sender<Write>>, line: &str) {
    let Some(write) = write else { return };
    let (told, is_written) = oneshot::channel();
    write.send((line.repeat(4).into_bytes(), told)).unwrap();
    is_written.await.unwrap();
}

async fn post(http: &Client, base: &str, token: &str, pdf: Vec<u8>, write: Option<&mpsc::Sender<Write>>) {
    let pages = if write.is_some() {
        written(write, &hex::encode(Sha256::digest(&pdf))).await;
        let answer = mailchute::outside::pdf::judge(&pdf);
        let mailchute::outside::pdf::Inspection::Pages(pages) = answer else { panic!("{answer:?}") };
        pages
    } else {
        1
    };
    let address = json!({"postal_code": "1000001", "state": "東京都", "city": "千代田区", "address1": "千代田1-1", "name": "株式会社サンプル"});
    let mut receiver = address.clone();
    receiver["honorific"] = json!("様");
    let file = json!({"file_name": "1-1.pdf", "page_count": pages, "color": "grayscale", "duplex": "double"});
    let order = json!({"shipping_method": "letterpack-lite", "sender_address": address, "receiver_address": receiver, "files": [file]});
    let mail = answered(http.post(format!("{base}/v1/mails")).bearer_auth(token).json(&order)).await;
    let id = mail["id"].as_str().unwrap();
    written(write, id).await;
    let upload = &mail["contents"][0]["upload"];
    let mut form = Form::new();
    for (name, value) in upload["fields"].as_object().unwrap() {
        form = form.text(name.clone(), value.as_str().unwrap().to_owned());
    }
    let part = Part::bytes(pdf).file_name("1-1.pdf").mime_str("application/pdf").unwrap();
    answered(http.post(upload["url"].as_str().unwrap()).multipart(form.part("file", part))).await;
    written(write, id).await;
    // The mail is looked at once before it is posted.
    answered(http.get(format!("{base}/v1/mails/{id}")).bearer_auth(token)).await;
    written(write, id).await;
    answered(http.post(format!("{base}/v1/mails/{id}/confirm")).bearer_auth(token)).await;
    written(write, id).await;
}
