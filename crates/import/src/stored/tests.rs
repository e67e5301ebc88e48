use std::fmt::Write as _;

use super::*;
use domain::contact::MOST_TAGS;
use store::ContactDraft;

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

/// How one read of a file goes wrong.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// It fails, and the next one goes on behind it.
    Fails,
    /// The file seems to end there.
    Ends,
}

/// A file that is read in pieces, one of which goes wrong.
struct Faulty<'a> {
    file: &'a [u8],
    piece: usize,
    /// The number of reads before the fault.
    until: usize,
    fault: Fault,
    ended: bool,
}

impl Read for Faulty<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let is_faulty = self.until == 0;
        self.until = self.until.wrapping_sub(1);
        match self.fault {
            _ if self.ended => return Ok(0),
            Fault::Fails if is_faulty => return Err(std::io::ErrorKind::ConnectionReset.into()),
            Fault::Ends if is_faulty => {
                self.ended = true;
                return Ok(0);
            }
            Fault::Fails | Fault::Ends => {}
        }
        let length = self.file.len().min(self.piece).min(buffer.len());
        buffer[..length].copy_from_slice(&self.file[..length]);
        self.file = &self.file[length..];
        Ok(length)
    }
}

/// What an import makes of a file that is read with faults: it goes on at the position of its last step.
#[derive(Debug, Default, PartialEq, Eq)]
struct Imported {
    contacts: Vec<ContactDraft>,
    rejected: Vec<u64>,
    position: (u64, u64),
}

impl Imported {
    /// Reads on, until the end or a fault.
    fn read(&mut self, file: impl Read, rows: usize) -> Result<Tally> {
        let (out, mut lots) = mpsc::channel(10_000);
        let read = read_stored(file, &Settings::default(), self.position, &Lot::new(rows), &out);
        drop(out);
        for step in std::iter::from_fn(|| lots.blocking_recv()) {
            self.position = (step.position, step.line);
            self.contacts.extend(step.drafts);
            self.rejected.extend(step.rejected.into_iter().map(|row| row.line));
        }
        read
    }

    fn rows(&self) -> u64 {
        (self.contacts.len() + self.rejected.len()) as u64
    }
}

#[test]
fn a_fault_at_any_read_loses_no_row_or_is_found_by_counting() {
    // The second file has a wrong byte in each piece.
    let wrong: Vec<u8> = file().bytes().map(|byte| if byte == b'7' { 0xff } else { byte }).collect();
    for (file, piece) in
        [(file().into_bytes(), 9_000), (wrong, 9_000), (file().into_bytes()[..2_000].to_vec(), 61)]
    {
        let mut whole = Imported::default();
        let tally = whole.read(&file[..], 100).unwrap();
        assert_eq!(tally, Tally { rows: whole.rows(), bytes: file.len() as u64 });
        let faulty = |until, fault| Faulty { file: &file, piece, until, fault, ended: false };
        for until in 0..=file.len() / piece + 1 {
            // It fails once, and goes on exactly where it was.
            let mut imported = Imported::default();
            if let Err(error) = imported.read(faulty(until, Fault::Fails), 100) {
                assert!(matches!(error, Error::Unread(_)), "{until}: {error}");
                let before = imported.rows();
                assert!(whole.contacts.starts_with(&imported.contacts), "{until}: rows were spliced");
                assert_eq!(imported.read(&file[..], 7).unwrap(), tally, "{until}: after {before} rows");
            }
            assert!(imported == whole, "{until}: rows were lost or read twice");
            // A file that seems to end too early is never finished.
            let mut cut = Imported::default();
            match cut.read(faulty(until, Fault::Ends), 100) {
                Ok(found) => assert!(found.bytes < tally.bytes || cut == whole, "{until}: {found:?}"),
                Err(error) => assert!(
                    matches!(error, Error::Empty | Error::NoKnownColumn { .. } | Error::Header { .. }),
                    "{until}: {error}"
                ),
            }
        }
    }
}

#[test]
fn reading_on_in_another_file_is_refused() {
    let mut imported = Imported::default();
    imported.read(file().as_bytes(), 100).unwrap();
    imported.position.0 -= 3;
    let refused = imported.read(file().as_bytes(), 100).unwrap_err();
    assert!(matches!(refused, Error::Misplaced { .. }), "{refused}");
    let shorter = &file()[..1_000];
    assert!(matches!(imported.read(shorter.as_bytes(), 100), Err(Error::Misplaced { .. })));
}

#[test]
fn a_wrong_byte_rejects_its_row_alone_with_its_line() {
    let mut bytes = b"name,phone,note\n".to_vec();
    bytes.extend((0..3_000).flat_map(|row| format!("P{row},55119{row:08},\n").into_bytes()));
    bytes.extend_from_slice(b"Concei\xff,5511900009001,\nAna,5511900009002,n\xffte\n");
    let mut imported = Imported::default();
    imported.read(&bytes[..], 100).unwrap();
    assert_eq!((imported.contacts.len(), &imported.rejected[..]), (3_001, &[3_002][..]));
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
