//! Converts an uploaded workbook to the CSV that is imported, once its last piece is stored.
//!
//! A workbook is read from its end and from places within it. A thread that serves no requests does that: it asks for the
//! stored pieces and hands out those of the CSV, which are stored behind them. One workbook is converted at a time,
//! because its shared texts are in memory.

use std::collections::VecDeque;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::refused;
use super::upload::PIECE;
use crate::{Engine, Error};
use domain::error::Code;
use import::{Other, SourceSheet};

/// Pieces of the workbook that the thread holds: the reader goes back and forth within a few.
const HELD: usize = 4;

/// A workbook that was converted.
pub(super) struct Converted {
    pub(super) sheet: SourceSheet,
    /// The first piece of the CSV.
    pub(super) beginning: Vec<u8>,
    /// The number of its pieces.
    pub(super) pieces: u64,
}

/// Converts the stored workbook of so many bytes and pieces. Its pieces are replaced by those of the CSV, whose ordinals
/// begin behind.
pub(super) async fn convert(
    engine: &Engine,
    company: Uuid,
    import: Uuid,
    bytes: u64,
    first: u64,
) -> Result<Converted, Error> {
    let turn = Arc::clone(&engine.0.imports.converting).acquire_owned().await.map_err(|_| Error::Internal)?;
    let (asks, mut asked) = mpsc::channel(1);
    let most = engine.imports().largest() as u64;
    let reading = tokio::task::spawn_blocking(move || {
        // The thread holds what a workbook needs, also after the client has gone: its turn ends with it.
        let _turn = turn;
        let workbook = Workbook { asks: asks.clone(), bytes, position: 0, held: VecDeque::new() };
        let mut csv = Csv { asks, piece: Vec::new() };
        let sheet = import::sheet_csv(workbook, most, &mut csv)?;
        csv.hand_out().map_err(|error| import::Error::Unread(error.to_string()))?;
        Ok::<_, import::Error>(sheet)
    });
    let (mut beginning, mut pieces, mut length) = (Vec::new(), 0, 0);
    while let Some(ask) = asked.recv().await {
        let records = engine.records_of(company).await?;
        match ask {
            Ask::Stored { ordinal, answer } => {
                let piece = records.imports().chunk(import, ordinal).await?.unwrap_or_default();
                // A thread that is over needs no answer.
                let _ = answer.send(piece);
            }
            Ask::Store(piece) => {
                if pieces == 0 {
                    beginning.clone_from(&piece);
                }
                length += piece.len() as u64;
                records.imports().add_chunk(import, first + pieces, piece).await?;
                pieces += 1;
            }
        }
    }
    let sheet = reading.await.unwrap_or_else(|error| {
        tracing::warn!(import.id = %import, %error, "the reader of a workbook panicked, the file is refused");
        Err(import::Error::NotCsv(Other::DamagedWorkbook))
    });
    let sheet = sheet.map_err(|error| refused(&error, Code::InvalidFile))?;
    let records = engine.records_of(company).await?;
    records.imports().take_converted(import, first, length).await?;
    Ok(Converted { sheet, beginning, pieces })
}

/// What the thread asks for.
enum Ask {
    /// A piece of the workbook.
    Stored { ordinal: u64, answer: oneshot::Sender<Vec<u8>> },
    /// To store the next piece of the CSV.
    Store(Vec<u8>),
}

/// Nobody answers: the upload is over.
fn gone() -> io::Error {
    io::ErrorKind::BrokenPipe.into()
}

/// The stored workbook.
struct Workbook {
    asks: mpsc::Sender<Ask>,
    bytes: u64,
    position: u64,
    /// Some of its pieces, by their ordinals.
    held: VecDeque<(u64, Vec<u8>)>,
}

impl Workbook {
    /// The place of a piece among those that are held.
    fn hold(&mut self, ordinal: u64) -> io::Result<usize> {
        if let Some(place) = self.held.iter().position(|(held, _)| *held == ordinal) {
            return Ok(place);
        }
        let (answer, piece) = oneshot::channel();
        self.asks.blocking_send(Ask::Stored { ordinal, answer }).map_err(|_| gone())?;
        let piece = piece.blocking_recv().map_err(|_| gone())?;
        if self.held.len() == HELD {
            self.held.pop_front();
        }
        self.held.push_back((ordinal, piece));
        Ok(self.held.len() - 1)
    }
}

impl Read for Workbook {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Also where no piece is asked for: the next workbook waits for this thread.
        if self.asks.is_closed() {
            return Err(gone());
        }
        if self.position >= self.bytes {
            return Ok(0);
        }
        let place = self.hold(self.position / PIECE as u64)?;
        let within = (self.position % PIECE as u64) as usize;
        let rest = self.held[place].1.get(within..).unwrap_or_default();
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        self.position += length as u64;
        Ok(length)
    }
}

impl Seek for Workbook {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(by) => self.bytes.checked_add_signed(by),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
        };
        self.position = place.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

/// The CSV, in pieces of one size; the last one may be shorter.
struct Csv {
    asks: mpsc::Sender<Ask>,
    piece: Vec<u8>,
}

impl Csv {
    fn hand_out(&mut self) -> io::Result<()> {
        if self.piece.is_empty() {
            return Ok(());
        }
        let piece = std::mem::take(&mut self.piece);
        self.asks.blocking_send(Ask::Store(piece)).map_err(|_| gone())
    }
}

impl Write for Csv {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.asks.is_closed() {
            return Err(gone());
        }
        let length = bytes.len().min(PIECE - self.piece.len());
        self.piece.extend_from_slice(&bytes[..length]);
        if self.piece.len() == PIECE {
            self.hand_out()?;
        }
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_and_writing_end_once_nobody_waits_for_the_workbook() {
        let (asks, asked) = mpsc::channel(1);
        let held = VecDeque::from([(0, vec![7; 8])]);
        let mut workbook = Workbook { asks: asks.clone(), bytes: 8, position: 0, held };
        let mut csv = Csv { asks, piece: Vec::new() };
        let mut buffer = [0; 4];
        assert_eq!(workbook.read(&mut buffer).unwrap(), 4);
        assert_eq!(csv.write(b"phone\n").unwrap(), 6);
        drop(asked);
        let broken = Some(io::ErrorKind::BrokenPipe);
        assert_eq!(workbook.read(&mut buffer).err().map(|error| error.kind()), broken);
        assert_eq!(csv.write(b"1\n").err().map(|error| error.kind()), broken);
    }
}
