//! The model's service: the sandbox's own rules, spoken to without HTTP.

use std::sync::Arc;

use chrono::TimeDelta;
use mailchute::base::clock::Time;
use mailchute::base::secret::Secret;
use mailchute::domain::letter::{
    AccountProblem, CancelAnswer, ConfirmAnswer, CreateAnswer, Evidence, Mail, Number, Order, Outcome,
    ReadAnswer, Realm, Trouble, UploadAnswer, file_name,
};
use mailchute::outside::api::wire;
use mailchute::sandbox::world::{
    BlobId, Card, Chosen, ClientId, Code, Credentials, Dice, MailId, Payment, Phase, Received, Reply,
    Request, Signer, Stored, UploadFields, World,
};

/// What the daemon sends, as it stands on the line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Message {
    Create,
    Upload { fields: Vec<(String, String)>, document: usize },
    Read { mail: String },
    Confirm { mail: String },
    Cancel { mail: String },
}

/// How a message fares at the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Treatment {
    Plain,
    /// GET: as it was before the last transition.
    Stale,
    PaymentInProgress,
    Declined,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Service {
    world: Arc<World>,
}

fn dice(word: &str) -> Dice {
    let mut entropy = [0; 32];
    entropy[..word.len()].copy_from_slice(word.as_bytes());
    Dice::new(entropy)
}

/// One account for each realm, each with its card.
pub const REALMS: [&str; 2] = ["one", "two"];

pub fn realm(index: usize) -> Realm {
    Realm(REALMS[index].to_owned())
}

impl Service {
    pub fn new(now: Time) -> Self {
        let mut world = World::new(Signer::drawn(dice("signer")), now);
        for name in REALMS {
            let (reply, _) =
                world.handle(Request::OpenAccount { name: name.into(), card: Card::Ok }, now, dice(name));
            let Reply::AccountOpened(account) = reply else { panic!("{reply:?}") };
            let chosen = Chosen { id: ClientId::new(name), secret: Secret::new("secret") };
            let issue =
                Request::IssueClient { account, name: name.into(), terms_agreed: true, chosen: Some(chosen) };
            world.handle(issue, now, dice(name));
        }
        Self { world: Arc::new(world) }
    }

    pub fn now(&self) -> Time {
        self.world.now()
    }

    pub fn pass(&mut self, time: TimeDelta) {
        let now = self.now() + time;
        Arc::make_mut(&mut self.world).handle(Request::PassTime, now, dice("time"));
    }

    pub fn set_card(&mut self, card: Card) {
        let account = self.account(0);
        let now = self.now();
        Arc::make_mut(&mut self.world).handle(Request::SetCard { account, card }, now, dice("card"));
    }

    pub fn card(&self) -> Card {
        self.world.account(self.account(0).as_str()).unwrap().card
    }

    fn account(&self, realm: usize) -> mailchute::sandbox::world::AccountId {
        self.world.client(REALMS[realm]).unwrap().account.clone()
    }

    pub fn mails(&self) -> impl Iterator<Item = &mailchute::sandbox::world::Mail> {
        self.world.mails_before(None)
    }

    pub fn phase(&self, mail: &str) -> Option<&Phase> {
        self.world.mail(mail).map(|mail| &mail.phase)
    }

    /// How many mails were ever confirmed.
    pub fn confirmed(&self) -> usize {
        let ever = |phase: &Phase| match phase {
            Phase::Confirmed { .. } | Phase::Cancelled { .. } | Phase::Shipped { .. } => true,
            Phase::Pending | Phase::Deleted { .. } => false,
        };
        self.mails().filter(|mail| ever(&mail.phase)).count()
    }

    /// Whether paper is on its way, or will be if nobody cancels.
    pub fn posts(&self) -> bool {
        self.mails().any(|mail| matches!(mail.phase, Phase::Confirmed { .. } | Phase::Shipped { .. }))
    }

    /// One call under an account, with a token that leaves no trace.
    pub fn call(&mut self, realm: usize, order: &Order, message: &Message, treatment: Treatment) -> Reply {
        let now = self.now();
        let world = Arc::make_mut(&mut self.world);
        let credentials = vec![Credentials { id: REALMS[realm].into(), secret: Secret::new("secret") }];
        let ask = Request::IssueToken {
            credentials: credentials.clone(),
            grant_type: Some("client_credentials".into()),
            scope: Some("account:read mails:read mails:write".into()),
        };
        let (Reply::Token { secret, .. }, _) = world.handle(ask, now, dice("token")) else {
            panic!("no token");
        };
        let bearer = Some(secret.clone());
        let request = match message {
            Message::Create => Request::CreateMail { bearer, order: Ok(Box::new(create_body(order))) },
            Message::Upload { fields, document } => Request::Upload {
                fields: UploadFields(fields.clone()),
                file: Received::Kept(Stored {
                    blob: BlobId::new(format!("blob {document}")),
                    size: order.documents[*document].size,
                    sha256: order.documents[*document].sha256.clone(),
                    reading: mailchute::sandbox::world::Reading::Pages(order.documents[*document].pages),
                }),
            },
            Message::Read { mail } => {
                Request::ReadMail { bearer, mail: MailId::new(mail), stale: treatment == Treatment::Stale }
            }
            Message::Confirm { mail } => Request::ConfirmMail {
                bearer,
                mail: MailId::new(mail),
                payment: match treatment {
                    Treatment::Plain | Treatment::Stale => Payment::AsTheCardSays,
                    Treatment::PaymentInProgress => Payment::InProgress,
                    Treatment::Declined => Payment::Declined,
                },
            },
            Message::Cancel { mail } => Request::CancelMail { bearer, mail: MailId::new(mail) },
        };
        let count = world.mails_before(None).count();
        let (reply, _) = world.handle(request, now, dice(&format!("call {count}")));
        world.handle(Request::RevokeToken { credentials, token: Some(secret) }, now, dice("revoke"));
        reply
    }
}

