//! Own fields of contacts: adding, renaming and deleting them.

use uuid::Uuid;

use crate::Error;
use crate::contacts::Contacts;
use clock::Timestamp;
use domain::error::{Code, Refusal};
use domain::own_field::{self, FieldKind, MOST_FIELDS, OwnField};
use store::changes::Who;
use store::{Edited, NewField};

impl Contacts<'_> {
    /// Adds an own field of this name to a company's contacts. Its key follows from the name.
    ///
    /// # Errors
    ///
    /// `invalid_field` for a name that is none, `field_name_taken`, `too_many_fields`.
    pub async fn add_field(
        &self,
        who: &Who,
        company: Uuid,
        name: &str,
        kind: FieldKind,
    ) -> Result<OwnField, Error> {
        let name = checked(name)?;
        let records = self.engine.records_of(company).await?;
        match records.of(company).fields().add(who, &name, kind, Timestamp::now()).await? {
            NewField::Added(field) => Ok(field),
            NewField::Taken => Err(taken().into()),
            NewField::Full => {
                let sentence = format!(
                    "this company has {MOST_FIELDS} own fields of contacts, and none more: delete one"
                );
                Err(Refusal::new(Code::TooManyFields, sentence).into())
            }
        }
    }

    /// Gives an own field another name. Its key stays.
    ///
    /// # Errors
    ///
    /// `field_not_found`, `invalid_field` for a name that is none, `field_name_taken`.
    pub async fn rename_field(&self, who: &Who, company: Uuid, id: Uuid, name: &str) -> Result<(), Error> {
        let name = checked(name)?;
        let records = self.engine.records_of(company).await?;
        match records.of(company).fields().rename(who, id, &name).await? {
            Edited::Done => Ok(()),
            Edited::Taken => Err(taken().into()),
            Edited::Missing | Edited::Nameless | Edited::Outdated => Err(no_such_field().into()),
        }
    }

    /// Deletes an own field: from now on no contact has a value of it, and the values are removed in steps.
    ///
    /// # Errors
    ///
    /// `field_not_found`.
    pub async fn delete_field(&self, who: &Who, company: Uuid, id: Uuid) -> Result<(), Error> {
        let deleted = self.engine.records_of(company).await?.of(company).fields().delete(who, id).await?;
        self.engine.0.imports.wake();
        if deleted { Ok(()) } else { Err(no_such_field().into()) }
    }
}

/// The name of a field in its one form.
fn checked(name: &str) -> Result<String, Refusal> {
    let invalid = |sentence: String| Refusal::new(Code::InvalidField, sentence).about("name");
    let name = own_field::checked_name(name).map_err(invalid)?;
    if import::is_taken(&name) {
        let sentence = "every contact has a field of this name: choose another one";
        return Err(Refusal::new(Code::FieldNameTaken, sentence).about("name"));
    }
    Ok(name)
}

fn taken() -> Refusal {
    let sentence = "another own field of this company has this name: choose another one";
    Refusal::new(Code::FieldNameTaken, sentence).about("name")
}

/// The refusal for an own field that the company does not have.
pub fn no_such_field() -> Refusal {
    let sentence = "this company has no such field: GET /api/v1/contacts/fields lists them";
    Refusal::new(Code::FieldNotFound, sentence)
}
