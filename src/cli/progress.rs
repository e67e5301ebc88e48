//! Bars for commands that take a while: on standard error, and only on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar over `total` items. It is invisible without a terminal and when data is printed as JSON.
pub(super) fn bar(total: u64, what: &'static str, is_hidden: bool) -> ProgressBar {
    let target = if is_hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let style = ProgressStyle::with_template("{msg} {wide_bar} {percent:>3} %  {eta} left");
    let bar = ProgressBar::with_draw_target(Some(total), target).with_message(what);
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
