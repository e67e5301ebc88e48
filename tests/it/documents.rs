//! The documents: their commands run, their links lead somewhere, their tables say what the code says.

mod commands;
mod links;
mod markdown;
mod names;
