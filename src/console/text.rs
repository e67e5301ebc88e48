//! The console's texts, in Fluent: a file for each page and language, all compiled in.
//!
//! A key begins with the name of its file: `keys-create` is in `locales/*/keys.ftl`. A test reads the sources
//! and checks that each key that is used exists in every language, and that no key is unused.

use std::sync::LazyLock;

pub(super) use fluent_bundle::FluentValue;
use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::types::FluentNumber;
use fluent_bundle::{FluentArgs, FluentResource};
use unic_langid::LanguageIdentifier;

use super::language::Language;

type Bundle = FluentBundle<FluentResource>;

/// Lists the files of every language.
macro_rules! files {
    ($($name:literal),* $(,)?) => {
        /// The names of the files.
        #[cfg(test)]
        pub(super) const FILES: &[&str] = &[$($name),*];

        fn sources(language: Language) -> Vec<&'static str> {
            match language {
                Language::English => vec![$(include_str!(concat!("locales/en/", $name, ".ftl"))),*],
                Language::Portuguese => vec![$(include_str!(concat!("locales/pt-BR/", $name, ".ftl"))),*],
                Language::Spanish => vec![$(include_str!(concat!("locales/es/", $name, ".ftl"))),*],
            }
        }
    };
}

files! {
    "account",
    "alerts",
    "automatic",
    "cause",
    "changes",
    "channels",
    "companies",
    "company",
    "compose",
    "contacts",
    "costs",
    "drafts",
    "emoji",
    "fault",
    "fields",
    "help",
    "imports",
    "inbox",
    "journey",
    "keys",
    "library",
    "link",
    "look",
    "media",
    "nodes",
    "operator",
    "overview",
    "pairing",
    "prices",
    "profile",
    "programs",
    "reason",
    "replies",
    "send",
    "segments",
    "send-list",
    "shell",
    "sign-in",
    "suppressions",
    "tags",
    "templates",
    "tiers",
    "users",
    "webhooks",
}

static ENGLISH: LazyLock<Bundle> = LazyLock::new(|| bundle(Language::English));
static PORTUGUESE: LazyLock<Bundle> = LazyLock::new(|| bundle(Language::Portuguese));
static SPANISH: LazyLock<Bundle> = LazyLock::new(|| bundle(Language::Spanish));

/// Reads all texts, so that the first page does not wait for them.
pub(super) fn load() {
    for bundle in [&ENGLISH, &PORTUGUESE, &SPANISH] {
        LazyLock::force(bundle);
    }
}

fn bundle(language: Language) -> Bundle {
    let tag: LanguageIdentifier = language.as_str().parse().unwrap_or_default();
    let mut bundle = Bundle::new_concurrent(vec![tag]);
    // Names are in elements of their own, which separate writing directions.
    bundle.set_use_isolating(false);
    match language {
        Language::English => bundle.set_formatter(Some(english)),
        Language::Portuguese => bundle.set_formatter(Some(portuguese)),
        Language::Spanish => bundle.set_formatter(Some(spanish)),
    }
    for source in sources(language) {
        let resource = FluentResource::try_new(source.to_owned()).unwrap_or_else(|(resource, faults)| {
            tracing::error!(language = language.as_str(), ?faults, "a file of texts has faults");
            resource
        });
        if let Err(faults) = bundle.add_resource(resource) {
            tracing::error!(language = language.as_str(), ?faults, "a text is in two files");
        }
    }
    bundle
}

fn english<M>(value: &FluentValue<'_>, _: &M) -> Option<String> {
    written(value, Language::English)
}

fn portuguese<M>(value: &FluentValue<'_>, _: &M) -> Option<String> {
    written(value, Language::Portuguese)
}

fn spanish<M>(value: &FluentValue<'_>, _: &M) -> Option<String> {
    written(value, Language::Spanish)
}

/// A number in the format of the language: the library has no formats of its own.
fn written(value: &FluentValue<'_>, language: Language) -> Option<String> {
    let FluentValue::Number(FluentNumber { value, .. }) = value else { return None };
    Some(language.decimal(*value, 2))
}

/// Every text in one language.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text(pub(super) Language);

impl Text {
    fn bundle(self) -> &'static Bundle {
        match self.0 {
            Language::English => &ENGLISH,
            Language::Portuguese => &PORTUGUESE,
            Language::Spanish => &SPANISH,
        }
    }

    /// The text of this key.
    pub(super) fn get(self, key: &str) -> String {
        self.format(key, None)
    }

    /// The text of this key, with its variables: `text.with("keys-left", [("count", 3.into())])`.
    pub(super) fn with<'a, const N: usize>(
        self,
        key: &str,
        values: [(&'a str, FluentValue<'a>); N],
    ) -> String {
        let values: FluentArgs<'a> = values.into_iter().collect();
        self.format(key, Some(&values))
    }

    fn format(self, key: &str, values: Option<&FluentArgs<'_>>) -> String {
        let bundle = self.bundle();
        let Some(pattern) = bundle.get_message(key).and_then(|message| message.value()) else {
            tracing::error!(key, language = self.0.as_str(), "a text is missing");
            return key.to_owned();
        };
        let mut faults = Vec::new();
        let text = bundle.format_pattern(pattern, values, &mut faults).into_owned();
        if !faults.is_empty() {
            tracing::error!(key, language = self.0.as_str(), ?faults, "a text lacks a variable");
            debug_assert!(faults.is_empty(), "{key}: {faults:?}");
        }
        text
    }

    /// A whole number in the format of the language.
    pub(super) fn number(self, number: u64) -> String {
        self.0.whole(number)
    }
}

#[cfg(test)]
mod tests;
