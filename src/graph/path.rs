//! The paths of the door: below the root, under any version or none, with slashes too many. A path without a version is the
//! door's only when it begins as no other path of the service does: with an id, which has digits alone or is that of an upload, or
//! with a fixed word.

/// The beginning of the id of an upload.
pub(super) const UPLOAD: &str = "upload:";

/// The segments of a path of the door.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GraphPath {
    segments: Vec<String>,
}

/// `v` and digits, perhaps with a point: every version that there was or will be.
fn is_version(segment: &str) -> bool {
    let Some(number) = segment.strip_prefix(['v', 'V']) else { return false };
    let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
    let are_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    number.len() <= 8 && are_digits(major) && are_digits(minor)
}

fn is_id(segment: &str) -> bool {
    segment.starts_with(UPLOAD)
        || !segment.is_empty() && segment.len() <= 64 && segment.bytes().all(|byte| byte.is_ascii_digit())
}

/// The segments without the version, and whether there was one.
fn segments(path: &str) -> (bool, impl Iterator<Item = &str> + Clone) {
    let all = path.split('/').filter(|segment| !segment.is_empty());
    let has_version = all.clone().next().is_some_and(is_version);
    (has_version, all.skip(usize::from(has_version)))
}

/// Whether a path is the door's, whatever the door answers to it.
pub(super) fn is_ours(path: &str) -> bool {
    let (has_version, mut rest) = segments(path);
    has_version || rest.next().is_some_and(is_id)
}

impl GraphPath {
    /// The segments of a request's path, without the version.
    pub(super) fn of(path: &str) -> Self {
        Self { segments: segments(path).1.map(str::to_owned).collect() }
    }

    /// The segments, as they are in the address.
    pub(super) fn segments(&self) -> Vec<&str> {
        self.segments.iter().map(String::as_str).collect()
    }

    /// The segment at this place; empty behind the end.
    pub(super) fn at(&self, place: usize) -> &str {
        self.segments.get(place).map_or("", String::as_str)
    }

    /// Whether a request's path is that of a row.
    pub(super) fn matches(row: &str, path: &str) -> bool {
        let (has_version, mut given) = segments(path);
        let mut wanted =
            row.split('/').filter(|segment| !segment.is_empty() && *segment != "{version}").peekable();
        if !has_version && wanted.peek().is_some_and(|first| first.starts_with('{')) {
            let mut first = given.clone();
            if !first.next().is_some_and(is_id) {
                return false;
            }
        }
        loop {
            match (wanted.next(), given.next()) {
                (None, None) => return true,
                (Some(wanted), Some(given)) if wanted.starts_with('{') || wanted == given => {}
                _ => return false,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_found_under_any_version_or_none_and_with_slashes_too_many() {
        let row = "/{version}/{number}/messages";
        for path in [
            "/v13.0/7/messages",
            "/v99.0/7/messages/",
            "//v24/7//messages",
            "/7/messages",
            "/V1.0/x/messages",
        ] {
            assert!(GraphPath::matches(row, path), "{path}");
            assert!(is_ours(path), "{path}");
        }
        for path in
            ["/v13.0/messages", "/v13.0/7/messages/8", "/api/messages", "/v/7/messages", "/v1x/7/messages"]
        {
            assert!(!GraphPath::matches(row, path), "{path}");
        }
        assert_eq!(GraphPath::of("//v24.0/7//messages/").segments, ["7", "messages"]);
    }

    #[test]
    fn no_other_path_of_the_service_is_taken() {
        for path in [
            "/",
            "/healthz",
            "/metrics",
            "/docs/",
            "/api/v1/chat",
            "/console/keys",
            "/operator/v1/tiers",
            "/hooks/meta/x",
            "/media/7",
            "/favicon.ico",
            "/version",
        ] {
            assert!(!is_ours(path), "{path}");
            for row in super::super::ROWS {
                assert!(!GraphPath::matches(row.path, path), "{path} {}", row.path);
            }
        }
        assert!(GraphPath::matches("/{version}/debug_token", "/debug_token"));
        assert!(!is_ours("/debug_token"), "only its own row takes it");
    }
}
