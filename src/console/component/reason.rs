//! The reasons for which a send waits, in words.

use crate::console::text::Text;
use crate::domain::outlook::Reason;

/// The words for a reason.
pub(crate) fn reason(text: Text, reason: Reason) -> String {
    text.get(match reason {
        Reason::Rate => "reason-rate",
        Reason::BackOff => "reason-back-off",
        Reason::Pair => "reason-pair",
        Reason::TemplateQuota => "reason-template-quota",
        Reason::QuietHours => "reason-quiet-hours",
        Reason::DailyCap => "reason-daily-cap",
        Reason::TemplatePaused => "reason-template-paused",
        Reason::RecipientHeld => "reason-recipient-held",
        Reason::ProviderPause => "reason-provider-pause",
        Reason::NoSocket => "reason-no-socket",
        Reason::AccountThrottled => "reason-account-throttled",
        Reason::AppThrottled => "reason-app-throttled",
        Reason::Disconnected => "reason-disconnected",
        Reason::Blocked => "reason-blocked",
        Reason::Paused => "reason-paused",
        Reason::Scheduled => "reason-scheduled",
        Reason::UnknownOutcome => "reason-unknown-outcome",
        Reason::Retry => "reason-retry",
        Reason::InFlight => "reason-in-flight",
        Reason::Turn => "reason-turn",
    })
}
