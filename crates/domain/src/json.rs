//! Measures JSON before anything is made of it.

/// The memory of an object: a node of a map has room for eleven entries, and most objects need one.
const OBJECT: usize = 640;
/// The memory of an array, which has room for four values at first.
const ARRAY: usize = 128;
/// The memory of a value in an array or an object: nodes and arrays are half empty at worst.
const VALUE: usize = 160;
/// The memory of a text beside its characters.
const TEXT: usize = 32;

/// The size of a tree of JSON values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Measure {
    /// The bytes of memory that a tree of the text takes at most.
    pub bytes: usize,
    /// How deep its arrays and objects are nested.
    pub depth: usize,
}

impl Measure {
    /// Measures a text in one pass. A text that is no JSON gets some measure.
    pub fn of(text: &str) -> Self {
        let (mut bytes, mut depth, mut deepest) = (text.len(), 0_usize, 0);
        let (mut in_text, mut escaped) = (false, false);
        for byte in text.bytes() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    in_text = !in_text;
                    bytes += if in_text { TEXT } else { 0 };
                }
                _ if in_text => {}
                b'[' | b'{' => {
                    depth += 1;
                    deepest = deepest.max(depth);
                    bytes += if byte == b'{' { OBJECT } else { ARRAY };
                }
                b']' | b'}' => depth = depth.saturating_sub(1),
                b',' => bytes += VALUE,
                _ => {}
            }
        }
        Self { bytes, depth: deepest }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// The bytes of a tree, without what its allocator and its empty places add.
    fn held(value: &Value) -> usize {
        size_of::<Value>()
            + match value {
                Value::Null | Value::Bool(_) | Value::Number(_) => 0,
                Value::String(text) => text.capacity(),
                Value::Array(values) => values.iter().map(held).sum(),
                Value::Object(fields) => fields
                    .iter()
                    .map(|(name, value)| size_of::<String>() + name.capacity() + held(value))
                    .sum(),
            }
    }

    #[test]
    fn brackets_inside_texts_are_not_depth() {
        assert_eq!(Measure::of("1").depth, 0);
        assert_eq!(Measure::of(r#"{"a":[{"b":"[[[[\"[[\\"}],"c":{}}"#).depth, 3);
    }

    #[test]
    fn a_tree_never_takes_more_than_its_measure() {
        let many = |item: &str| format!("[{}]", vec![item; 1000].join(","));
        for text in [
            "7".to_owned(),
            r#""a text""#.to_owned(),
            many("0"),
            many("[]"),
            many("[[1]]"),
            many("{}"),
            many(r#"{"":0}"#),
            many(r#"{"a":{"b":{"c":"d"}}}"#),
            many(r#""""#),
            format!("{{{}}}", (0..1000).map(|n| format!(r#""{n}":{n}"#)).collect::<Vec<_>>().join(",")),
        ] {
            let tree = serde_json::from_str(&text).unwrap();
            let (held, measured) = (held(&tree), Measure::of(&text).bytes);
            assert!(held <= measured + size_of::<Value>(), "{held} of {measured}: {text:.60}");
        }
    }
}
