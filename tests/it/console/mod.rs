//! The console over HTTP, as a browser without script sees it.

mod access;
mod account;
mod browser;
mod channels;
mod company;
mod forms;
mod keys;
mod live;
mod operator;
mod shell;
mod sign_in;
mod world;
