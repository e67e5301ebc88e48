//! Background work: the rounds of the [`sentinel`], and the components that they serve.

pub(super) mod accounts;
mod indexing;
pub(super) mod retention;
pub(super) mod sentinel;
pub(super) mod wall_clock;
