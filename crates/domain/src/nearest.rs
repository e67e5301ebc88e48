//! "Did you mean …?": the known name that a mistyped one comes closest to.
//!
//! Only for sentences to people. Nothing is ever accepted because it is nearly right.

/// How similar two names must be (0 to 1) for one to be suggested in place of the other.
const ALIKE: f64 = 0.6;

/// The known name nearest to `name`; `None` when none is near.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (strsim::normalized_damerau_levenshtein(name, candidate), candidate))
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_typo_finds_its_name_and_a_stranger_finds_none() {
        let known = ["server.bind", "server.workers", "log.level"];
        assert_eq!(nearest("server.bnid", known), Some("server.bind"));
        assert_eq!(nearest("sever.worker", known), Some("server.workers"));
        assert_eq!(nearest("colour", known), None);
    }
}
