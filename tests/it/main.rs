//! Everything that is tested through the library's public face, in one binary.

mod contacts;
mod database;
mod store_contacts;
