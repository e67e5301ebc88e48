//! Bounds what a workbook unpacks to, before its parts are read.
//!
//! A workbook is a zip archive, in which a thousand bytes may stand for a million. Its reader holds some parts in memory
//! and trusts the sizes that the archive declares. So each part is unpacked once and counted before, and so many bytes of
//! the archive's directory are read at most.

use std::cell::Cell;
use std::io::{self, Read, Seek, SeekFrom};
use std::rc::Rc;

use zip::ZipArchive;

use super::{damaged, too_large};
use crate::inspection::Other;
use crate::{Error, Result};

/// Bytes that are read to find the parts: enough for ten thousand of them.
const MOST_DIRECTORY: u64 = 4 * 1024 * 1024;
/// The most bytes of the texts that cells share, which are held in memory, and the most such texts.
const MOST_TEXTS: u64 = 64 * 1024 * 1024;
const MOST_COUNTED_TEXTS: u64 = 4_000_000;
/// The most bytes of a sheet, of the formats, of the names of the workbook's parts, and of any other part.
const MOST_SHEET: u64 = 256 * 1024 * 1024;
const MOST_FORMATS: u64 = 4 * 1024 * 1024;
const MOST_NAMES: u64 = 64 * 1024;
const MOST_OF_ANOTHER: u64 = 32 * 1024 * 1024;
/// The most bytes of all parts.
const MOST: u64 = 512 * 1024 * 1024;
/// Bytes that are unpacked at a time.
const PIECE: usize = 64 * 1024;
/// The part that names the part with the sheets.
const ROOT: &str = "_rels/.rels";

/// Checks that the file is a workbook, and that none of its parts is too large.
///
/// # Errors
///
/// [`Error::NotCsv`].
pub(super) fn check<R: Read + Seek>(file: &mut R) -> Result<()> {
    let left = Rc::new(Cell::new(MOST_DIRECTORY));
    let mut archive =
        ZipArchive::new(Limited { inner: file, left: Rc::clone(&left) }).map_err(|_| damaged())?;
    left.set(u64::MAX);
    let mut names = Vec::with_capacity(archive.len());
    for name in archive.file_names() {
        names.push(name.map_err(|_| damaged())?.replace('\\', "/").to_ascii_lowercase());
    }
    if let Some(other) = another(&names) {
        return Err(Error::NotCsv(other));
    }
    let (mut piece, mut all) = (vec![0; PIECE], 0);
    for (index, name) in names.iter().enumerate() {
        let most = most(name);
        let mut part = archive.by_index(index).map_err(|_| damaged())?;
        if part.size() > most {
            return Err(too_large());
        }
        let (mut length, mut texts, mut root) = (0, CountedTexts::default(), Vec::new());
        loop {
            let read = part.read(&mut piece).map_err(|_| damaged())?;
            if read == 0 {
                break;
            }
            (length, all) = (length + read as u64, all + read as u64);
            if length > most || all > MOST {
                return Err(too_large());
            }
            if is_texts(name) {
                texts.take(&piece[..read])?;
            } else if name == ROOT {
                root.extend_from_slice(&piece[..read]);
            }
        }
        check_root(&root)?;
    }
    Ok(())
}

/// What an archive is that is no workbook in this format.
fn another(names: &[String]) -> Option<Other> {
    let has = |name: &str| names.iter().any(|known| known == name);
    if has("xl/workbook.bin") {
        Some(Other::BinaryWorkbook)
    } else if has("mimetype") && has("content.xml") {
        Some(Other::OpenDocument)
    } else if names.iter().any(|name| name.ends_with(".iwa")) {
        Some(Other::Numbers)
    } else if has(ROOT) && names.iter().any(|name| name.starts_with("xl/")) {
        None
    } else {
        Some(Other::Archive)
    }
}

fn is_texts(name: &str) -> bool {
    name.ends_with("sharedstrings.xml")
}

/// The most bytes of the part with this name.
fn most(name: &str) -> u64 {
    if name == ROOT {
        MOST_NAMES
    } else if is_texts(name) {
        MOST_TEXTS
    } else if name.ends_with("styles.xml") {
        MOST_FORMATS
    } else if name.contains("worksheets/") && name.ends_with(".xml") {
        MOST_SHEET
    } else {
        MOST_OF_ANOTHER
    }
}

/// Refuses a workbook whose list of sheets would be read from where a sheet should be, which may be larger. A name that is
/// written with references may say the same.
fn check_root(root: &[u8]) -> Result<()> {
    let root = root.to_ascii_lowercase();
    let is_hidden = root.contains(&b'&') || root.windows(10).any(|name| name == b"worksheets");
    if is_hidden { Err(damaged()) } else { Ok(()) }
}

/// Finds how many texts a workbook says that its cells share, and how many there are. Its reader makes room for as many as
/// it says before it reads the first, and for each one that comes, even an empty one.
#[derive(Default)]
struct CountedTexts {
    /// Letters of the attribute's name that were found.
    found: usize,
    count: u64,
    /// The last bytes, in which the name of an element may end.
    last: [u8; 3],
    /// The elements that hold a text.
    elements: u64,
}

impl CountedTexts {
    const NAME: &[u8] = b"uniqueCount";

    fn take(&mut self, bytes: &[u8]) -> Result<()> {
        for byte in bytes.iter().copied() {
            // No text has such a byte, unless it is in an encoding in which the name looks otherwise.
            if byte < b' ' && !matches!(byte, b'\t' | b'\r' | b'\n') {
                return Err(damaged());
            }
            self.take_name(byte)?;
            if self.found < Self::NAME.len() {
                let goes_on = byte == Self::NAME[self.found];
                self.found = if goes_on { self.found + 1 } else { usize::from(byte == Self::NAME[0]) };
                continue;
            }
            match byte {
                b'0'..=b'9' => {
                    self.count = self.count.saturating_mul(10).saturating_add(u64::from(byte - b'0'));
                    if self.count > MOST_COUNTED_TEXTS {
                        return Err(too_large());
                    }
                }
                b'=' | b'"' | b'\'' | b'+' | b' ' | b'\t' | b'\r' | b'\n' if self.count == 0 => {}
                _ => (self.found, self.count) = (0, 0),
            }
        }
        Ok(())
    }

    /// Counts an element whose name ends before this byte; the name may have a prefix.
    fn take_name(&mut self, byte: u8) -> Result<()> {
        let is_end = matches!(byte, b'>' | b'/' | b' ' | b'\t' | b'\r' | b'\n');
        if is_end && matches!(&self.last, b"<si" | b":si") {
            self.elements += 1;
            if self.elements > MOST_COUNTED_TEXTS {
                return Err(too_large());
            }
        }
        self.last = [self.last[1], self.last[2], byte];
        Ok(())
    }
}

/// A reader of which so many bytes can be read.
struct Limited<R> {
    inner: R,
    left: Rc<Cell<u64>>,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        let left = self.left.get().checked_sub(length as u64);
        self.left.set(left.ok_or_else(|| io::Error::other("there is too much to read"))?);
        Ok(length)
    }
}

impl<R: Seek> Seek for Limited<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}
