//! Reads the rows of an import ahead of their writing: a thread that decodes and parses, fed with the pieces of the
//! file.

use std::io::{self, Read};
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::names;
use super::upload::PIECE;
use import::{Lot, Settings, Tally, read_stored};
use store::imports::{Step, Work};
use store::{Names, Store};

/// Pieces and lots that wait to be read and written: what an import holds in memory.
const PIECES_AHEAD: usize = 2;
const LOTS_AHEAD: usize = 2;

/// The rows of an import, in lots.
pub(super) struct Reader {
    lots: mpsc::Receiver<Step>,
    lot: Arc<Lot>,
    names: Names,
    reading: JoinHandle<import::Result<Tally>>,
    feeding: JoinHandle<()>,
}

/// The result of reading on.
pub(super) enum Next {
    Rows(Step),
    /// The file was read to its end, and holds so much.
    End(Tally),
    /// The file cannot be read further, for this reason.
    Failed(String),
    /// The database could not be read; a retry may succeed.
    Interrupted,
}

impl Reader {
    /// Continues at the import's stored position, at first with `rows` rows in a lot.
    pub(super) fn start(store: &Store, work: &Work, rows: usize) -> Self {
        let (out, lots) = mpsc::channel(LOTS_AHEAD);
        let settings: Settings = serde_json::from_str(&work.settings).unwrap_or_default();
        let pieces_of = (work.id, settings.first_piece);
        let (pieces, feeding) = stored_file(store, pieces_of, work.bytes);
        let lot = Arc::new(Lot::new(rows));
        let names = names(&settings);
        let (position, rows) = ((work.position, work.line), Arc::clone(&lot));
        let reading =
            tokio::task::spawn_blocking(move || read_stored(pieces, &settings, position, &rows, &out));
        Self { lots, lot, names, reading, feeding }
    }

    /// What becomes of names that look wrongly decoded.
    pub(super) const fn names(&self) -> Names {
        self.names
    }

    /// Sets the number of rows, from the lot after the next ones on.
    pub(super) fn set_rows(&self, rows: usize) {
        self.lot.set(rows);
    }

    pub(super) async fn next(&mut self) -> Next {
        if let Some(step) = self.lots.recv().await {
            return Next::Rows(step);
        }
        match (&mut self.reading).await {
            Ok(Ok(tally)) => Next::End(tally),
            Ok(Err(import::Error::Unread(_))) => Next::Interrupted,
            Ok(Err(error)) => Next::Failed(error.to_string()),
            Err(error) => {
                tracing::error!(%error, "reading an uploaded file failed because of a defect");
                Next::Failed("reading the file failed".to_owned())
            }
        }
    }
}

impl Drop for Reader {
    /// The thread ends when nobody feeds it or takes its lots.
    fn drop(&mut self) {
        self.feeding.abort();
    }
}

/// The result of reading one piece.
enum Piece {
    Bytes(Vec<u8>),
    /// The database could not be read.
    Unread,
    /// The piece that begins at this byte is not there, or not whole.
    Damaged(u64),
}

/// A stored file of so many bytes from its first piece on, for a thread that reads it, and the task that feeds the thread.
pub(super) fn stored_file(store: &Store, pieces_of: (Uuid, u64), bytes: u64) -> (Pieces, JoinHandle<()>) {
    let (feed, pieces) = mpsc::channel(PIECES_AHEAD);
    let feeding = tokio::spawn(feed_pieces(store.clone(), pieces_of, bytes, feed));
    (Pieces { pieces, piece: Vec::new(), read: 0 }, feeding)
}

/// Feeds the pieces of a file of so many bytes to the reader, from the first one on, until one cannot be read: what lies
/// behind it would be spliced to what lies before.
async fn feed_pieces(store: Store, (import, first): (Uuid, u64), bytes: u64, feed: mpsc::Sender<Piece>) {
    let mut offset = 0;
    for ordinal in first.. {
        let whole = (bytes - offset).min(PIECE as u64);
        let piece = match store.imports().chunk(import, ordinal).await {
            Ok(None) if whole == 0 => return,
            Ok(Some(piece)) if whole > 0 && piece.len() as u64 == whole => Piece::Bytes(piece),
            Ok(_) => Piece::Damaged(offset),
            Err(error) => {
                tracing::warn!(%error, "cannot read a piece of an uploaded file, it is retried");
                Piece::Unread
            }
        };
        offset += whole;
        let is_last = !matches!(piece, Piece::Bytes(_));
        if feed.send(piece).await.is_err() || is_last {
            return;
        }
    }
}

/// The bytes of a stored file.
pub(super) struct Pieces {
    pieces: mpsc::Receiver<Piece>,
    piece: Vec<u8>,
    read: usize,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read == self.piece.len() {
            match self.pieces.blocking_recv() {
                None => return Ok(0),
                Some(Piece::Unread) => return Err(io::ErrorKind::ConnectionReset.into()),
                Some(Piece::Damaged(offset)) => {
                    let said = format!("byte {offset}: the stored file is incomplete: upload it again");
                    return Err(io::Error::new(io::ErrorKind::InvalidData, said));
                }
                Some(Piece::Bytes(piece)) => (self.piece, self.read) = (piece, 0),
            }
        }
        let rest = &self.piece[self.read..];
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        self.read += length;
        Ok(length)
    }
}
