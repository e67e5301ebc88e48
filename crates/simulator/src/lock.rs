//! Locks that ignore poisoning, so that a simulator keeps answering after a panic.
//!
//! Every guard is held for a few instructions and never across an `await`.

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// One owner at a time.
#[derive(Debug, Default)]
pub(super) struct Lock<T>(Mutex<T>);

impl<T> Lock<T> {
    pub(super) fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    /// Waits for the lock and holds the value.
    pub(super) fn hold(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Many readers or one writer.
#[derive(Debug, Default)]
pub(super) struct Shared<T>(RwLock<T>);

impl<T> Shared<T> {
    pub(super) fn new(value: T) -> Self {
        Self(RwLock::new(value))
    }

    /// Reads beside other readers.
    pub(super) fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the value, alone.
    pub(super) fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}
