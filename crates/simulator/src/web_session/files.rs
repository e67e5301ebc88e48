//! The files that people sent to sessions, by the path that a message names.

use std::collections::{HashMap, VecDeque};

use parking_lot::Mutex;

use crate::written::StoredFile;

/// The most bytes of all files together; beyond it the oldest are removed.
const MOST_BYTES: usize = 64 << 20;

/// The newest files.
#[derive(Debug, Default)]
pub(super) struct Files(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    by_path: HashMap<String, StoredFile>,
    order: VecDeque<String>,
    bytes: usize,
}

impl Files {
    pub(super) fn add(&self, path: String, file: StoredFile) {
        let mut kept = self.0.lock();
        kept.bytes += file.bytes.len();
        kept.order.push_back(path.clone());
        kept.by_path.insert(path, file);
        while kept.bytes > MOST_BYTES
            && let Some(oldest) = kept.order.pop_front()
        {
            let removed = kept.by_path.remove(&oldest).map_or(0, |file| file.bytes.len());
            kept.bytes -= removed;
        }
    }

    /// The file under this path.
    pub(super) fn find(&self, path: &str) -> Option<StoredFile> {
        self.0.lock().by_path.get(path).cloned()
    }

    pub(super) fn clear(&self) {
        *self.0.lock() = Kept::default();
    }
}
