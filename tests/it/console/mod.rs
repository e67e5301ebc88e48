//! The console over HTTP, as a browser without script sees it.

mod access;
mod account;
mod browser;
mod channels;
mod company;
mod compose;
mod compose_fields;
mod compose_phone;
mod contacts;
mod forms;
mod help;
mod imports;
mod invitations;
mod kept;
mod keys;
mod live;
mod nodes;
mod one_way;
mod operator;
mod overview;
mod sends;
mod shell;
mod sign_in;
mod templates;
mod weight;
mod world;
