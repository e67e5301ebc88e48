//! Reads the rows of tables from the text that `pg_restore` writes.
//!
//! The text is never run: an archive may have been made by a stranger, who decides on each statement in it, even on those
//! around the rows. Only the rows, the names of their tables and columns, and the values of sequences are taken from it.
//! Any other statement is refused.

use std::io::{self, BufRead, Read as _};

/// The longest line outside of rows. A longer piece of a row is read in pieces.
const LINE: u64 = 64 * 1024;
/// The rows that are given at once, in bytes.
const BATCH: usize = 256 * 1024;

/// A part of the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Rows of a table follow.
    Begin(Table),
    /// Rows in the text format of `COPY`, not necessarily whole ones.
    Rows(Vec<u8>),
    /// The table has no further rows.
    End,
    /// The value of a sequence.
    Sequence(Sequence),
}

/// A table whose rows follow.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Vec<String>,
}

/// The value of a sequence, and whether it was used.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sequence {
    pub(super) name: String,
    pub(super) value: i64,
    pub(super) is_called: bool,
}

/// Why reading ended early.
#[derive(Debug)]
pub(super) enum Stopped {
    /// The text has a statement that no backup has.
    Odd,
    /// The text cannot be read, or is cut off.
    Unreadable(io::Error),
    /// The receiver takes no more parts.
    Unwanted,
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

/// Reads the text to its end. `give` returns whether it takes further parts.
pub(super) fn read(mut text: impl BufRead, mut give: impl FnMut(Part) -> bool) -> Result<(), Stopped> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if text.by_ref().take(LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let statement = line.strip_suffix(b"\n").unwrap_or(&line);
        let statement = std::str::from_utf8(statement).map_err(|_| Stopped::Odd)?;
        if statement.starts_with("COPY ") {
            pass(&mut give, Part::Begin(table(statement).ok_or(Stopped::Odd)?))?;
            rows(&mut text, &mut give)?;
        } else if statement.starts_with("SELECT pg_catalog.setval(") {
            pass(&mut give, Part::Sequence(sequence(statement).ok_or(Stopped::Odd)?))?;
        } else if !is_setting(statement) {
            return Err(Stopped::Odd);
        }
    }
}

fn pass(give: &mut impl FnMut(Part) -> bool, part: Part) -> Result<(), Stopped> {
    if give(part) { Ok(()) } else { Err(Stopped::Unwanted) }
}

/// A line that changes nothing when it is left out.
fn is_setting(statement: &str) -> bool {
    const BEGINNINGS: [&str; 5] =
        ["--", "SET ", "SELECT pg_catalog.set_config(", "\\restrict ", "\\unrestrict "];
    statement.is_empty() || BEGINNINGS.iter().any(|beginning| statement.starts_with(beginning))
}

/// Reads rows up to the line that ends them.
fn rows(text: &mut impl BufRead, give: &mut impl FnMut(Part) -> bool) -> Result<(), Stopped> {
    let (mut batch, mut is_new_line) = (Vec::new(), true);
    loop {
        let before = batch.len();
        if text.by_ref().take(LINE).read_until(b'\n', &mut batch)? == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        let piece = &batch[before..];
        // A backslash in a value is doubled, so no row begins like this.
        if is_new_line && piece.starts_with(b"\\.") {
            if piece != b"\\.\n" {
                return Err(Stopped::Odd);
            }
            batch.truncate(before);
            if !batch.is_empty() {
                pass(give, Part::Rows(batch))?;
            }
            return pass(give, Part::End);
        }
        is_new_line = piece.ends_with(b"\n");
        if batch.len() >= BATCH {
            pass(give, Part::Rows(std::mem::take(&mut batch)))?;
        }
    }
}

/// `COPY schema.table (column, column) FROM stdin;`, and nothing else.
fn table(statement: &str) -> Option<Table> {
    let (_, rest) = identifier(statement.strip_prefix("COPY ")?)?;
    let (name, rest) = identifier(rest.strip_prefix('.')?)?;
    let mut rest = rest.strip_prefix(" (")?;
    let mut columns = Vec::new();
    loop {
        let (column, after) = identifier(rest)?;
        columns.push(column);
        match after.strip_prefix(", ") {
            Some(more) => rest = more,
            None => return (after == ") FROM stdin;").then_some(Table { name, columns }),
        }
    }
}

