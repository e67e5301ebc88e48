//! The `pombo` program as an operator meets it: output, sentences, exit codes.

mod demo;
mod loadtest;
mod operator;
mod refusals;
mod suppression;
mod tuning;
mod webhook;
