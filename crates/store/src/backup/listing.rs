//! The table of contents of an archive of `pg_dump`, as `pg_restore --list` prints it.

use std::collections::BTreeSet;

use super::look::MIGRATIONS;

/// The kinds of entries that a backup of ours has, besides tables and their rows. They are not restored: they come from
/// our own schema.
const OWN: [&str; 7] = [
    "SEQUENCE ",
    "DEFAULT ",
    "CONSTRAINT ",
    "CHECK CONSTRAINT ",
    "FK CONSTRAINT ",
    "INDEX ",
    "STATISTICS DATA ",
];
const ROWS: &str = "TABLE DATA ";
const SEQUENCE: &str = "SEQUENCE SET ";

/// The entries of an archive.
#[derive(Debug)]
pub(super) struct Listing(Vec<Entry>);

#[derive(Debug)]
struct Entry {
    /// The whole line.
    line: String,
    /// The kind and the name.
    what: String,
}

impl Listing {
    /// Reads the output of `pg_restore --list`.
    pub(super) fn read(text: &str) -> Self {
        let entry = |line: &str| {
            let (id, rest) = line.split_once("; ")?;
            id.parse::<u32>().ok()?;
            let what = rest.splitn(3, ' ').nth(2)?.to_owned();
            Some(Entry { line: line.to_owned(), what })
        };
        Self(text.lines().filter_map(entry).collect())
    }

    /// Whether the archive has the rows of our table of migrations.
    pub(super) fn is_ours(&self) -> bool {
        self.0.iter().any(|entry| entry.has_rows_of(|table| table == MIGRATIONS))
    }

    /// The list of entries, for `pg_restore --use-list`, that have the rows of our table of migrations.
    pub(super) fn migrations(&self) -> String {
        self.lines(|entry| entry.has_rows_of(|table| table == MIGRATIONS))
    }

    /// The list of entries that have rows of these tables, or the value of a sequence.
    pub(super) fn rows(&self, tables: &BTreeSet<String>) -> String {
        self.lines(|entry| {
            entry.what.starts_with(SEQUENCE) || entry.has_rows_of(|table| tables.contains(table))
        })
    }

    /// The number of entries that are neither these tables nor a part of them: they are not restored.
    pub(super) fn others(&self, tables: &BTreeSet<String>) -> u64 {
        let is_other = |entry: &&Entry| {
            let is_of_table =
                entry.what.starts_with("TABLE ") && entry.names().any(|name| tables.contains(name));
            !is_of_table && !OWN.iter().any(|kind| entry.what.starts_with(kind))
        };
        self.0.iter().filter(is_other).count() as u64
    }

    fn lines(&self, which: impl Fn(&Entry) -> bool) -> String {
        self.0.iter().filter(|entry| which(entry)).map(|entry| format!("{}\n", entry.line)).collect()
    }
}

impl Entry {
    fn has_rows_of(&self, is_table: impl Fn(&str) -> bool) -> bool {
        self.what.starts_with(ROWS) && self.names().any(is_table)
    }

    /// The words after the kind. A name with spaces is several of them: what is chosen by them is checked when it is
    /// read.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.what.split(' ').skip(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_known_tables_are_chosen_and_foreign_objects_counted() {
        let text = "; Archive created at 2026-11-26\n;\n\
                    215; 1259 16386 TABLE public company pombo\n\
                    216; 1259 16387 TABLE public song pombo\n\
                    217; 1255 16388 FUNCTION public evil() pombo\n\
                    3340; 0 16386 TABLE DATA public company pombo\n\
                    3341; 0 16387 TABLE DATA public song pombo\n\
                    3342; 0 16390 TABLE DATA public seaql_migrations pombo\n\
                    3350; 0 0 SEQUENCE SET public channel_revision_seq pombo\n\
                    3200; 2606 16400 CONSTRAINT public company company_pkey pombo\n\
                    3201; 2620 16401 TRIGGER public company evil pombo\n";
        let listing = Listing::read(text);
        let tables = BTreeSet::from(["company".to_owned(), MIGRATIONS.to_owned()]);
        assert!(listing.is_ours());
        assert_eq!(listing.migrations(), "3342; 0 16390 TABLE DATA public seaql_migrations pombo\n");
        let chosen: Vec<_> =
            listing.rows(&tables).lines().map(|line| line.split(';').next().unwrap().to_owned()).collect();
        assert_eq!(chosen, ["3340", "3342", "3350"]);
        assert_eq!(listing.others(&tables), 4, "a table, its rows, a function and a trigger");
        assert!(!Listing::read("217; 1255 16388 FUNCTION public evil() pombo\n").is_ours());
    }
}
