//! Cursors: opaque texts that say after which record a list goes on.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The longest text that is read as a cursor, in bytes; every cursor is shorter.
const LONGEST: usize = 512;

/// A cursor of the list of this name: the number of the page that it begins, and the key of the record before it.
pub fn write<K: Serialize>(list: &str, page: u128, key: &K) -> String {
    // Pages beyond this number cannot be counted either.
    let page = u64::try_from(page).unwrap_or(u64::MAX);
    // Keys are numbers and ids, which always become JSON.
    BASE64_URL_SAFE_NO_PAD.encode(serde_json::to_vec(&(list, page, key)).unwrap_or_default())
}

/// The page and the key of a cursor; `None` for a text that is no cursor of this list.
pub fn read<K: DeserializeOwned>(list: &str, text: &str) -> Option<(u128, K)> {
    if text.len() > LONGEST {
        return None;
    }
    let written = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?;
    let (of, page, key): (String, u64, K) = serde_json::from_slice(&written).ok()?;
    (of == list && page > 0).then(|| (page.into(), key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_by_its_own_list_alone() {
        let cursor = write("sends", 3, &7_u64);
        assert_eq!(read::<u64>("sends", &cursor), Some((3, 7)));
        assert_eq!(read::<u64>("contacts", &cursor), None);
        assert_eq!(read::<(u64, u64)>("sends", &cursor), None, "another key");
        let long = write("sends", 1, &"x".repeat(LONGEST));
        for hostile in ["", "%", "AAAA", "bnVsbA", &cursor[1..], long.as_str()] {
            assert_eq!(read::<u64>("sends", hostile), None, "{hostile}");
        }
    }
}