/// `SELECT pg_catalog.setval('schema.sequence', 1, true);`, and nothing else.
fn sequence(statement: &str) -> Option<Sequence> {
    let (_, rest) = identifier(statement.strip_prefix("SELECT pg_catalog.setval('")?)?;
    let (name, rest) = identifier(rest.strip_prefix('.')?)?;
    let (value, is_called) = rest.strip_prefix("', ")?.strip_suffix(");")?.split_once(", ")?;
    Some(Sequence { name, value: value.parse().ok()?, is_called: is_called.parse().ok()? })
}

/// The name at the beginning of `text`, and the text after it.
fn identifier(text: &str) -> Option<(String, &str)> {
    if let Some(mut rest) = text.strip_prefix('"') {
        let mut name = String::new();
        loop {
            let (part, after) = rest.split_once('"')?;
            name += part;
            match after.strip_prefix('"') {
                Some(more) => {
                    name.push('"');
                    rest = more;
                }
                None => return (!name.is_empty()).then_some((name, after)),
            }
        }
    }
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let end = text.bytes().position(|byte| !is_part(byte)).unwrap_or(text.len());
    let is_name = text.bytes().next().is_some_and(|first| !first.is_ascii_digit()) && end > 0;
    is_name.then(|| (text[..end].to_owned(), &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Result<Vec<Part>, Stopped> {
        let mut parts = Vec::new();
        read(text.as_bytes(), |part| {
            parts.push(part);
            true
        })?;
        Ok(parts)
    }

    #[test]
    fn rows_and_sequences_are_taken_and_settings_left_out() {
        let text = "--\n-- Data\n--\n\nSET statement_timeout = 0;\n\\restrict abc\n\
                    SELECT pg_catalog.set_config('search_path', '', false);\n\
                    COPY public.tag (id, \"na\"\"me\") FROM stdin;\n1\ta\\\\.\n2\t\\N\n\\.\n\n\
                    COPY \"a.b\".empty (id) FROM stdin;\n\\.\n\
                    SELECT pg_catalog.setval('public.tag_id_seq', 17, true);\n\\unrestrict abc\n";
        let table = |name: &str, columns: &[&str]| {
            let columns = columns.iter().map(|column| (*column).to_owned()).collect();
            Part::Begin(Table { name: name.to_owned(), columns })
        };
        assert_eq!(
            parts(text).unwrap(),
            [
                table("tag", &["id", "na\"me"]),
                Part::Rows(b"1\ta\\\\.\n2\t\\N\n".to_vec()),
                Part::End,
                table("empty", &["id"]),
                Part::End,
                Part::Sequence(Sequence { name: "tag_id_seq".to_owned(), value: 17, is_called: true }),
            ]
        );
    }

    #[test]
    fn statements_that_no_backup_has_are_refused() {
        for text in [
            "COPY public.tag (id) FROM PROGRAM 'id';\n",
            "COPY public.tag (id) FROM stdin; DROP TABLE tag;\n",
            "COPY public.tag (id) FROM '/etc/passwd';\n",
            "COPY public.tag (id) TO PROGRAM 'id';\n",
            "COPY public.tag FROM stdin;\n",
            "COPY (SELECT 1) TO STDOUT;\n",
            "SELECT pg_catalog.setval('public.a', (SELECT 1), true);\n",
            "SELECT pg_catalog.setval('public.a', 1, true); SELECT 1;\n",
            "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1';\n",
            "INSERT INTO public.tag VALUES (1);\n",
            "-- harmless\n\\! id\n",
            "COPY public.tag (id) FROM stdin;\n1\n\\.x\n",
            "COPY public.tag (id) FROM stdin;\n1\n\\.\r\n\\.\n",
        ] {
            assert!(matches!(parts(text), Err(Stopped::Odd)), "{text}");
        }
        let endless = format!("SET x = '{}'", "x".repeat(70_000));
        assert!(matches!(parts(&endless), Err(Stopped::Odd)));
        let cut = "COPY public.tag (id) FROM stdin;\n1\n";
        assert!(matches!(parts(cut), Err(Stopped::Unreadable(_))));
    }

    #[test]
    fn a_row_of_any_length_is_given_in_pieces_and_its_inside_ends_nothing() {
        // A piece ends in the middle of this row, and the next one begins with what looks like the end of the rows.
        let row = format!("{}\\.\n", "x".repeat(usize::try_from(LINE).unwrap()));
        let text = format!("COPY public.tag (id) FROM stdin;\n{}\\.\n", row.repeat(9));
        let mut bytes = Vec::new();
        for part in parts(&text).unwrap() {
            if let Part::Rows(rows) = part {
                assert!(rows.len() < BATCH + 70_000);
                bytes.extend(rows);
            }
        }
        assert_eq!(bytes, row.repeat(9).into_bytes());
    }
}
