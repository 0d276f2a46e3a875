//! A dispatcher in this process, its spool and records on a real disk, against a sandbox of its own;
//! both clocks by hand. `check` asserts what must be true at the end of every such test.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::TimeDelta;
use mailchute::base::bells::Bells;
use mailchute::base::clock::{Clock, Pace, Time};
use mailchute::base::secret::Secret;
use mailchute::domain::letter::{Command, Document, Fact, Letter, Number, Order, Retry};
use mailchute::loops::dispatch::{Account, Dispatch};
use mailchute::outside::api::{Client, Credentials, Patience, Places};
use mailchute::outside::spool::{Spool, Ulid, sha256_of};
use mailchute::outside::store::{Desk, LetterRow, Report, Store};
use mailchute::sandbox::Options;
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::proofs::model::order;
use crate::rigs::nasty::Nasty;
use crate::rigs::service::{ALL_SCOPES, Service, pdf};

pub struct Office {
    pub service: Service,
    pub dir: TempDir,
    pub clock: Clock,
    /// Whose credentials are used, and under which base address.
    pub credentials: (String, String),
    pub at_once: usize,
    pub accounts: Vec<String>,
    up: Option<(Arc<Store>, Dispatch)>,
}

impl Office {
    pub async fn open() -> Self {
        Self::with(Service::start().await).await
    }

    pub async fn with_service(options: Options) -> Self {
        Self::with(Service::with(options).await).await
    }

    /// The real program is to work for it.
    pub async fn of_today(options: Options) -> Self {
        Self::with(Service::of_today(options).await).await
    }

    /// With something between it and its service.
    pub async fn behind(nasty: &Nasty) -> Self {
        Self::with(Service::behind(nasty).await).await
    }

    async fn with(service: Service) -> Self {
        let answer = service.control(Method::GET, "clock", json!({})).await;
        let now: Value = answer.json().await.unwrap();
        let clock = Clock::starting_at(now["now"].as_str().unwrap().parse().unwrap(), Pace::ByHand);
        let credentials = (service.welcome.client_id.to_string(), service.secret().to_owned());
        let dir = tempfile::tempdir().unwrap();
        let mut office = Self {
            service,
            dir,
            clock,
            credentials,
            at_once: 8,
            accounts: vec!["main".to_owned()],
            up: None,
        };
        office.start();
        office
    }

    pub fn client(&self) -> Client {
        let places = &self.service.welcome.places;
        let places = Places::new(&places.base_url, &places.auth_url).unwrap();
        let (id, secret) = &self.credentials;
        let credentials = Credentials { client_id: id.clone(), client_secret: Secret::new(secret) };
        let call = std::time::Duration::from_secs(2);
        let patience = Patience { call, transfer: call, ..Patience::default() };
        Client::new(places, credentials, patience, self.clock.clone()).unwrap()
    }

    /// Starts the dispatcher, if it is not there; what recovery had to do.
    pub fn start(&mut self) -> Report {
        self.start_after(false)
    }

    pub fn start_after(&mut self, restore: bool) -> Report {
        let (store, report) = Store::open(self.dir.path(), self.clock.now(), restore).unwrap();
        let store = Arc::new(store);
        let spool = Spool::open(&store.home().spool()).unwrap();
        let accounts = self.accounts.iter().map(|name| Account::new(name.clone(), self.client())).collect();
        let (clock, retry) = (self.clock.clone(), Retry::default());
        let bells = Bells::default();
        let dispatch = Dispatch::new(Arc::clone(&store), spool, accounts, clock, retry, self.at_once, &bells);
        self.up = Some((store, dispatch));
        report
    }

    /// The process is gone, with everything that was only in its memory.
    pub fn stop(&mut self) {
        let (store, dispatch) = self.up.take().unwrap();
        drop(dispatch);
        store.close();
    }

    pub fn restart(&mut self) -> Report {
        self.stop();
        self.start()
    }

    /// Credentials of an account of somebody else.
    pub async fn other_account(&self) -> (String, String) {
        let opened = self.service.control(Method::POST, "accounts", json!({"name": "other"})).await;
        let account: Value = opened.json().await.unwrap();
        let body = json!({"account": account["account"], "name": "x", "agree_to_terms": true});
        let issued = self.service.control(Method::POST, "clients", body).await;
        let client: Value = issued.json().await.unwrap();
        let text = |key: &str| client[key].as_str().unwrap().to_owned();
        (text("client_id"), text("client_secret"))
    }

    /// The account of the running dispatcher.
    pub fn account(&self) -> Arc<Account> {
        self.up.as_ref().unwrap().1.accounts().remove(0)
    }

    pub fn spool(&self) -> Spool {
        Spool::open(&self.dir.path().join("spool")).unwrap()
    }

    pub fn desk(&self) -> Desk {
        Desk::open(self.dir.path()).unwrap()
    }

    /// A letter of documents with so many pages each.
    pub fn submit(&self, pages: &[usize]) -> Ulid {
        self.submit_as(pages, |_| {})
    }

    pub fn submit_as(&self, pages: &[usize], alter: impl FnOnce(&mut Order)) -> Ulid {
        let bytes: Vec<Vec<u8>> = pages.iter().map(|pages| pdf(*pages)).collect();
        let mut order = order(0);
        order.documents = bytes
            .iter()
            .zip(pages)
            .map(|(bytes, pages)| Document {
                size: bytes.len() as u64,
                pages: u32::try_from(*pages).unwrap(),
                sha256: sha256_of(bytes),
                ..crate::proofs::model::order(1).documents.remove(0)
            })
            .collect();
        alter(&mut order);
        let ulid = Ulid::new(self.clock.now()).unwrap();
        self.spool().put(&ulid, &order, &bytes).unwrap();
        ulid
    }

