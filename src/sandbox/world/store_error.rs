//! The refusals of the upload and download targets, as values. `upload.rs` writes their XML.

use crate::base::clock::Time;

/// What is wrong with the form itself, before its signature is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormError {
    NotMultipart,
    Malformed,
    LengthRequired,
    FieldsTooLarge { most: usize },
    Files { found: usize },
    FieldAfterFile(String),
    FieldTwice(String),
    MissingField(&'static str),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreError {
    Form(FormError),
    UnknownAccessKey(String),
    SignatureDoesNotMatch { access_key: String, signed: String, provided: String },
    InvalidPolicy(String),
    AccessDenied(String),
    TooLarge { size: u64, most: u64 },
    TooSmall { size: u64, least: u64 },
    RequestExpired { seconds: i64, expires: Time, now: Time },
    NoSuchKey,
    MethodNotAllowed,
    SlowDown,
    Timeout,
    Internal,
}

impl From<FormError> for StoreError {
    fn from(error: FormError) -> Self {
        Self::Form(error)
    }
}

impl FormError {
    fn status(&self) -> u16 {
        match self {
            Self::NotMultipart => 412,
            Self::LengthRequired => 411,
            Self::Malformed
            | Self::FieldsTooLarge { .. }
            | Self::Files { .. }
            | Self::FieldAfterFile(_)
            | Self::FieldTwice(_)
            | Self::MissingField(_) => 400,
        }
    }

    fn parts(&self) -> Parts {
        match self {
            Self::NotMultipart => (
                "PreconditionFailed",
                "At least one of the pre-conditions you specified did not hold".into(),
                vec![("Condition", "Bucket POST must be of the enclosure-type multipart/form-data".into())],
            ),
            Self::Malformed => (
                "MalformedPOSTRequest",
                "The body of your POST request is not well-formed multipart/form-data.".into(),
                vec![],
            ),
            Self::LengthRequired => {
                ("MissingContentLength", "You must provide the Content-Length HTTP header.".into(), vec![])
            }
            Self::FieldsTooLarge { most } => (
                "MaxPostPreDataLengthExceeded",
                "Your POST request fields preceeding the upload file was too large.".into(),
                vec![("MaxPostPreDataLengthBytes", most.to_string())],
            ),
            Self::Files { found } => {
                argument("POST requires exactly one file upload per request.", "file", found)
            }
            Self::FieldAfterFile(name) => argument("No field may follow the file.", name, &""),
            Self::FieldTwice(name) => argument("A field may be given only once.", name, &""),
            Self::MissingField(name) => argument(
                &format!(
                    "Bucket POST must contain a field named '{name}'.  If it is specified, please check the order of the fields."
                ),
                name,
                &"",
            ),
        }
    }
}

impl StoreError {
    pub fn policy(why: &str) -> Self {
        Self::AccessDenied(format!("Invalid according to Policy: {why}"))
    }

    pub fn status(&self) -> u16 {
        match self {
            Self::Form(error) => error.status(),
            Self::InvalidPolicy(_) | Self::TooLarge { .. } | Self::TooSmall { .. } | Self::Timeout => 400,
            Self::UnknownAccessKey(_)
            | Self::SignatureDoesNotMatch { .. }
            | Self::AccessDenied(_)
            | Self::RequestExpired { .. } => 403,
            Self::NoSuchKey => 404,
            Self::MethodNotAllowed => 405,
            Self::SlowDown => 503,
            Self::Internal => 500,
        }
    }

    /// `Code`, `Message`, and the elements that follow them.
    pub fn elements(&self) -> Vec<(&'static str, String)> {
        let (code, message, more) = self.parts();
        let mut elements = vec![("Code", code.to_owned()), ("Message", message)];
        elements.extend(more);
        elements
    }

    fn parts(&self) -> Parts {
        match self {
            Self::UnknownAccessKey(key) => (
                "InvalidAccessKeyId",
                "The AWS Access Key Id you provided does not exist in our records.".into(),
                vec![("AWSAccessKeyId", key.clone())],
            ),
            Self::SignatureDoesNotMatch { access_key, signed, provided } => mismatch(access_key, signed, provided),
            Self::InvalidPolicy(why) => ("InvalidPolicyDocument", format!("Invalid Policy: {why}"), vec![]),
            Self::AccessDenied(message) => ("AccessDenied", message.clone(), vec![]),
            Self::TooLarge { size, most } => (
                "EntityTooLarge",
                "Your proposed upload exceeds the maximum allowed size".into(),
                vec![("ProposedSize", size.to_string()), ("MaxSizeAllowed", most.to_string())],
            ),
            Self::TooSmall { size, least } => (
                "EntityTooSmall",
                "Your proposed upload is smaller than the minimum allowed size".into(),
                vec![("ProposedSize", size.to_string()), ("MinSizeAllowed", least.to_string())],
            ),
            Self::RequestExpired { seconds, expires, now } => expired(*seconds, *expires, *now),
            Self::MethodNotAllowed => {
                ("MethodNotAllowed", "The specified method is not allowed against this resource.".into(), vec![])
            }
            Self::SlowDown => ("SlowDown", "Please reduce your request rate.".into(), vec![]),
            Self::NoSuchKey => ("NoSuchKey", "The specified key does not exist.".into(), vec![]),
            Self::Timeout => (
                "RequestTimeout",
                "Your socket connection to the server was not read from or written to within the timeout period."
                    .into(),
                vec![],
            ),
            Self::Internal => ("InternalError", "We encountered an internal error. Please try again.".into(), vec![]),
            Self::Form(error) => error.parts(),
        }
    }
}

type Parts = (&'static str, String, Vec<(&'static str, String)>);

fn argument(message: &str, name: &str, value: &dyn ToString) -> Parts {
    let more = vec![("ArgumentName", name.to_owned()), ("ArgumentValue", value.to_string())];
    ("InvalidArgument", message.to_owned(), more)
}

fn mismatch(access_key: &str, signed: &str, provided: &str) -> Parts {
    let bytes: Vec<String> = signed.bytes().map(|byte| format!("{byte:02x}")).collect();
    (
        "SignatureDoesNotMatch",
        "The request signature we calculated does not match the signature you provided. Check your key and signing method."
            .to_owned(),
        vec![
            ("AWSAccessKeyId", access_key.to_owned()),
            ("StringToSign", signed.to_owned()),
            ("SignatureProvided", provided.to_owned()),
            ("StringToSignBytes", bytes.join(" ")),
        ],
    )
}

fn expired(seconds: i64, expires: Time, now: Time) -> Parts {
    use super::target::plain_time;
    let more = vec![
        ("X-Amz-Expires", seconds.to_string()),
        ("Expires", plain_time(expires)),
        ("ServerTime", plain_time(now)),
    ];
    ("AccessDenied", "Request has expired".to_owned(), more)
}
