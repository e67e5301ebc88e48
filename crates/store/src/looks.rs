//! How the pages of each company look: what its owners chose.

use sea_orm::ConnectionTrait;
use serde_json::{Value, json};

use crate::Result;
use crate::changes::{self, What, Who};
use crate::nouns::{CompanyLook, Looks};
use crate::one_row::{delete_rows, find_row, put_row, update_rows};
use clock::Timestamp;

/// What the owners of a company chose for its pages; nothing of it by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Look {
    /// The name in the head of each page, in place of the company's.
    pub name: Option<String>,
    /// The colour of links and buttons: `#` and six hexadecimal digits.
    pub colour: Option<String>,
    /// The SHA-256 of the logo in hexadecimal digits, by which it is served.
    pub logo: Option<String>,
}

/// What becomes of the logo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogoChange {
    /// It stays as it is.
    Kept,
    /// There is none.
    Removed,
    /// This PNG file replaces it.
    Replaced {
        /// Its SHA-256 in hexadecimal digits.
        hash: String,
        /// The file.
        png: Vec<u8>,
    },
}

impl CompanyLook<'_> {
    /// What the company's owners chose.
    pub async fn chosen(self) -> Result<Look> {
        self.chosen_in(&self.store.read).await
    }

    async fn chosen_in(self, connection: &impl ConnectionTrait) -> Result<Look> {
        type Row = (Option<String>, Option<String>, Option<String>);
        let of = [("company_id", self.company.into())];
        let row = find_row::<Row>(connection, ("company_look", "name, colour, logo_hash"), of).await?;
        Ok(row.map(|(name, colour, logo)| Look { name, colour, logo }).unwrap_or_default())
    }

    /// Sets the look. Returns whether that changed anything.
    pub async fn set(
        self,
        who: &Who,
        name: Option<&str>,
        colour: Option<&str>,
        logo: LogoChange,
    ) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let before = self.chosen_in(&transaction).await?;
        let hash = match &logo {
            LogoChange::Kept => before.logo.clone(),
            LogoChange::Removed => None,
            LogoChange::Replaced { hash, .. } => Some(hash.clone()),
        };
        let after = Look { name: name.map(str::to_owned), colour: colour.map(str::to_owned), logo: hash };
        if before == after {
            return transaction.unchanged(false).await;
        }
        let id = self.company;
        if after == Look::default() {
            delete_rows(&transaction, "company_look", [("company_id", id.into())]).await?;
        } else {
            let row = [
                ("company_id", id.into()),
                ("name", name.into()),
                ("colour", colour.into()),
                ("changed_at", Timestamp::now().millis().into()),
            ];
            put_row(&transaction, "company_look", &["company_id"], row).await?;
            let file = match logo {
                LogoChange::Kept => None,
                LogoChange::Removed => Some(None),
                LogoChange::Replaced { png, .. } => Some(Some(png)),
            };
            if let Some(file) = file {
                let set = [("logo_hash", after.logo.clone().into()), ("logo", file.into())];
                update_rows(&transaction, "company_look", set, [("company_id", id.into())]).await?;
            }
        }
        changes::record_one(&transaction, who, What::Company, id, Some(shown(&before)), shown(&after))
            .await?;
        transaction.commit().await?;
        Ok(true)
    }
}

impl Looks<'_> {
    /// The logo with this hash, a PNG file, of whichever company.
    pub async fn logo(self, hash: &str) -> Result<Option<Vec<u8>>> {
        let of = [("logo_hash", hash.into())];
        let logo = find_row::<Option<Vec<u8>>>(&self.store.read, ("company_look", "logo"), of).await?;
        Ok(logo.flatten())
    }
}

/// The look, for the record of changes.
fn shown(Look { name, colour, logo }: &Look) -> Value {
    json!({ "shown_name": name, "colour": colour, "logo": logo })
}
