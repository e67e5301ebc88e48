//! The interface of drivers of web sessions, and the driver for WhatsApp itself.

#[cfg(feature = "web-session")]
pub mod whatsapp;

pub use ::driver::*;
