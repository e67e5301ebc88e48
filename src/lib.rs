//! Pombo: a self-hosted messaging service for companies that talk to their customers on WhatsApp.

pub mod clock;
pub mod simulator;
