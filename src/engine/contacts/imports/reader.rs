//! Reads the rows of an import ahead of their writing: a thread that decodes and parses, fed with the pieces of the
//! file.

use std::io::{self, Read};
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::import::{self, Lot, Settings, read_stored};
use crate::store::Store;
use crate::store::imports::{Step, Work};

/// Pieces and lots that wait to be read and written: what an import holds in memory.
const PIECES_AHEAD: usize = 2;
const LOTS_AHEAD: usize = 2;

/// The rows of an import, in lots.
pub(super) struct Reader {
    lots: mpsc::Receiver<Step>,
    lot: Arc<Lot>,
    reading: JoinHandle<import::Result<()>>,
    feeding: JoinHandle<()>,
}

/// The result of reading on.
pub(super) enum Next {
    Rows(Step),
    /// The file was read to its end.
    End,
    /// The file cannot be read further, for this reason.
    Failed(String),
    /// The database could not be read; a retry may succeed.
    Interrupted,
}

impl Reader {
    /// Continues at the import's stored position, at first with `rows` rows in a lot.
    pub(super) fn start(store: &Store, work: &Work, rows: usize) -> Self {
        let (feed, pieces) = mpsc::channel(PIECES_AHEAD);
        let (out, lots) = mpsc::channel(LOTS_AHEAD);
        let feeding = tokio::spawn(feed_pieces(store.clone(), work.id, feed));
        let lot = Arc::new(Lot::new(rows));
        let settings: Settings = serde_json::from_str(&work.settings).unwrap_or_default();
        let (position, rows) = ((work.position, work.line), Arc::clone(&lot));
        let reading = tokio::task::spawn_blocking(move || {
            read_stored(Pieces { pieces, piece: Vec::new(), read: 0 }, &settings, position, &rows, &out)
        });
        Self { lots, lot, reading, feeding }
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
            Ok(Ok(())) => Next::End,
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

/// Feeds the pieces of a file to the reader. An empty piece says that a read failed, and ends the file early.
async fn feed_pieces(store: Store, import: Uuid, feed: mpsc::Sender<Vec<u8>>) {
    for ordinal in 0.. {
        match store.import_chunk(import, ordinal).await {
            Ok(Some(piece)) => {
                if feed.send(piece).await.is_err() {
                    return;
                }
            }
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, "cannot read a piece of an uploaded file, it is retried");
                let _ = feed.send(Vec::new()).await;
                return;
            }
        }
    }
}

struct Pieces {
    pieces: mpsc::Receiver<Vec<u8>>,
    piece: Vec<u8>,
    read: usize,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read == self.piece.len() {
            match self.pieces.blocking_recv() {
                None => return Ok(0),
                Some(piece) if piece.is_empty() => return Err(io::ErrorKind::ConnectionReset.into()),
                Some(piece) => (self.piece, self.read) = (piece, 0),
            }
        }
        let rest = &self.piece[self.read..];
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        self.read += length;
        Ok(length)
    }
}
