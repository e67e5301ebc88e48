//! "Did you mean …?": the known name that a mistyped one comes closest to.
//!
//! For sentences to people, and to refuse what is nearly right. Nothing is ever accepted because it is nearly right.

/// How similar two names must be (0 to 1) for one to be suggested in place of the other.
const ALIKE: f64 = 0.6;
/// How many letters another spelling may differ in: one typing mistake or two.
const FAR: usize = 2;
/// Longer names, in bytes, are near no known name: comparing takes time that grows with both.
const MOST_BYTES: usize = 64;

/// The known name nearest to `name`; `None` when none is near.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MOST_BYTES {
        return None;
    }
    known
        .into_iter()
        .map(|candidate| (strsim::normalized_damerau_levenshtein(name, candidate), candidate))
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, candidate)| candidate)
}

/// The known name of which `name` is another spelling: in another case, with other underscores, with a plural's "s" more
/// or less, or at most [`FAR`] letters away. Of several, the nearest one.
pub fn respelled<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MOST_BYTES {
        return None;
    }
    let given = plain(name);
    let letters = given.chars().count();
    let distance = |candidate: &'a str| {
        let candidate = (plain(candidate), candidate);
        let known = candidate.0.chars().count();
        // Of a short name, two other letters leave nothing: `date` is not meant to be `name`.
        let far = FAR.min((letters.min(known) + 1) / 3);
        let is_near = letters.abs_diff(known) <= far;
        let distance = if is_near { strsim::osa_distance(&given, &candidate.0) } else { usize::MAX };
        (distance <= far).then_some((distance, candidate.1))
    };
    known.into_iter().filter_map(distance).min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// A name in small letters, without what joins its words.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|letter| !matches!(letter, '_' | '-' | ' ' | '.'));
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::{nearest, respelled};

    #[test]
    fn a_typo_finds_its_name_and_a_stranger_finds_none() {
        let known = ["server.bind", "server.workers", "log.level"];
        assert_eq!(nearest("server.bnid", known), Some("server.bind"));
        assert_eq!(nearest("sever.worker", known), Some("server.workers"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest(&"log.level".repeat(1_000_000), known), None);
    }

    #[test]
    fn case_underscores_a_plural_and_two_letters_make_another_spelling() {
        let known = ["type", "state", "send_at", "phone_number", "contact_tag_id", "all", "name"];
        for (name, meant) in [
            ("Type", "type"),
            ("tpye", "type"),
            ("states", "state"),
            ("sendAt", "send_at"),
            ("SENDAT", "send_at"),
            ("phone-numbers", "phone_number"),
            ("phonenumbr", "phone_number"),
            ("contact_tag_ids", "contact_tag_id"),
            ("al", "all"),
            ("Name", "name"),
            ("names", "name"),
        ] {
            assert_eq!(respelled(name, known), Some(meant), "{name}");
        }
        for name in
            ["", "x", "at", "to", "date", "page", "note", "colour", "phone", "number", &"type".repeat(1000)]
        {
            assert_eq!(respelled(name, known), None, "{name}");
        }
    }
}
