//! A value that cannot be printed by accident.

use std::fmt;

/// Shows its value only through [`Secret::expose`].
///
/// ```
/// use mailchute::base::secret::Secret;
///
/// let secret = Secret::new("correct horse");
/// assert!(!format!("{secret:?}").contains("horse"));
/// assert_eq!(secret.expose(), "correct horse");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_nothing() {
        assert!(!format!("{:?}", Secret::new("hunter2")).contains("hunter2"));
    }
}
