use std::fmt::Write as _;

use super::*;
use crate::domain::contact::MOST_TAGS;

/// The steps of a file, from a position on.
fn steps(file: &str, tags: &[String], position: (u64, u64), rows: usize) -> Vec<Step> {
    let settings = Settings { tags: tags.to_vec(), ..Settings::default() };
    let (out, mut lots) = mpsc::channel(10_000);
    read_stored(file.as_bytes(), &settings, position, &Lot::new(rows), &out).unwrap();
    drop(out);
    std::iter::from_fn(|| lots.blocking_recv()).collect()
}

fn written(step: &Step) -> usize {
    step.drafts.iter().map(ContactDraft::rows).sum::<usize>() + step.rejected.len()
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|index| format!("t{index}")).collect()
}

/// Rows without tags, with many, and rejected ones.
fn file() -> String {
    let mut file = "phone;tags\n".to_owned();
    let many: Vec<_> = (0..40).map(|index| format!("own {index}")).collect();
    for row in 0..2_000 {
        let _ = match row % 5 {
            0 => writeln!(file, "55119{row:08};\"{}\"", many.join(";")),
            1 => writeln!(file, "12;"),
            2 => writeln!(file, "55119{row:08};\"broken\"x"),
            _ => writeln!(file, "55119{row:08};"),
        };
    }
    file
}

#[test]
fn a_step_becomes_at_most_so_many_rows_whatever_tags_its_contacts_have() {
    for (rows, tags) in [(1_000, names(60)), (100, names(60)), (100, Vec::new()), (7, Vec::new())] {
        let steps = steps(&file(), &tags, (0, 0), rows);
        let (drafts, rejected): (Vec<_>, Vec<_>) =
            steps.iter().map(|step| (step.drafts.len(), step.rejected.len())).unzip();
        assert_eq!((drafts.iter().sum::<usize>(), rejected.iter().sum::<usize>()), (1_200, 800));
        for step in &steps {
            assert!(written(step) <= rows || step.drafts.len() == 1, "{} rows for {rows}", written(step));
            assert!(step.drafts.iter().all(|draft| draft.tags.ends_with(&tags)));
        }
        // Steps are filled: two neighbours would not fit into one.
        assert!(steps.windows(2).all(|pair| written(&pair[0]) + written(&pair[1]) > rows));
    }
}

/// The lines of the rejected rows, and the contacts.
fn rows_of(steps: &[Step]) -> (Vec<u64>, Vec<&ContactDraft>) {
    let rejected = steps.iter().flat_map(|step| step.rejected.iter().map(|row| row.line));
    (rejected.collect(), steps.iter().flat_map(|step| &step.drafts).collect())
}

/// A file whose reading fails after some bytes, once: then it seems to be at its end.
struct Failing<'a>(&'a [u8], bool);

impl Read for Failing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.0.is_empty() && !std::mem::replace(&mut self.1, true) {
            return Err(std::io::ErrorKind::ConnectionReset.into());
        }
        self.0.read(buffer)
    }
}

#[test]
fn a_failure_of_reading_is_told_after_the_rows_before_it_and_is_not_the_end_of_the_file() {
    for rows in [1, 100, 10_000] {
        let (out, mut lots) = mpsc::channel(10_000);
        let file = file();
        let failing = Failing(&file.as_bytes()[..file.len() / 2], false);
        let read = read_stored(failing, &Settings::default(), (0, 0), &Lot::new(rows), &out);
        assert!(matches!(read, Err(Error::Unread(_))), "{rows}: {read:?}");
        drop(out);
        let steps: Vec<_> = std::iter::from_fn(|| lots.blocking_recv()).collect();
        let (rejected, drafts) = rows_of(&steps);
        assert!((900..1_100).contains(&(rejected.len() + drafts.len())), "{rows}");
    }
}

#[test]
fn reading_continues_after_any_step_with_the_next_row() {
    let all = steps(&file(), &names(3), (0, 0), 333);
    for (index, step) in all.iter().enumerate().step_by(7) {
        let rest = steps(&file(), &names(3), (step.position, step.line), 333);
        assert!(rows_of(&rest) == rows_of(&all[index + 1..]), "after step {index}");
    }
    let last = all.last().unwrap();
    assert_eq!((last.line, last.bytes_read), (2_002, file().len() as u64));
}

#[test]
fn a_row_with_the_tags_of_the_whole_import_has_one_bound() {
    let row = |count| {
        let own: Vec<_> = (0..count).map(|index| format!("own {index}")).collect();
        format!("phone;tags\n5511988880001;\"{};t0;t0\"\n", own.join(";"))
    };
    let read = |own, every| steps(&row(own), &names(every), (0, 0), 1_000).remove(0);
    let step = read(MOST_TAGS - 40, 40);
    assert_eq!(step.drafts[0].tags.len(), MOST_TAGS, "a name that both have counts once");
    let step = read(MOST_TAGS - 39, 40);
    assert_eq!(step.rejected[0].code.as_deref(), Some("too_many_tags"));
}
