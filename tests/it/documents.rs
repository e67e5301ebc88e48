//! The documents: their commands run, their links have targets, and their tables match the code.

mod commands;
mod links;
mod markdown;
mod names;
