//! The provider's words for what the templates of its library are about, in the person's language.

use maud::{Markup, html};

use crate::console::text::Text;

/// Words of the provider, each with the key of its text.
pub(super) type KnownWords = &'static [(&'static str, &'static str)];

/// The topics.
pub(super) const TOPICS: KnownWords = &[
    ("ACCOUNT_UPDATE", "library-account-update"),
    ("CUSTOMER_FEEDBACK", "library-customer-feedback"),
    ("ORDER_MANAGEMENT", "library-order-management"),
    ("PAYMENTS", "library-payments"),
];
/// The trades.
pub(super) const INDUSTRIES: KnownWords =
    &[("E_COMMERCE", "library-e-commerce"), ("FINANCIAL_SERVICES", "library-financial-services")];
/// The occasions.
pub(super) const USECASES: KnownWords = &[
    ("ORDER_CONFIRMATION", "library-order-confirmation"),
    ("ORDER_ACTION_NEEDED", "library-order-action-needed"),
    ("ORDER_DELAY", "library-order-delay"),
    ("ORDER_PICK_UP", "library-order-pick-up"),
    ("ORDER_OR_TRANSACTION_CANCEL", "library-order-cancel"),
    ("SHIPMENT_CONFIRMATION", "library-shipment-confirmation"),
    ("DELIVERY_UPDATE", "library-delivery-update"),
    ("DELIVERY_CONFIRMATION", "library-delivery-confirmation"),
    ("DELIVERY_FAILED", "library-delivery-failed"),
    ("RETURN_CONFIRMATION", "library-return-confirmation"),
    ("FEEDBACK_SURVEY", "library-feedback-survey"),
    ("PAYMENT_SCHEDULED", "library-payment-scheduled"),
    ("PAYMENT_DUE_REMINDER", "library-payment-due"),
    ("AUTO_PAY_REMINDER", "library-auto-pay"),
    ("PAYMENT_OVERDUE", "library-payment-overdue"),
    ("PAYMENT_ACTION_REQUIRED", "library-payment-action"),
    ("PAYMENT_CONFIRMATION", "library-payment-confirmation"),
    ("PAYMENT_REJECT_FAIL", "library-payment-failed"),
    ("LOW_BALANCE_WARNING", "library-low-balance"),
    ("FRAUD_ALERT", "library-fraud"),
    ("TRANSACTION_ALERT", "library-transaction"),
    ("STATEMENT_AVAILABLE", "library-statement"),
    ("STATEMENT_ATTACHMENT", "library-statement-file"),
    ("RECEIPT_ATTACHMENT", "library-receipt-file"),
    ("ACCOUNT_CREATION_CONFIRMATION", "library-account-opened"),
];

/// A word of the provider in words; one that is not known here is shown without its underscores.
pub(super) fn shown(text: Text, known: KnownWords, word: &str) -> Markup {
    match known.iter().find(|(name, _)| *name == word) {
        Some((_, key)) => html! { (text.get(key)) },
        None => html! { bdi lang="en" { (word.replace('_', " ").to_lowercase()) } },
    }
}

/// The words to choose from, after the one for any.
pub(super) fn offered(text: Text, known: KnownWords) -> impl Iterator<Item = (&'static str, String)> {
    let any = ("", text.get("library-any"));
    std::iter::once(any).chain(known.iter().map(move |(word, key)| (*word, text.get(key))))
}
