//! Whatever is called in whatever order, with the clock moved at will, the world keeps its promises.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use mailchute::base::clock::Time;
use mailchute::base::secret::Secret;
use mailchute::outside::api::wire::CreateMail;
use mailchute::sandbox::world::{
    AccountId, BlobId, Card, Code, ContentId, Dice, Effects, Event, Key, MailId, Payment, Phase, Reading,
    Received, Record, Reply, Request, Signer, Stored, UploadFields, World,
};
use proptest::prelude::*;

use crate::rigs::service::{file, letter_of};

/// One thing that is done; numbers pick among what exists.
#[derive(Debug, Clone)]
enum Act {
    Create {
        account: usize,
        files: usize,
    },
    Upload {
        mail: usize,
        file: usize,
        pages: u32,
    },
    /// Every file of a mail, as declared.
    UploadAll {
        mail: usize,
    },
    Confirm {
        by: By,
        mail: usize,
        payment: u8,
    },
    Cancel {
        by: By,
        mail: usize,
    },
    Read {
        by: By,
        mail: usize,
        stale: bool,
    },
    Pdf {
        by: By,
        mail: usize,
        file: usize,
    },
    Pack {
        mail: usize,
    },
    SetCard {
        account: usize,
        card: u8,
    },
    Wait {
        seconds: i64,
    },
    Reload,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Owner,
    Stranger,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let (account, mail, file) = (0..2_usize, 0..6_usize, 0..2_usize);
    let by = || prop_oneof![6 => Just(By::Owner), 1 => Just(By::Stranger)];
    let wait = prop_oneof![
        6 => 0..60_i64, 2 => 250..310_i64, 1 => 1700..1900_i64, 1 => 3500..3700_i64, 1 => 80_000..500_000_i64
    ];
    let act = prop_oneof![
        3 => (account.clone(), 1..3_usize).prop_map(|(account, files)| Act::Create { account, files }),
        2 => (mail.clone(), file.clone(), 1..3_u32).prop_map(|(mail, file, pages)| Act::Upload { mail, file, pages }),
        5 => mail.clone().prop_map(|mail| Act::UploadAll { mail }),
        5 => (by(), mail.clone(), 0..9_u8).prop_map(|(by, mail, payment)| Act::Confirm { by, mail, payment }),
        1 => (by(), mail.clone()).prop_map(|(by, mail)| Act::Cancel { by, mail }),
        1 => (by(), mail.clone(), any::<bool>()).prop_map(|(by, mail, stale)| Act::Read { by, mail, stale }),
        1 => (by(), mail.clone(), file).prop_map(|(by, mail, file)| Act::Pdf { by, mail, file }),
        1 => mail.prop_map(|mail| Act::Pack { mail }),
        1 => (account, 0..12_u8).prop_map(|(account, card)| Act::SetCard { account, card }),
        3 => wait.prop_map(|seconds| Act::Wait { seconds }),
        1 => Just(Act::Reload),
    ];
    prop::collection::vec(act, 1..80)
}

/// A mail, its owner, and its targets.
type Made = (MailId, usize, Vec<(ContentId, UploadFields)>);

struct Stage {
    world: World,
    now: Time,
    thrown: u64,
    accounts: Vec<(AccountId, Secret)>,
    /// Every mail ever made, with its owner and its targets.
    mails: Vec<Made>,
    /// What was stored for each mail when it was confirmed.
    sealed: BTreeMap<MailId, Vec<Stored>>,
    /// What each mail has been through, as the ledger tells it.
    history: BTreeMap<MailId, Vec<Event>>,
    /// Documents that were given up.
    discarded: Vec<BlobId>,
}

impl Stage {
    fn new() -> Self {
        let now: Time = "2026-11-20T03:00:00Z".parse().unwrap();
        let world = World::new(Signer::drawn(Dice::new([7; 32])), now);
        let mut stage = Self {
            world,
            now,
            thrown: 0,
            accounts: Vec::new(),
            mails: Vec::new(),
            sealed: BTreeMap::new(),
            history: BTreeMap::new(),
            discarded: Vec::new(),
        };
        for name in ["one", "two"] {
            let Reply::AccountOpened(account) =
                stage.call(Request::OpenAccount { name: name.into(), card: Card::Ok })
            else {
                panic!("no account");
            };
            stage.accounts.push((account, Secret::new("")));
        }
        stage
    }

    fn call(&mut self, request: Request) -> Reply {
        self.thrown += 1;
        let mut entropy = [0; 32];
        entropy[..8].copy_from_slice(&self.thrown.to_be_bytes());
        let (reply, effects) = self.world.handle(request, self.now, Dice::new(entropy));
        self.digest(effects);
        reply
    }

