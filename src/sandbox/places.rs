//! The addresses of a sandbox, and the line that shows them.

use serde::Serialize;

use super::world::ClientId;
use crate::base::secret::Secret;

#[derive(Debug, Clone, Serialize)]
pub struct Places {
    pub base_url: String,
    pub auth_url: String,
    pub docs_url: String,
    pub control_url: String,
    pub inbox_url: String,
    pub account_url: String,
    #[serde(skip)]
    pub upload_url: String,
    #[serde(skip)]
    pub download_url: String,
}

impl Places {
    pub fn at(origin: &str) -> Self {
        let place = |path: &str| format!("{origin}{path}");
        Self {
            base_url: origin.to_owned(),
            auth_url: place("/auth"),
            docs_url: place("/docs"),
            control_url: place("/_sandbox"),
            inbox_url: place("/inbox"),
            account_url: place("/account"),
            upload_url: place("/upload"),
            download_url: place("/download"),
        }
    }
}

/// What a client needs to begin. As JSON it is the sandbox's first line on standard output.
#[derive(Debug, Clone)]
pub struct Welcome {
    pub places: Places,
    pub client_id: ClientId,
    /// `None` if the secret was reissued in an earlier run, since only its hash is kept.
    pub client_secret: Option<Secret>,
}

impl Welcome {
    pub fn to_json(&self) -> serde_json::Result<String> {
        #[derive(Serialize)]
        struct Line<'a> {
            #[serde(flatten)]
            places: &'a Places,
            client_id: &'a str,
            client_secret: Option<&'a str>,
        }
        serde_json::to_string(&Line {
            places: &self.places,
            client_id: self.client_id.as_str(),
            client_secret: self.client_secret.as_ref().map(Secret::expose),
        })
    }
}
