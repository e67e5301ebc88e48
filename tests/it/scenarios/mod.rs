//! Faults of the provider, the network and the process during sends, and the results of these sends. Each
//! file has one fault and is named after it; all tests use the real surface.

mod blocked;
mod killed;
mod killed_again_and_again;
mod killed_and_ended;
mod killed_at_the_quota;
mod killed_before_the_answer;
mod killed_in_trouble;
mod killed_while_people_write;
mod level_unknown;
mod live_limits;
mod opted_out;
mod pacing;
mod pair_limit;
mod provider_down;
mod receipts_out_of_order;
mod refused_for_something_else;
mod reply_lost;
mod reported;
mod seed;
pub(crate) mod stage;
mod steered;
mod taken_and_refused;
mod template_paused_in_mid_send;
mod template_quota;
mod template_quota_known;
mod templates_listed;
mod throttle_storm;
mod token_expired_in_mid_send;
mod watch;
