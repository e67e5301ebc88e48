//! Every code, and the order in which the checks answer.

mod business;
mod enclosed;
mod hostile;
mod label;
mod recipients;
mod web;

use crate::error::{Code, Refusal};

/// The code that refuses, or nothing.
fn code<T>(parsed: Result<T, Refusal>) -> Option<Code> {
    parsed.err().map(|refusal| refusal.code)
}
