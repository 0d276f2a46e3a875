//! The world as it began, for tests that each want an empty one. Only time does not go back.

use super::account::Card;
use super::ids::{ClientId, sha256_hex};
use super::{Due, Key, Reply, World};
use crate::base::secret::Secret;

impl World {
    /// Forgets every mail, every client but this one, and every account but its own. Its tokens stay valid.
    pub(super) fn reset(&mut self, client: &ClientId, secret: Option<&Secret>, card: Card) -> Reply {
        let account = self.clients.get(client).map(|client| client.account.clone());
        let account = account.or_else(|| self.accounts.keys().next().cloned());
        let effects = &mut self.effects;
        effects.begins_anew = true;
        for (id, mail) in std::mem::take(&mut self.mails) {
            effects.discarded.extend(mail.blobs());
            effects.changed.insert(Key::Mail(id));
        }
        effects.changed.extend(self.accounts.keys().cloned().map(Key::Account));
        effects.changed.extend(self.clients.keys().cloned().map(Key::Client));
        effects.changed.extend(self.tokens.keys().cloned().map(Key::Token));
        self.accounts.retain(|id, _| Some(id) == account.as_ref());
        self.clients.retain(|id, _| id == client);
        self.tokens.retain(|_, token| token.client == *client);
        self.due.retain(|(_, due)| match due {
            Due::Mail(_) => false,
            Due::Token(hash) => self.tokens.contains_key(hash),
        });
        for account in self.accounts.values_mut() {
            account.closed_at = None;
            account.card = card;
        }
        if let (Some(client), Some(secret)) = (self.clients.get_mut(client), secret) {
            client.secret_sha256 = sha256_hex(secret.expose().as_bytes());
        }
        Reply::ScreenDone
    }
}