    fn digest(&mut self, effects: Effects) {
        for entry in effects.entries {
            self.history.entry(entry.mail.unwrap_or_else(|| MailId::new(""))).or_default().push(entry.event);
        }
        self.discarded.extend(effects.discarded);
    }

    /// A fresh token for an account, through a client made for it.
    fn bearer(&mut self, account: usize) -> Secret {
        if self.accounts[account].1.expose().is_empty() {
            let issue = Request::IssueClient {
                account: self.accounts[account].0.clone(),
                name: "client".into(),
                terms_agreed: true,
                chosen: None,
            };
            let Reply::ClientIssued { id, secret } = self.call(issue) else { panic!("no client") };
            self.accounts[account].1 = Secret::new(format!("{id}\n{}", secret.expose()));
        }
        let (id, secret) = self.accounts[account].1.expose().split_once('\n').unwrap();
        let credentials =
            vec![mailchute::sandbox::world::Credentials { id: id.to_owned(), secret: Secret::new(secret) }];
        let ask = Request::IssueToken {
            credentials,
            grant_type: Some("client_credentials".into()),
            scope: Some("mails:read mails:write".into()),
        };
        let Reply::Token { secret, .. } = self.call(ask) else { panic!("no token") };
        secret
    }

    fn bearer_of(&mut self, by: By, owner: usize) -> Secret {
        self.bearer(if by == By::Owner { owner } else { 1 - owner })
    }

    fn mail(&self, index: usize) -> Option<Made> {
        (!self.mails.is_empty()).then(|| self.mails[index % self.mails.len()].clone())
    }

    fn act(&mut self, act: &Act) {
        match act {
            Act::Create { account, files } => self.create(*account, *files),
            Act::Upload { mail, file, pages } => self.upload(*mail, *file, *pages),
            Act::UploadAll { mail } => (0..2).for_each(|file| self.upload(*mail, file, 1)),
            Act::Confirm { by, mail, payment } => self.confirm(*by, *mail, *payment),
            Act::Cancel { by, mail } => {
                let Some((id, owner, _)) = self.mail(*mail) else { return };
                let bearer = Some(self.bearer_of(*by, owner));
                let reply = self.call(Request::CancelMail { bearer, mail: id });
                not_leaked(*by, &reply);
            }
            Act::Read { by, mail, stale } => {
                let Some((id, owner, _)) = self.mail(*mail) else { return };
                let bearer = Some(self.bearer_of(*by, owner));
                let reply = self.call(Request::ReadMail { bearer, mail: id, stale: *stale });
                not_leaked(*by, &reply);
            }
            Act::Pdf { by, mail, file } => {
                let Some((id, owner, contents)) = self.mail(*mail) else { return };
                let (bearer, content) =
                    (Some(self.bearer_of(*by, owner)), contents[file % contents.len()].0.clone());
                let reply = self.call(Request::ReadPdf { bearer, mail: id, content });
                not_leaked(*by, &reply);
            }
            Act::Pack { mail } => {
                let Some((id, ..)) = self.mail(*mail) else { return };
                self.call(Request::BeginPacking { mail: id });
            }
            Act::SetCard { account, card } => {
                let card = match card {
                    0 => Card::Declining,
                    1 => Card::None,
                    _ => Card::Ok,
                };
                self.call(Request::SetCard { account: self.accounts[*account].0.clone(), card });
            }
            Act::Wait { seconds } => {
                self.now += TimeDelta::seconds(*seconds);
                self.call(Request::PassTime);
            }
            Act::Reload => self.reload(),
        }
        self.promises_hold();
    }

    fn create(&mut self, account: usize, files: usize) {
        let files: Vec<_> = (0..files).map(|n| file(&format!("{n}.pdf"), 1)).collect();
        let order: CreateMail = serde_json::from_value(letter_of(&files)).unwrap();
        let bearer = Some(self.bearer(account));
        if let Reply::Created(created) = self.call(Request::CreateMail { bearer, order: Ok(Box::new(order)) })
        {
            let contents = created.contents.into_iter().map(|content| (content.id, content.fields));
            self.mails.push((created.id, account, contents.collect()));
        }
    }

    fn upload(&mut self, mail: usize, file: usize, pages: u32) {
        let Some((_, _, contents)) = self.mail(mail) else { return };
        let fields = contents[file % contents.len()].1.clone();
        let blob = BlobId::new(format!("b{}", self.thrown));
        let stored =
            Stored { sha256: format!("hash of {blob}"), blob, size: 10, reading: Reading::Pages(pages) };
        self.call(Request::Upload { fields, file: Received::Kept(stored) });
    }

