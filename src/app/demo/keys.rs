//! The API keys of a demonstration. The database has only their hashes, so they are kept in a file of the directory that only
//! its owner can read: a later start prints the same keys, and nothing that uses them stops working.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::domain::scope::Scopes;
use crate::domain::secret::Secret;
use crate::files;
use crate::store::Store;
use crate::store::api_keys::NewKey;
use crate::store::changes::Who;
use crate::vault::api_key;

/// The file, in the directory of the demonstration.
const FILE: &str = "keys.json";
/// The name of a demonstration's keys.
const NAME: &str = "demo";

/// The keys that earlier starts printed.
pub(super) struct Keys {
    path: PathBuf,
    /// A key of each company.
    known: BTreeMap<Uuid, String>,
}

impl Keys {
    /// The keys of the demonstration in this directory. A file that cannot be understood counts as none.
    pub(super) fn read(directory: &Path) -> anyhow::Result<Self> {
        let path = directory.join(FILE);
        let known = match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => BTreeMap::new(),
            read => {
                let text = read.with_context(|| format!("cannot read {}", path.display()))?;
                serde_json::from_str(&text).unwrap_or_default()
            }
        };
        Ok(Self { path, known })
    }

    /// The company's key of an earlier start while it is valid, or else a new one.
    pub(super) async fn of(&mut self, store: &Store, company: Uuid) -> anyhow::Result<Secret> {
        if let Some(known) = self.known.get(&company)
            && let Some(record) = store.keys().find(&api_key::hash(known)).await?
            && record.company_id == company
            && record.is_valid(Timestamp::now())
        {
            return Ok(Secret::new(known.clone()));
        }
        let (plain, prefix) = api_key::generate();
        let hash = api_key::hash(plain.expose());
        let new = NewKey { name: NAME, prefix: &prefix, hash, expires_at: None, scopes: Scopes::ALL };
        store.of(company).keys().add(&Who::Pombo, new).await?;
        self.known.insert(company, plain.expose().to_owned());
        self.write()?;
        Ok(plain)
    }

    fn write(&self) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(&self.known)?;
        let written = files::create(&self.path).and_then(|mut file| writeln!(file, "{text}"));
        written.with_context(|| format!("cannot write {}", self.path.display()))
    }
}
