//! The ends of versions of the provider's API, and the warning before that.

use std::time::Duration;

use super::CloudApi;
use clock::Timestamp;

/// How long before the end of a version the warning begins.
const NOTICE: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// Versions with their ends, from the provider's list of versions, oldest first. A version that is not listed
/// ends between its neighbours; for versions after the last, the end is unknown.
const ENDS: [(u32, &str); 4] = [
    (20, "2026-09-24T00:00:00Z"),
    (21, "2027-01-21T00:00:00Z"),
    (22, "2027-05-20T00:00:00Z"),
    (25, "2028-07-29T00:00:00Z"),
];

impl CloudApi {
    /// The warning for the operator if the provider has retired the version, or will within 90 days.
    pub fn version_warning(&self, now: Timestamp) -> Option<String> {
        let major: u32 = self.version.strip_prefix('v')?.split('.').next()?.parse().ok()?;
        let ended = |at: &str| Timestamp::parse(at).is_ok_and(|at| at <= now);
        let end = ENDS.iter().find(|(version, _)| *version == major);
        // A version that is not listed ended before the next listed one.
        let later = ENDS.iter().find(|(version, end)| *version >= major && ended(end));
        let mend = "set cloud_api.version to a newer one, such as the default";
        match (end, later) {
            (Some((_, at)), Some(_)) => Some(format!(
                "the provider retired version {} of its API on {}: {mend}",
                self.version,
                day(at)
            )),
            (None, Some(_)) => {
                Some(format!("the provider has retired version {} of its API: {mend}", self.version))
            }
            (Some((_, at)), None) => {
                let is_soon = Timestamp::parse(at).is_ok_and(|at| at <= now.plus(NOTICE));
                let sentence = || {
                    format!("the provider retires version {} of its API on {}: {mend}", self.version, day(at))
                };
                is_soon.then(sentence)
            }
            (None, None) => None,
        }
    }
}

impl CloudApi {
    /// Whether the provider has retired the version.
    pub fn version_has_ended(&self, now: Timestamp) -> bool {
        let major =
            self.version.strip_prefix('v').and_then(|version| version.split('.').next()?.parse().ok());
        let Some(major) = major else { return false };
        ENDS.iter().any(|(version, end): &(u32, &str)| {
            *version >= major && Timestamp::parse(end).is_ok_and(|end| end <= now)
        })
    }
}

fn day(moment: &str) -> &str {
    moment.split('T').next().unwrap_or(moment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    fn warning(version: &str, day: &str) -> Option<String> {
        let api = CloudApi { version: version.to_owned(), ..Config::default().cloud_api };
        api.version_warning(Timestamp::parse(&format!("{day}T12:00:00Z")).unwrap())
    }

    #[test]
    fn a_version_has_a_warning_for_ninety_days_before_its_end_and_after_it() {
        assert_eq!(warning("v21.0", "2026-10-22"), None);
        let soon = warning("v21.0", "2026-10-24").unwrap();
        assert!(soon.contains("retires version v21.0") && soon.contains("2027-01-21"), "{soon}");
        assert!(soon.contains("cloud_api.version"), "{soon}");
        let over = warning("v21.0", "2027-01-21").unwrap();
        assert!(over.contains("retired version v21.0"), "{over}");
        let has_ended = |version: &str, day: &str| {
            let api = CloudApi { version: version.to_owned(), ..Config::default().cloud_api };
            api.version_has_ended(Timestamp::parse(&format!("{day}T12:00:00Z")).unwrap())
        };
        assert!(!has_ended("v21.0", "2027-01-20") && has_ended("v21.0", "2027-01-21"));
        assert!(warning("v18.0", "2026-11-22").is_some(), "older than any that is listed");
        assert_eq!(warning("v24.0", "2027-06-01"), None, "its end is unknown");
        assert!(warning("v23.0", "2028-07-29").is_some(), "it ended before a later one");
        assert_eq!(warning("v99.0", "2030-01-01"), None);
    }

    #[test]
    fn the_default_is_not_about_to_end() {
        let api = Config::default().cloud_api;
        assert_eq!(api.version, "v26.0");
        assert_eq!(api.version_warning(Timestamp::parse("2028-07-29T12:00:00Z").unwrap()), None);
    }
}
