//! A whole mailchute in this process, with hot folders: intake, dispatcher and shelf over real files and
//! a sandbox of its own; the clock of both by hand. `asked.rs` beside it has what tests ask of it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use mailchute::base::bells::Bells;
use mailchute::base::clock::{Clock, Pace, Time};
use mailchute::config::Config;
use mailchute::daemon::Run;
use mailchute::loops::dispatch::{Account, Dispatch};
use mailchute::loops::folders::Registry;
use mailchute::loops::intake::Intake;
use mailchute::loops::names::NamesIndexer;
use mailchute::loops::originals::Shelves;
use mailchute::loops::outbox::Outbox;
use mailchute::loops::retention::Retention;
use mailchute::outside::api::{Client, Patience};
use mailchute::outside::hot::Reach;
use mailchute::outside::pdf::Inspector;
use mailchute::outside::spool::Spool;
use mailchute::outside::store::Store;
use mailchute::sandbox::Options;
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::rigs::service::{Service, pdf};

/// Folder `letters`: a book of two customers, else the sidecar.
pub const RULES: &str = "path: ../letters
watch: {poll: 1s}
sender: {postal_code: '1000001', state: 東京都, city: 千代田区, address1: 千代田1-1, name: 株式会社サンプル}
address_book: {file: customers.csv, key: customer, settle: 2s}
rules:
  - name: invoices
    when: {file_name: '^INV-(?<customer>\\d{6})', pages: ..8}
    receiver: {book: '{customer}'}
    shipping: {method: normal, options: [trackable]}
  - name: for everybody
    when: {file_name: '^x'}
    receiver: {book: '000123'}
    shipping: {method: normal}
  - name: sidecars
    when: {file_name: '^side'}
    receiver: sidecar
    shipping: {method: normal}
";

const BOOK: &str = "customer,name,honorific,postal_code,state,city,address1
000123,山田 太郎,様,060-0001,北海道,札幌市中央区,北一条西1-1
000456,株式会社見本,御中,530-0001,大阪府,大阪市北区,梅田1-1-1
";

pub const SIDECAR: &str =
    "receiver: {postal_code: '0600001', state: 北海道, city: 札幌市, address1: 1-1, name: 佐藤}\n";

pub struct Mailroom {
    pub service: Service,
    pub dir: TempDir,
    pub clock: Clock,
    /// How many letters are in hand at once, and how many drops; the usual number if none is given.
    pub at_once: Option<usize>,
    /// How long an answer is waited for.
    pub patience: Duration,
    /// The program whose child counts pages.
    pub counts_pages: PathBuf,
    /// How its folders are reached.
    pub reach: Arc<Reach>,
    pub(super) up: Option<Up>,
}

/// One of the daemon's loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loop {
    Intake,
    Letters,
    Shelves,
    Kept,
    Mails,
    Names,
}

impl Loop {
    pub const ALL: [Self; 6] =
        [Self::Intake, Self::Letters, Self::Shelves, Self::Kept, Self::Mails, Self::Names];
}

pub(super) struct Up {
    outbox: Outbox,
    keeper: Retention,
    pub(super) store: Arc<Store>,
    pub(super) registry: Arc<Registry>,
    dispatch: Dispatch,
    intake: Intake,
    shelves: Shelves,
    names: NamesIndexer,
    pub(super) bells: Bells,
}

impl Mailroom {
    /// With one folder by [`RULES`], enabled and empty.
    pub async fn open() -> Self {
        Self::with(RULES).await
    }

    pub async fn with(rules: &str) -> Self {
        let mut room = Self::closed(rules).await;
        room.start();
        room.settle().await;
        room
    }

    /// More for mailchute.yaml.
    pub fn add_to_main(&self, more: &str) {
        let main = self.dir.path().join("mailchute.yaml");
        let text = std::fs::read_to_string(&main).unwrap();
        std::fs::write(main, format!("{text}{more}")).unwrap();
    }

    /// Not started yet.
    pub async fn closed(rules: &str) -> Self {
        Self::at(Service::start().await, tempfile::tempdir().unwrap(), rules).await
    }

