//! JSON that is read once, from left to right: what stands next, or nothing where something else does.
//!
//! What is taken is checked to be JSON. Nothing is said about what is wrong: that is for a reader that may take its time.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use crate::request::field::Text;

/// A place in a text.
#[derive(Debug, Clone)]
pub(in crate::request) struct JsonScanner<'a> {
    text: &'a str,
    at: usize,
}

/// A value that is no array and no object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::request) enum Scalar<'a> {
    /// A text.
    Text(Cow<'a, str>),
    /// A number, as it is written.
    Number(&'a str),
    /// `true` or `false`.
    Flag(&'a str),
    /// `null`.
    Null,
}

impl<'a> JsonScanner<'a> {
    /// A scanner from a byte of a text on, which must be the first one of a character.
    pub(in crate::request) const fn new(text: &'a str, at: usize) -> Self {
        Self { text, at }
    }

    /// The text, with what was taken.
    pub(in crate::request) const fn whole(&self) -> &'a str {
        self.text
    }

    /// The byte behind what was taken.
    pub(in crate::request) const fn place(&self) -> usize {
        self.at
    }

    /// The bytes that are left.
    pub(in crate::request) const fn left(&self) -> usize {
        self.text.len().saturating_sub(self.at)
    }

    /// The next byte behind white space, which is not taken.
    pub(in crate::request) fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.as_bytes().get(self.at)?;
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Takes this byte, if it is the next one.
    pub(in crate::request) fn takes(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// The next text. It is copied only when it has escapes.
    pub(in crate::request) fn text(&mut self) -> Option<Cow<'a, str>> {
        let (inside, has_escapes) = self.quoted()?;
        if !has_escapes {
            return Some(Cow::Borrowed(inside));
        }
        let written = &self.text[self.at - inside.len() - 2..self.at];
        serde_json::from_str(written).ok().map(|Text(text)| text)
    }

    /// What stands between the next quotes, and whether it has escapes, which are not checked.
    fn quoted(&mut self) -> Option<(&'a str, bool)> {
        if !self.takes(b'"') {
            return None;
        }
        let (from, mut has_escapes) = (self.at, false);
        loop {
            let left = self.text.as_bytes().get(self.at..)?;
            let length = left.iter().position(|byte| matches!(*byte, b'"' | b'\\' | 0..=0x1f))?;
            self.at += length;
            match left[length] {
                b'"' => break,
                b'\\' => {
                    has_escapes = true;
                    self.at += 2;
                }
                _ => return None,
            }
        }
        let inside = &self.text[from..self.at];
        self.at += 1;
        Some((inside, has_escapes))
    }

    /// The next value, which is no array and no object.
    pub(in crate::request) fn scalar(&mut self) -> Option<Scalar<'a>> {
        match self.peek()? {
            b'"' => self.text().map(Scalar::Text),
            b'-' | b'0'..=b'9' => self.number().map(Scalar::Number),
            _ => self.word(),
        }
    }

    fn number(&mut self) -> Option<&'a str> {
        let left = &self.text[self.at..];
        let is_of_number = |byte: u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let length = left.bytes().position(|byte| !is_of_number(byte)).unwrap_or(left.len());
        let written = &left[..length];
        self.at += length;
        serde_json::from_str::<IgnoredAny>(written).ok().map(|_| written)
    }

    fn word(&mut self) -> Option<Scalar<'a>> {
        let words =
            [("true", Scalar::Flag("true")), ("false", Scalar::Flag("false")), ("null", Scalar::Null)];
        let left = &self.text.as_bytes()[self.at..];
        let (word, scalar) = words.into_iter().find(|(word, _)| left.starts_with(word.as_bytes()))?;
        self.at += word.len();
        Some(scalar)
    }

    /// Hands the name of each member of an object to `visit`, which takes the value. Breaks off where `visit` does.
    pub(in crate::request) fn members(
        &mut self,
        mut visit: impl FnMut(&mut Self, &str) -> Option<()>,
    ) -> Option<()> {
        if !self.takes(b'{') {
            return None;
        }
        if self.takes(b'}') {
            return Some(());
        }
        loop {
            let name = self.text()?;
            if !self.takes(b':') {
                return None;
            }
            visit(self, &name)?;
            if self.takes(b'}') {
                return Some(());
            }
            if !self.takes(b',') {
                return None;
            }
        }
    }

    /// Passes over a value without checking it: where the text is no JSON, it may be passed over as if it were.
    pub(in crate::request) fn pass(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.quoted()?;
                }
                b'[' | b'{' => {
                    depth += 1;
                    self.at += 1;
                }
                b']' | b'}' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                b',' | b':' => {
                    self.at += 1;
                }
                _ => {
                    let left = &self.text.as_bytes()[self.at..];
                    let is_end =
                        |byte: &u8| matches!(*byte, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t');
                    self.at += left.iter().position(is_end).unwrap_or(left.len());
                }
            }
            if depth == 0 {
                return Some(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_what_a_reader_of_json_finds() {
        let scalar = |text| {
            let mut json = JsonScanner::new(text, 0);
            json.scalar().filter(|_| json.peek().is_none())
        };
        assert_eq!(scalar(" \"é\\u00e9 \\\"\" "), Some(Scalar::Text("éé \"".into())));
        assert_eq!(scalar("\"a\\\\\""), Some(Scalar::Text("a\\".into())));
        assert_eq!(scalar("-1.5e+3"), Some(Scalar::Number("-1.5e+3")));
        assert_eq!(scalar("true"), Some(Scalar::Flag("true")));
        assert_eq!(scalar("\nnull"), Some(Scalar::Null));
        for wrong in
            ["", "01", "-", "nul", "\"", "\"a\\", "\"\\x\"", "\"\u{1}\"", "\"\\é\"", "[]", "{}", "1 2"]
        {
            assert_eq!(scalar(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn members_and_what_is_passed_over_end_where_json_ends() {
        let names = |text: &str| {
            let (mut names, mut json) = (Vec::new(), JsonScanner::new(text, 0));
            let read = json.members(|json, name| {
                names.push(name.to_owned());
                json.pass()
            });
            read.map(|()| (names.concat(), json.place()))
        };
        assert_eq!(names("{}"), Some((String::new(), 2)));
        let text = r#" { "a" : [ {"x":"]}\"" } , 1 ] , "b":-1e3,"c":"}" ,"d":{}} ,"#;
        assert_eq!(names(text), Some(("abcd".to_owned(), text.len() - 2)));
        for wrong in
            ["", "[]", "{", "{,}", r#"{"a"}"#, r#"{"a":1,}"#, r#"{"a":1 "b":2}"#, r#"{"a":[1}"#, r#"{a:1}"#]
        {
            assert_eq!(names(wrong), None, "{wrong}");
        }
    }
}
