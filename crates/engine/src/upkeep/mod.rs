//! Background work: the rounds of the [`sentinel`], and the components that they serve.

pub(super) mod accounts;
mod census;
mod indexing;
mod quotas;
pub(super) mod retention;
pub(super) mod sentinel;
mod tokens;
pub(super) mod wall_clock;
