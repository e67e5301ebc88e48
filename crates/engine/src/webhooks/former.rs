//! The secrets of an endpoint that were replaced, and still sign for a while.
//!
//! All of them are kept that a person was promised, so that a second replacement cuts off no receiver that has an earlier one.

use clock::Timestamp;
use domain::secret::Secret;

/// The most secrets that sign beside the present one. Of more, those that end first are dropped.
const MOST: usize = 8;

/// Replaced secrets, each with the time until which it signs, the newest first.
#[derive(Default)]
pub(super) struct FormerSecrets(Vec<(Secret, Timestamp)>);

impl FormerSecrets {
    /// Reads the text of [`FormerSecrets::to_stored`]; `None` for any other text.
    pub(super) fn from_stored(text: &Secret) -> Option<Self> {
        let pairs: Vec<(Secret, i64)> = serde_json::from_str(text.expose()).ok()?;
        let secrets = pairs.into_iter().map(|(secret, until)| (secret, Timestamp::from_millis(until)));
        Some(Self(secrets.collect()))
    }

    /// The text that is sealed and stored.
    pub(super) fn to_stored(&self) -> Secret {
        let pairs: Vec<_> = self.0.iter().map(|(secret, until)| (secret.expose(), until.millis())).collect();
        // Pairs of texts and numbers can always be written as JSON.
        Secret::new(serde_json::to_string(&pairs).unwrap_or_default())
    }

    /// These secrets after `present` was replaced, which signs until then.
    pub(super) fn and(self, present: Secret, until: Timestamp, now: Timestamp) -> Self {
        let mut all = vec![(present, until)];
        all.extend(self.0.into_iter().filter(|(_, until)| *until > now));
        all.sort_by_key(|(_, until)| std::cmp::Reverse(*until));
        all.truncate(MOST);
        Self(all)
    }

    /// When the last of them signs no longer; `None` when there are none.
    pub(super) fn until(&self) -> Option<Timestamp> {
        self.0.iter().map(|(_, until)| *until).max()
    }

    pub(super) fn into_secrets(self) -> Vec<(Secret, Timestamp)> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(word: &str) -> Secret {
        Secret::new(word.to_owned())
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn shown(former: FormerSecrets) -> Vec<(String, i64)> {
        let all = former.into_secrets().into_iter();
        all.map(|(secret, until)| (secret.expose().to_owned(), until.millis())).collect()
    }

    #[test]
    fn every_secret_signs_until_its_time() {
        let first = FormerSecrets::default().and(secret("a"), at(100), at(0));
        let second = first.and(secret("b"), at(150), at(50));
        assert_eq!(second.until(), Some(at(150)));
        let read = FormerSecrets::from_stored(&second.to_stored()).unwrap();
        assert_eq!(
            shown(read.and(secret("c"), at(120), at(100))),
            [("b".to_owned(), 150), ("c".to_owned(), 120)]
        );
        assert!(FormerSecrets::from_stored(&secret("whsec_AAAA")).is_none());
    }

    #[test]
    fn of_very_many_secrets_those_that_end_last_are_kept() {
        let many = (1..=20).fold(FormerSecrets::default(), |all, n| all.and(secret("s"), at(100 + n), at(0)));
        assert_eq!(
            shown(many).iter().map(|(_, until)| *until).collect::<Vec<_>>(),
            (113..=120).rev().collect::<Vec<_>>()
        );
    }
}
