//! The engine under a provider with faults, through the real surface: each file is named by what it shows.

mod live_limits;
mod opted_out;
mod pacing;
mod pair_limit;
mod stage;
mod template_paused_in_mid_send;
mod template_quota;
mod throttle_storm;
mod token_expired_in_mid_send;
