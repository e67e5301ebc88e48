//! What a provider, a network or a crash does to sends under way, and what comes of them all the same: one
//! file for each trouble, all of it through the real surface.

mod killed;
mod killed_again_and_again;
mod killed_in_trouble;
mod provider_down;
mod receipts_out_of_order;
mod reply_lost;
mod steered;
mod watch;