/// The order as the service reads it. (The client's own translation is tested over HTTP.)
fn create_body(order: &Order) -> wire::CreateMail {
    let address = |address: &mailchute::domain::address::Address, honorific: Option<&String>| wire::Address {
        postal_code: address.postal_code.clone(),
        state: address.state.clone(),
        city: address.city.clone(),
        address1: address.address1.clone(),
        name: address.name.clone(),
        honorific: honorific.cloned(),
    };
    let files = order.documents.iter().enumerate().map(|(index, document)| wire::File {
        file_name: file_name(Number(1), index),
        page_count: document.pages,
        paper_size: "a4".into(),
        color: "grayscale".into(),
        duplex: "double".into(),
        staple: None,
        bind: None,
    });
    wire::CreateMail {
        shipping_method: wire::ShippingMethod::LetterpackLite,
        shipping_options: vec![],
        sender_address: address(&order.sender, None),
        receiver_address: address(&order.receiver.address, Some(&order.receiver.honorific)),
        reply_letterpack: None,
        files: files.collect(),
    }
}

/// What the daemon makes of a reply: the table of docs/design/exactly-once.md, and where to upload.
pub fn outcome(
    message: &Message,
    reply: Reply,
    evidence: Evidence,
    made: impl FnOnce(&mailchute::sandbox::world::Created) -> Mail,
) -> Outcome {
    let code = |reply: &Reply| match reply {
        Reply::Problem(problem) => Some(problem.code),
        _other => None,
    };
    let unknown = || Outcome::Trouble(Trouble::Unknown("undocumented".into()));
    match (message, code(&reply), reply) {
        (Message::Create, _, Reply::Created(created)) => {
            Outcome::Create(CreateAnswer::Made(Box::new(made(&created))))
        }
        (Message::Create, Some(Code::CardNotRegistered), _) => {
            Outcome::Trouble(Trouble::Account(AccountProblem::CardNotRegistered))
        }
        (Message::Upload { document, .. }, _, Reply::Stored) => {
            Outcome::Upload(UploadAnswer::Taken { document: *document })
        }
        (Message::Upload { .. }, _, Reply::StoreError(error)) => {
            Outcome::Upload(UploadAnswer::Refused(format!("{error:?}")))
        }
        (Message::Read { .. }, _, Reply::Mail(mail)) => {
            Outcome::Read(ReadAnswer::Found(Box::new(mailchute::outside::api::reading(*mail))))
        }
        (Message::Read { .. }, Some(Code::MailNotFound), _) => Outcome::Read(ReadAnswer::NotFound(evidence)),
        (Message::Confirm { .. }, Some(Code::MailAlreadyConfirmed), _)
        | (Message::Confirm { .. }, _, Reply::Done) => Outcome::Confirm(ConfirmAnswer::Confirmed),
        (Message::Confirm { .. }, Some(Code::PaymentInProgress), _) => {
            Outcome::Confirm(ConfirmAnswer::PaymentInProgress)
        }
        (Message::Confirm { .. }, Some(Code::CardDeclined), _) => {
            Outcome::Confirm(ConfirmAnswer::Declined(evidence))
        }
        (Message::Confirm { .. }, Some(Code::MailNotFound), _) => {
            Outcome::Confirm(ConfirmAnswer::NotFound(evidence))
        }
        (Message::Confirm { .. }, Some(Code::FileNotUploaded), _) => {
            Outcome::Confirm(ConfirmAnswer::FilesMissing)
        }
        (Message::Cancel { .. }, Some(Code::MailAlreadyCancelled), _)
        | (Message::Cancel { .. }, _, Reply::Done) => Outcome::Cancel(CancelAnswer::Cancelled),
        (Message::Cancel { .. }, Some(Code::MailNotCancellable), _) => {
            Outcome::Cancel(CancelAnswer::NotCancellable)
        }
        (Message::Cancel { .. }, Some(Code::CancellationWindowExpired), _) => {
            Outcome::Cancel(CancelAnswer::WindowExpired)
        }
        (Message::Cancel { .. }, Some(Code::MailNotFound), _) => {
            Outcome::Cancel(CancelAnswer::NotFound(evidence))
        }
        (_, _, _) => unknown(),
    }
}
