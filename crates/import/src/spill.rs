//! The texts of an uploaded list of recipients, in a temporary file that has no name: it is gone when it is dropped, and when
//! the process ends.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use domain::values::Spill;

/// The bytes that are read at once: what is read next is often near, and always so in a file that is sorted.
const PIECE: usize = 8 * 1024;

/// A temporary file that only this process reads.
#[derive(Debug)]
pub struct TemporarySpill(Mutex<SpillWindow>);

/// The file, and the piece of it that was read last. What was written once does not change.
#[derive(Debug)]
struct SpillWindow {
    file: File,
    at: u64,
    bytes: Vec<u8>,
}

impl SpillWindow {
    fn read(&mut self, at: u64, into: &mut [u8]) -> io::Result<()> {
        if let Some(found) = self.found(at, into.len()) {
            into.copy_from_slice(found);
            return Ok(());
        }
        self.file.seek(SeekFrom::Start(at))?;
        if into.len() > PIECE {
            return self.file.read_exact(into);
        }
        self.at = at;
        self.bytes.clear();
        Read::by_ref(&mut self.file).take(PIECE as u64).read_to_end(&mut self.bytes)?;
        let found = self.found(at, into.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        into.copy_from_slice(found);
        Ok(())
    }

    fn found(&self, at: u64, length: usize) -> Option<&[u8]> {
        let from = usize::try_from(at.checked_sub(self.at)?).ok()?;
        self.bytes.get(from..from.checked_add(length)?)
    }
}

impl TemporarySpill {
    /// A new file in this directory.
    ///
    /// # Errors
    ///
    /// When it cannot be created.
    pub fn within(directory: &Path) -> io::Result<Self> {
        let file = tempfile::tempfile_in(directory)?;
        Ok(Self(Mutex::new(SpillWindow { file, at: 0, bytes: Vec::with_capacity(PIECE) })))
    }
}

impl Spill for TemporarySpill {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let SpillWindow { file, .. } = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::End(0))?;
        file.write_all(bytes)
    }

    fn read(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).read(at, into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_from_anywhere_also_while_more_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let mut spill = TemporarySpill::within(directory.path()).unwrap();
        let bytes: Vec<u8> = (0..3 * PIECE).map(|place| (place % 251) as u8).collect();
        let (first, rest) = bytes.split_at(PIECE / 2);
        spill.append(first).unwrap();
        let read = |spill: &TemporarySpill, at: usize, length: usize| {
            let mut into = vec![0; length];
            spill.read(at as u64, &mut into).map(|()| into).ok()
        };
        assert_eq!(read(&spill, 10, 4).as_deref(), Some(&bytes[10..14]));
        assert_eq!(read(&spill, PIECE / 2 - 2, 4), None, "it is not written yet");
        spill.append(rest).unwrap();
        for (at, length) in
            [(PIECE / 2 - 2, 4), (0, 8), (PIECE + 7, PIECE), (3, 2 * PIECE), (3 * PIECE - 1, 1)]
        {
            assert_eq!(read(&spill, at, length).as_deref(), Some(&bytes[at..at + length]), "{at} {length}");
        }
        assert_eq!(read(&spill, 3 * PIECE, 1), None);
    }
}
