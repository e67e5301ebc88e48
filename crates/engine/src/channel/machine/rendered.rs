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
    /// For a business account, with contact fields: rendered for each recipient just before the message goes.
    Personal(Arc<Content>),
}

impl Rendered {
    /// For channels of this kind.
    pub(crate) fn new(kind: Kind, stored: &Stored<&Content, &str>) -> Self {
        let &Stored { content, group, key, quotes, confirms } = stored;
        match kind {
            Kind::BusinessAccount if content.is_personal() => Self::Personal(Arc::new(content.clone())),
            Kind::BusinessAccount => Self::CloudApi(Arc::new(cloud_api::Rendered::quoting(content, quotes))),
            Kind::WebSession => {
                let own = |text: Option<&str>| text.map(str::to_owned);
                Self::WebSession(Arc::new(Stored {
                    content: content.clone(),
                    group: own(group),
                    key: own(key),
                    quotes: own(quotes),
                    confirms,
                }))
            }
        }
    }
}
