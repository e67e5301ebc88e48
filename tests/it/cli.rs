//! The `pombo` program as an operator meets it: output, sentences, exit codes.

mod demo;
mod operator;
mod refusals;
mod tuning;
mod webhook;
