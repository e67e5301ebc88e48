//! The console over HTTP, as a browser without script sees it.

mod access;
mod browser;
mod contacts;
mod forms;
mod imports;
mod live;
mod shell;
mod sign_in;
mod world;
