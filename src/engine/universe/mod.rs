//! A simulated world, in one thread and virtual time, from one seed: it drives the engine's real machines and tries to
//! break them.
//!
//! Compiled for tests, and for the program `universe` with the feature of that name; nothing of it is in the product.

mod dice;
mod model;
