//! What each company does with opt-out words.

use sea_orm::ConnectionTrait;
use serde_json::{Value, json};

use crate::Result;
use crate::changes::{self, What, Who};
use crate::nouns::Suppressions;
use crate::one_row::{find_row, put_row};
use domain::opt_out::OptOutWords;
use domain::suppression::Suppression;

impl Suppressions<'_> {
    /// What a company does with opt-out words; the default if nobody set it.
    pub async fn words(self) -> Result<OptOutWords> {
        self.words_in(&self.store.read).await
    }

    async fn words_in(self, connection: &impl ConnectionTrait) -> Result<OptOutWords> {
        let table = ("opt_out_words", "scope, stop_words, start_words");
        let of = [("company_id", self.company.into())];
        let row = find_row::<(i16, String, String)>(connection, table, of).await?;
        Ok(row.map(words_of).unwrap_or_default())
    }

    /// Sets what a company does with opt-out words. Texts that are taken in from now on follow it.
    pub async fn set_words(self, who: &Who, words: &OptOutWords) -> Result<()> {
        let company_id = self.company;
        let transaction = self.store.begin().await?;
        let before = self.words_in(&transaction).await?;
        if before == *words {
            return Ok(transaction.rollback().await?);
        }
        let row = [
            ("company_id", company_id.into()),
            ("scope", words.scope.map_or(0, Suppression::as_i16).into()),
            ("stop_words", words.stop_words.join("\n").into()),
            ("start_words", words.start_words.join("\n").into()),
        ];
        put_row(&transaction, "opt_out_words", &["company_id"], row).await?;
        changes::record_one(&transaction, who, What::Company, company_id, Some(shown(&before)), shown(words))
            .await?;
        transaction.commit().await?;
        Ok(())
    }
}

/// The settings of a row.
pub(crate) fn words_of((scope, stop_words, start_words): (i16, String, String)) -> OptOutWords {
    let list = |text: String| text.lines().map(str::to_owned).collect();
    let scope = Suppression::from_i16(scope);
    OptOutWords { scope, stop_words: list(stop_words), start_words: list(start_words) }
}

/// The settings, for the record of changes.
fn shown(words: &OptOutWords) -> Value {
    let OptOutWords { scope, stop_words, start_words } = words;
    json!({
        "opt_out_words": {
            "left_out_of": scope.map_or("nothing", Suppression::as_str),
            "stop_words": stop_words,
            "start_words": start_words,
        },
    })
}
