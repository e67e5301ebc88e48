//! The texts of an uploaded list of recipients, in a temporary file that has no name: it is gone when it is dropped, and when
//! the process ends.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use domain::values::Spill;

/// A temporary file that only this process reads.
#[derive(Debug)]
pub struct TemporarySpill(Mutex<File>);

impl TemporarySpill {
    /// A new file in this directory.
    ///
    /// # Errors
    ///
    /// When it cannot be created.
    pub fn within(directory: &Path) -> io::Result<Self> {
        tempfile::tempfile_in(directory).map(|file| Self(Mutex::new(file)))
    }
}

impl Spill for TemporarySpill {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let file = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::End(0))?;
        file.write_all(bytes)
    }

    fn read(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(into)
    }
}
