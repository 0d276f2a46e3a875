//! Whether what stands at the service is what was meant.

use super::Letter;
use super::Number;
use super::outcome::Reading;

/// What a document is called at the service: the one correlation the API offers, free of personal data.
pub fn file_name(letter: Number, document: usize) -> String {
    format!("{}-{}.pdf", letter.0, document + 1)
}

impl Letter {
    /// The first thing in which the mail at the service differs from the order.
    pub fn difference(&self, reading: &Reading) -> Option<String> {
        if reading.receiver.as_ref() != Some(&self.order.receiver) {
            return Some("the receiver is another".to_owned());
        }
        let (there, ours) = (reading.files.len(), self.order.documents.len());
        if there != ours {
            return Some(format!("it has {there} documents, not {ours}"));
        }
        let files = reading.files.iter().zip(&self.order.documents).enumerate();
        files.into_iter().find_map(|(index, ((name, pages), document))| {
            let number = index + 1;
            if *name != file_name(self.number, index) {
                Some(format!("document {number} has another file name"))
            } else if *pages != document.pages {
                Some(format!("document {number} has {pages} pages there, {} here", document.pages))
            } else {
                None
            }
        })
    }
}
