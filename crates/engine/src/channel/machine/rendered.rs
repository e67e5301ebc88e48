//! The part that all messages of a send share, in the form that its connector takes. Clones share it.

use std::sync::Arc;

use connectors::cloud_api;
use domain::channel::Kind;
use domain::content::{Content, Stored};

/// The part that all messages of a send share.
#[derive(Debug, Clone)]
pub(crate) enum Rendered {
    /// For a business account.
    CloudApi(Arc<cloud_api::Rendered>),
    /// For a web session.
    WebSession(Arc<Stored>),
    /// For a business account, with placeholders: rendered for each recipient just before the message goes.
    Personal(Arc<Stored>),
}

impl Rendered {
    /// For channels of this kind.
    pub(crate) fn new(kind: Kind, stored: &Stored<&Content, &str>) -> Self {
        let &Stored { content, group, key, quotes, sender, confirms, keeps_turn, values } = stored;
        let own = |text: Option<&str>| text.map(str::to_owned);
        let whole = || {
            let (content, group, key) = (content.clone(), own(group), own(key));
            let (quotes, sender) = (own(quotes), own(sender));
            Arc::new(Stored { content, group, key, quotes, sender, confirms, keeps_turn, values })
        };
        match kind {
            Kind::BusinessAccount if values || content.is_personal() => Self::Personal(whole()),
            Kind::BusinessAccount => Self::CloudApi(Arc::new(cloud_api::Rendered::quoting(content, quotes))),
            Kind::WebSession => Self::WebSession(whole()),
        }
    }

    /// Whether the message goes in its turn although no caller waits for it.
    pub(super) fn keeps_turn(&self) -> bool {
        matches!(self, Self::WebSession(stored) if stored.keeps_turn)
    }
}