    /// A letter of one document, whatever it is, said to have one page.
    pub fn submit_bytes(&self, bytes: &[u8]) -> Ulid {
        let mut order = order(1);
        order.documents[0].size = bytes.len() as u64;
        order.documents[0].sha256 = sha256_of(bytes);
        let ulid = Ulid::new(self.clock.now()).unwrap();
        self.spool().put(&ulid, &order, &[bytes.to_vec()]).unwrap();
        ulid
    }

    /// Lets everything happen that can happen now; when there will be more.
    pub async fn settle(&mut self) -> Option<Time> {
        self.up.as_mut().unwrap().1.settle().await.unwrap()
    }

    /// The dispatcher looks, and the next worker ends.
    pub async fn carries_one(&mut self) {
        let dispatch = &mut self.up.as_mut().unwrap().1;
        dispatch.tick().await.unwrap();
        dispatch.joined().await.unwrap();
    }

    pub async fn pass(&mut self, minutes: i64) {
        self.clock.move_by(TimeDelta::minutes(minutes)).unwrap();
        self.service.advance(&format!("{minutes}m")).await;
        self.settle().await;
    }

    /// From one thing due to the next, until so much time has gone by or nothing is left to do.
    pub async fn go_on_for(&mut self, time: TimeDelta) {
        let end = self.clock.now() + time;
        while let Some(next) = self.settle().await.filter(|next| *next <= end) {
            let step = (next - self.clock.now()).max(TimeDelta::milliseconds(1));
            self.clock.move_by(step).unwrap();
            self.service.advance(&format!("{}ms", step.num_milliseconds())).await;
        }
    }

    pub fn order(&self, number: u64, command: Command) -> i64 {
        self.desk().order(Number(number), command, self.clock.now()).unwrap()
    }

    /// Orders, lets it happen, and gives the answer.
    pub async fn ask(&mut self, number: u64, command: Command) -> String {
        let order = self.order(number, command);
        self.settle().await;
        let answer = self.desk().answer(order).unwrap().unwrap();
        if answer.refused { format!("no: {}", answer.text) } else { answer.text }
    }

    pub fn letter(&self, number: u64) -> Letter {
        self.desk().letter(Number(number)).unwrap().unwrap()
    }

    pub fn row(&self, number: u64) -> LetterRow {
        self.desk().row(Number(number)).unwrap().unwrap()
    }

    pub fn state(&self, number: u64) -> &'static str {
        self.letter(number).state.word()
    }

    /// The names of a letter's facts.
    pub fn facts(&self, number: u64) -> Vec<&'static str> {
        let history = self.desk().history(Number(number)).unwrap();
        history.iter().map(|(_, fact)| fact.word()).collect()
    }

    pub fn history(&self, number: u64) -> Vec<Fact> {
        let history = self.desk().history(Number(number)).unwrap();
        history.into_iter().map(|(_, fact)| fact).collect()
    }

    pub fn states(&self) -> BTreeMap<String, usize> {
        let rows = self.desk().letters(None, None, 1000).unwrap();
        rows.into_iter().fold(BTreeMap::new(), |mut states, row| {
            *states.entry(row.state).or_default() += 1;
            states
        })
    }

    /// Every mail of the service: its letter's number and how often each thing happened to it.
    pub async fn mails(&self) -> BTreeMap<String, (u64, BTreeMap<String, usize>)> {
        let url = format!("{}/ledger", self.service.welcome.places.control_url);
        let ledger: Value = self.service.http.get(url).send().await.unwrap().json().await.unwrap();
        let mut mails: BTreeMap<String, (u64, BTreeMap<String, usize>)> = BTreeMap::new();
        for entry in ledger["entries"].as_array().unwrap() {
            let Some(mail) = entry["mail"].as_str() else { continue };
            let (_, events) = mails.entry(mail.to_owned()).or_default();
            *events.entry(entry["event"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        let id = self.service.welcome.client_id.to_string();
        let token = self.service.token_for(&id, self.service.secret(), ALL_SCOPES).await;
        for (mail, (letter, _)) in &mut mails {
            let request = self.service.plain(Method::GET, &format!("/v1/mails/{mail}")).bearer_auth(&token);
            let shown: Value = request.send().await.unwrap().json().await.unwrap();
            // What is deleted shows nothing, and is nobody's any more.
            let name = shown["contents"][0]["file_name"].as_str().unwrap_or("0-");
            *letter = name.split('-').next().unwrap().parse().unwrap();
        }
        mails
    }

    /// No letter is posted twice, what we say of each is what the service says, and the records agree.
    pub async fn check(&self) {
        let findings = self.desk().audit().unwrap();
        assert_eq!(findings.problems, Vec::<String>::new());
        let mut posted: BTreeMap<u64, usize> = BTreeMap::new();
        for (mail, (letter, events)) in self.mails().await {
            let count = |event: &str| events.get(event).copied().unwrap_or_default();
            assert!(
                count("authorized") <= 1 && count("charged") <= 1,
                "{mail} of letter {letter}: {events:?}"
            );
            *posted.entry(letter).or_default() +=
                count("authorized") - count("released").min(count("authorized"));
        }
        for row in self.desk().letters(None, None, 1000).unwrap() {
            let letter = self.letter(row.letter.0);
            let times = posted.get(&row.letter.0).copied().unwrap_or_default();
            assert!(times <= 1, "letter {} is posted {times} times", row.letter);
            let claims = letter.state.claims_nothing_posted();
            assert!(
                !claims || times == 0,
                "letter {} is posted and said not to be: {:?}",
                row.letter,
                letter.state
            );
            if matches!(row.state.as_str(), "confirmed" | "shipped") {
                assert_eq!(times, 1, "letter {} is said to be posted", row.letter);
            }
        }
    }
}
