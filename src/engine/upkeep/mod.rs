//! Work in the background that no request asks for: the rounds of the [`sentinel`], and what they look after.

mod indexing;
pub(super) mod retention;
pub(super) mod rounds;
pub(super) mod sentinel;
pub(super) mod wall_clock;
