//! Numbers with their nouns, in sentences for people.

/// `1 finding`, `2 findings`: the number, then `one` for 1 and `many` for every other.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        let told = [0, 1, 2].map(|count| counted(count, "key is", "keys are"));
        assert_eq!(told, ["0 keys are", "1 key is", "2 keys are"]);
    }
}
