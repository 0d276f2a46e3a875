//! What is known of a drop that waits for a person.

use super::{QueueDoubt, ReceiverDoubt, Waiting};

impl Waiting {
    /// The word for the journal and for lists.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Sidecar => "no sidecar came",
            Self::SidecarOfTwo => "a sidecar that may be another PDF's",
            Self::SidecarHandedBack { .. } => "its sidecar was handed back",
            Self::WasThere => "it was there before",
            Self::Book(_) => "the address book can't be used",
            Self::Rules => "the rules kept changing",
            Self::Doubt(_) => "a PDF in doubt",
            Self::Page(_) => "page and envelope may be for different people",
            Self::Print(_) => "it may be printed otherwise than meant",
            Self::Receiver(doubt) => match doubt.as_ref() {
                ReceiverDoubt::FirstTime { .. } => "the folder never posted to the receiver on its page",
                ReceiverDoubt::NotRead { .. } => "its receiver can't be read from its page",
            },
            Self::Queue { look: QueueDoubt::Lost, .. } => {
                "it may have been posted before the records were lost"
            }
            Self::Queue { look: QueueDoubt::Printed, .. } => "what is printed waits for approval",
            Self::Queue { look: QueueDoubt::PrintedAgain, .. } => "its print job came before",
            Self::Queue { look: QueueDoubt::NotProved, .. } => "its mail's sender is not proved",
            Self::Queue { look: QueueDoubt::MailedAgain, .. } => "its mail came before",
            Self::Queue { look: QueueDoubt::MailedTwice, .. } => "it is in its mail twice",
            Self::Queue { look: QueueDoubt::WasInMailbox, .. } => "it was in the mailbox before",
        }
    }

    /// Whether it may be something that was posted before.
    pub fn may_have_been_posted(&self) -> bool {
        match self {
            Self::WasThere
            | Self::Queue {
                look:
                    QueueDoubt::Lost
                    | QueueDoubt::PrintedAgain
                    | QueueDoubt::MailedAgain
                    | QueueDoubt::WasInMailbox,
                ..
            } => true,
            Self::Sidecar
            | Self::SidecarHandedBack { .. }
            | Self::SidecarOfTwo
            | Self::Book(_)
            | Self::Rules
            | Self::Doubt(_)
            | Self::Page(_)
            | Self::Print(_)
            | Self::Receiver(_)
            | Self::Queue {
                look: QueueDoubt::Printed | QueueDoubt::NotProved | QueueDoubt::MailedTwice,
                ..
            } => false,
        }
    }

    /// The same without names of people, for where they must not be shown.
    #[must_use]
    pub fn without_people(&self) -> Self {
        match self {
            Self::Page(doubt) => Self::Page(Box::new(doubt.without_people())),
            Self::Receiver(doubt) => Self::Receiver(Box::new(doubt.without_people())),
            Self::Sidecar
            | Self::SidecarHandedBack { .. }
            | Self::SidecarOfTwo
            | Self::WasThere
            | Self::Book(_)
            | Self::Rules
            | Self::Doubt(_)
            | Self::Print(_)
            | Self::Queue { .. } => self.clone(),
        }
    }
}