    fn confirm(&mut self, by: By, mail: usize, payment: u8) {
        let Some((id, owner, _)) = self.mail(mail) else { return };
        let payment = match payment {
            0 => Payment::InProgress,
            1 => Payment::Declined,
            _ => Payment::AsTheCardSays,
        };
        let bearer = Some(self.bearer_of(by, owner));
        let reply = self.call(Request::ConfirmMail { bearer, mail: id.clone(), payment });
        not_leaked(by, &reply);
        if matches!(reply, Reply::Done) {
            let contents = &self.world.mail(id.as_str()).unwrap().contents;
            let stored = contents.iter().map(|content| content.upload.clone().unwrap()).collect();
            assert!(self.sealed.insert(id, stored).is_none(), "confirmed twice");
        }
    }

    /// Everything is put into a new world from its records, as after a restart.
    fn reload(&mut self) {
        let mut world = World::new(self.world.signer().clone(), self.world.now());
        let accounts = self.world.accounts().map(|account| Key::Account(account.id.clone()));
        let clients = self.accounts.iter().flat_map(|(account, _)| self.world.clients_of(account));
        let clients = clients.map(|client| Key::Client(client.id.clone()));
        let mails = self.world.mails_before(None).map(|mail| Key::Mail(mail.id.clone()));
        let keys: Vec<Key> = accounts.chain(clients).chain(mails).collect();
        for key in keys {
            let json = |record: Record| match record {
                Record::Account(it) => Record::Account(again(&it)),
                Record::Client(it) => Record::Client(again(&it)),
                Record::Token(it) => Record::Token(again(&it)),
                Record::Mail(it) => Record::Mail(again(&it)),
            };
            world.restore(json(self.world.record(&key).unwrap()));
        }
        self.world = world;
    }

    fn promises_hold(&self) {
        for (id, events) in &self.history {
            let count = |wanted: fn(&Event) -> bool| events.iter().filter(|event| wanted(event)).count();
            let confirmed = count(|event| matches!(event, Event::Authorized { .. }));
            let charged = count(|event| matches!(event, Event::Charged { .. }));
            let shipped = count(|event| matches!(event, Event::Shipped { .. }));
            let released = count(|event| matches!(event, Event::Released { .. }));
            let deleted = count(|event| matches!(event, Event::Deleted { .. }));
            assert!(confirmed <= 1 && charged <= 1 && shipped <= 1 && released <= 1 && deleted <= 1, "{id}");
            assert!(shipped <= confirmed, "{id} shipped without confirmation");
            assert!(charged <= shipped, "{id} charged without shipment");
            assert!(released + shipped <= 1, "{id} was cancelled and shipped");
            assert!(released <= confirmed && deleted + confirmed <= 1, "{id}");
        }
        for (id, stored) in &self.sealed {
            let mail = self.world.mail(id.as_str()).unwrap();
            let now: Vec<_> = mail.contents.iter().map(|content| content.upload.clone().unwrap()).collect();
            assert_eq!(&now, stored, "a sealed PDF of {id} changed");
            for stored in stored {
                assert!(!self.discarded.contains(&stored.blob), "a sealed PDF of {id} was discarded");
            }
        }
        for mail in self.world.mails_before(None) {
            let overdue = mail.phase == Phase::Pending && self.now >= mail.confirm_by();
            assert!(!overdue, "{} is overdue", mail.id);
        }
        let known: Vec<_> = self.world.blobs().collect();
        assert!(self.discarded.iter().all(|blob| !known.contains(&blob)), "a discarded PDF is still known");
    }
}

/// Whoever is not the owner learns nothing but 404.
fn not_leaked(by: By, reply: &Reply) {
    if by == By::Stranger {
        let hidden = matches!(reply, Reply::Problem(problem) if problem.code == Code::MailNotFound);
        assert!(hidden, "a stranger was told {reply:?}");
    }
}

fn again<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_sequence_breaks_a_promise(acts in acts()) {
        let mut stage = Stage::new();
        for act in &acts {
            stage.act(act);
        }
    }
}

#[test]
fn the_sequences_reach_every_phase() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen = BTreeMap::new();
    for _ in 0..400 {
        let mut stage = Stage::new();
        for act in acts().new_tree(&mut runner).unwrap().current() {
            stage.act(&act);
        }
        for event in stage.history.values().flatten() {
            *seen
                .entry(serde_json::to_value(event).unwrap()["event"].as_str().unwrap().to_owned())
                .or_insert(0) += 1;
        }
    }
    for event in
        ["created", "uploaded", "authorized", "released", "deleted", "shipped", "charged", "packing_began"]
    {
        assert!(seen.get(event).copied().unwrap_or(0) > 10, "{event} hardly ever happened: {seen:?}");
    }
}
