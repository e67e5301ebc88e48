//! Fetching the file behind a link, over real sockets: the allowed addresses, the limits, and the kinds of
//! files.

mod bounds;
mod content;
mod guard;
pub(crate) mod host;
mod names;

use std::sync::Arc;
use std::time::Duration;

use pombo::config::{self, Config};
use pombo::connector::media::{Fetcher, Kind, Media};
use pombo::error::{Code, Refusal};
use url::Url;
use uuid::Uuid;

use self::names::Names;

/// The company that sends, in most tests.
const COMPANY: Uuid = Uuid::from_u128(1);

/// The reference configuration, with short timeouts and permission to fetch from this machine.
fn options() -> config::Media {
    config::Media {
        allow: vec!["127.0.0.0/8".parse().unwrap()],
        connect_timeout: Duration::from_secs(5),
        stall_timeout: Duration::from_secs(5),
        timeout: Duration::from_secs(20),
        ..Config::default().media
    }
}

/// A fetcher that resolves names with this table.
fn fetcher(options: &config::Media, names: &Arc<Names>) -> Fetcher {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Fetcher::with_lookup(options, Arc::<Names>::clone(names)).unwrap()
}

/// Fetches by a fetcher of its own.
async fn fetch(link: &str, wanted: Kind) -> Result<Media, Refusal> {
    fetcher(&options(), &Names::none()).fetch(COMPANY, &Url::parse(link).unwrap(), wanted).await
}

fn code(fetched: Result<Media, Refusal>) -> Code {
    fetched.unwrap_err().code
}