    /// Not started yet, and of today: the real program is to work in it.
    pub async fn of_today(rules: &str) -> Self {
        Self::at(Service::of_today(Options::default()).await, tempfile::tempdir().unwrap(), rules).await
    }

    /// The same, started and empty.
    pub async fn open_today(rules: &str) -> Self {
        let mut room = Self::of_today(rules).await;
        room.start();
        room.settle().await;
        room
    }

    /// Not started yet, with this service and in this directory.
    pub async fn at(service: Service, dir: TempDir, rules: &str) -> Self {
        let answer = service.control(Method::GET, "clock", json!({})).await;
        let now: Value = answer.json().await.unwrap();
        let clock = Clock::starting_at(now["now"].as_str().unwrap().parse().unwrap(), Pace::ByHand);
        let places = &service.welcome.places;
        let main = format!(
            "state: state\naccounts:\n  main:\n    base_url: {}\n    auth_url: {}\n    client_id: \"{}\"\n    \
             client_secret: {{file: main.secret}}\n",
            places.base_url,
            places.auth_url,
            service.welcome.client_id.as_str()
        );
        std::fs::write(dir.path().join("mailchute.yaml"), main).unwrap();
        let secret = dir.path().join("main.secret");
        std::fs::write(&secret, service.secret()).unwrap();
        std::fs::set_permissions(&secret, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        for name in ["folders", "letters"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        std::fs::write(dir.path().join("folders/customers.csv"), BOOK).unwrap();
        std::fs::write(dir.path().join("folders/letters.yaml"), rules).unwrap();
        let counts_pages = PathBuf::from(env!("CARGO_BIN_EXE_mailchute"));
        let mut reach = Reach::of(&counts_pages);
        if std::env::var_os("MAILCHUTE_APART").is_some() {
            reach = reach.always_apart();
        }
        let (patience, reach) = (Duration::from_secs(5), Arc::new(reach));
        Self { service, dir, clock, at_once: None, patience, counts_pages, reach, up: None }
    }

    pub fn config(&self) -> Config {
        Config::read(&self.dir.path().join("mailchute.yaml")).unwrap()
    }

    /// What a daemon of the real program runs with.
    pub fn run(&self) -> Run {
        Run {
            clock: self.clock.clone(),
            after_restore: false,
            may_be_half_saved: false,
            inspector: Inspector::of(&self.counts_pages),
            reload: Arc::default(),
            manager: mailchute::daemon::systemd::Manager::default(),
        }
    }

    pub fn start(&mut self) {
        self.start_with(false);
    }

    pub fn start_with(&mut self, after_restore: bool) {
        let mut config = self.config();
        let account = &config.accounts[0];
        let patience = Patience { call: self.patience, transfer: self.patience, ..Patience::default() };
        let client =
            Client::new(account.places.clone(), account.credentials().unwrap(), patience, self.clock.clone());
        let again =
            Client::new(account.places.clone(), account.credentials().unwrap(), patience, self.clock.clone());
        let clients = BTreeMap::from([(account.name.clone(), again.unwrap())]);
        let accounts = vec![Account::new(account.name.clone(), client.unwrap())];
        let (store, _) = Store::open(&config.state, self.clock.now(), after_restore).unwrap();
        let store = Arc::new(store);
        let spool = Spool::open(&store.home().spool()).unwrap();
        let clock = self.clock.clone();
        let at_once = self.at_once.unwrap_or(8);
        let (bells, retry) = (Bells::default(), config.retry);
        let dispatch =
            Dispatch::new(Arc::clone(&store), spool.clone(), accounts, clock.clone(), retry, at_once, &bells);
        let registry = Arc::new(Registry::new(std::mem::take(&mut config.folders)));
        registry.decided_by(std::mem::take(&mut config.on_disk));
        let inspector = Inspector::of(&self.counts_pages);
        let outbox = Outbox::new(&store, &registry, &clock, inspector.clone(), &mut config)
            .with_patience(Duration::from_millis(500));
        let keeper =
            Retention::new(Arc::clone(&store), Arc::clone(&registry), spool.clone(), clock.clone(), clients);
        let shelves = Shelves::new(Arc::clone(&store), Arc::clone(&registry), clock.clone(), bells.clone());
        let names = NamesIndexer::new(Arc::clone(&store), clock.clone());
        let reach = Arc::clone(&self.reach);
        let intake =
            Intake::new(Arc::clone(&store), spool, Arc::clone(&registry), inspector, reach, clock, &bells);
        let intake = match self.at_once {
            Some(at_once) => intake.at_once(at_once),
            None => intake,
        };
        self.up = Some(Up { outbox, keeper, store, registry, dispatch, intake, shelves, names, bells });
    }

    pub fn stop(&mut self) {
        let Up { outbox, keeper, store, registry, dispatch, intake, shelves, names, .. } =
            self.up.take().unwrap();
        drop((dispatch, intake, registry, outbox, keeper, shelves, names));
        store.close();
    }

    /// The process is gone in the middle of whatever it did; what was only in its memory is lost.
    pub async fn crash(&mut self) {
        let Up { outbox, keeper, store, registry, dispatch, intake, shelves, names, .. } =
            self.up.take().unwrap();
        drop((dispatch, intake, registry, outbox, keeper, shelves, names));
        // What was cut off lets go when it is noticed.
        for _turn in 0..1_000_000 {
            if Arc::strong_count(&store) == 1 {
                return;
            }
            tokio::task::yield_now().await;
        }
        panic!("somebody keeps the records");
    }

    /// One loop has its turn, to its end; when it has more to do.
    pub async fn turn(&mut self, which: Loop) -> Option<Time> {
        let Up { outbox, keeper, dispatch, intake, shelves, names, .. } = self.up.as_mut().unwrap();
        match which {
            Loop::Intake => intake.settle().await.unwrap(),
            Loop::Letters => dispatch.settle().await.unwrap(),
            Loop::Shelves => {
                shelves.tick().await.unwrap();
                shelves.settled().await;
                shelves.tick().await.unwrap()
            }
            Loop::Kept => keeper.tick().await.unwrap(),
            Loop::Mails => outbox.tick().await.unwrap(),
            Loop::Names => {
                // What was begun is done; nothing depends on the rest.
                while names.tick().await.is_some() {}
                None
            }
        }
    }

    /// Intake looks, and the next worker ends, as in the daemon.
    pub async fn takes_one(&mut self) {
        let intake = &mut self.up.as_mut().unwrap().intake;
        intake.tick().await.unwrap();
        intake.joined().await.unwrap();
    }

    /// A new configuration is in force.
    pub fn reload(&mut self) {
        let mut config = self.config();
        let up = self.up.as_ref().unwrap();
        up.registry.replace(std::mem::take(&mut config.folders));
        up.registry.decided_by(std::mem::take(&mut config.on_disk));
        up.outbox.replace(&mut config);
    }

    /// Lets everything happen that can happen now.
    pub async fn settle(&mut self) {
        for _ in 0..4 {
            for which in Loop::ALL {
                self.turn(which).await;
            }
        }
    }

    pub fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.up.as_ref().unwrap().registry)
    }

    pub fn outbox(&self) -> &Outbox {
        &self.up.as_ref().unwrap().outbox
    }

    /// Why intake can't go on.
    pub async fn refused(&mut self) -> String {
        let up = self.up.as_mut().unwrap();
        up.intake.settle().await.unwrap_err().to_string()
    }

    pub async fn pass(&mut self, seconds: i64) {
        self.clock.move_by(TimeDelta::seconds(seconds)).unwrap();
        self.service.advance(&format!("{seconds}s")).await;
        self.settle().await;
    }

    /// Only one loop has its turns meanwhile.
    pub async fn pass_only(&mut self, which: Loop, seconds: i64) {
        for _second in 0..seconds {
            self.clock.move_by(TimeDelta::seconds(1)).unwrap();
            self.turn(which).await;
        }
    }

    /// As long as a drop must be still, seen once before.
    pub async fn settled(&mut self) {
        self.pass(1).await;
        self.pass(5).await;
        self.pass(1).await;
    }

    pub fn hot(&self) -> PathBuf {
        self.dir.path().join("letters")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.hot().join(name)
    }

    pub fn drop(&self, name: &str, pages: usize) {
        std::fs::write(self.path(name), pdf(pages)).unwrap();
    }
}
