//! A large array of recipients, whose halves are read at the same time.
//!
//! Where the second half begins is a guess: a brace behind a comma behind a brace may stand within a text. It was right if the
//! first half ends there; otherwise the first half goes on to the end of the array, and the second one is dropped.

use std::thread;

use super::quick::QuickEntries;
use super::scanner::JsonScanner;
use crate::request::skipped::Skipped;
use crate::values::Rows;

/// The bytes from which on reading them takes far longer than starting a thread.
const FROM: usize = 512 * 1024;
/// How far from the middle a recipient is looked for, in bytes.
const FAR: usize = 64 * 1024;

/// Reads recipients, the first of which is next, to the end of their array; `None` as for [`super::quick::read`].
pub(super) fn read(json: &mut JsonScanner<'_>, most: usize, cleans: bool) -> Option<(Rows, Skipped)> {
    let mut first = QuickEntries::with_room(json.left(), most, cleans);
    let middle = if json.left() < FROM { None } else { middle(json.whole(), json.place() + json.left() / 2) };
    let Some(middle) = middle else {
        first.add_until(json, usize::MAX)?;
        return Some((first.rows, first.skipped));
    };
    let mut behind = JsonScanner::new(json.whole(), middle);
    thread::scope(|scope| {
        let second = move || {
            let mut second = QuickEntries::with_room(behind.left(), most, cleans);
            second.add_until(&mut behind, usize::MAX)?;
            Some((second, behind))
        };
        let Ok(second) = thread::Builder::new().spawn_scoped(scope, second) else {
            first.add_until(json, usize::MAX)?;
            return Some((first.rows, first.skipped));
        };
        if !first.add_until(json, middle)? {
            let (second, end) = second.join().ok()??;
            first.append(second)?;
            *json = end;
        }
        Some((first.rows, first.skipped))
    })
}

/// The first byte from here on where a recipient seems to begin behind another one.
fn middle(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let before = |at: usize| {
        let before = bytes[..at].trim_ascii_end();
        Some((*before.last()?, before.len().saturating_sub(1)))
    };
    let is_beginning = |at: &usize| {
        bytes[*at] == b'{'
            && before(*at).is_some_and(|(comma, at)| {
                comma == b',' && before(at).is_some_and(|(brace, _)| brace == b'}')
            })
    };
    (from..bytes.len().min(from + FAR)).find(is_beginning)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read of an array by one thread, and by two, each with the bytes behind it.
    fn both(entries: &str, most: usize) -> [Option<(Rows, Skipped, usize)>; 2] {
        let mut json = JsonScanner::new(entries, 1);
        let mut alone = QuickEntries::with_room(json.left(), most, false);
        let alone = alone.add_until(&mut json, usize::MAX).map(|_| (alone.rows, alone.skipped, json.place()));
        let mut json = JsonScanner::new(entries, 1);
        let halves = read(&mut json, most, false).map(|(rows, skipped)| (rows, skipped, json.place()));
        [alone, halves]
    }

    #[test]
    fn halves_are_what_one_pass_finds() {
        let number = |of: usize| 5_511_900_000_000 + of;
        let mut usual = String::from("[");
        for of in 0..20_000 {
            // Names, shapes and skipped recipients that only one half has.
            let (name, last) = if of < 15_000 { ("order", "day") } else { ("day", "shop") };
            let value = if of % 500 == 0 { "x".repeat(1_025) } else { format!("A-{of}") };
            let comma = if of > 0 { " ,\n" } else { "" };
            usual += &format!(
                r#"{comma}{{"phone_number":{},"values":{{"{name}":"{value}","{last}":"7"}},"reference":"r{of}"}}"#,
                number(of)
            );
        }
        usual += "] ,";
        let [alone, halves] = both(&usual, 20_000);
        assert_eq!(alone.as_ref().map(|(rows, ..)| rows.len()), Some(19_960));
        assert_eq!(alone, halves);
        assert_eq!(both(&usual, 19_999), [None, None]);
        // Each place that looks like the beginning of a recipient is within a text.
        let text = format!(r#"{{"phone_number":{},"reference":7}}"#, number(0)).replace('"', r#"\""#);
        let text = format!("{},", text.repeat(20)).replace("}{", "},{");
        let misleading = format!(r#"{{"phone_number":{},"values":{{"a":"{text}"}}}}"#, number(1));
        let misleading = format!("[{}]", vec![misleading; 1_000].join(","));
        assert!(misleading.len() > FROM);
        let [alone, halves] = both(&misleading, 1_000);
        assert!(alone.is_some());
        assert_eq!(alone, halves);
        // The fault is in the second half.
        let wrong = usual.replace(r#""r19000""#, "[]");
        assert_eq!(both(&wrong, 20_000), [None, None]);
    }
}
