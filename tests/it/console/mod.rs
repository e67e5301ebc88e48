//! The console over HTTP, as a browser without script sees it.

mod access;
mod browser;
mod compose;
mod forms;
mod live;
mod sends;
mod shell;
mod sign_in;
mod world;
