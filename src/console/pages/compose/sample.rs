//! The person whose values the preview shows in place of contact fields: the first recipient, or an example
//! while no recipient is chosen.

use super::choice::Choice;
use super::{audience, template};
use crate::console::State;
use crate::console::error::Error;
use crate::console::visitor::Viewer;
use crate::console::words::Words;
use crate::domain::contact::Person;
use crate::domain::phone::PhoneNumber;

pub(super) enum Sample {
    /// No value of the form has a contact field.
    None,
    /// The first recipient; without a person, the recipient is not a contact.
    Recipient(PhoneNumber, Option<Person>),
    /// No recipient is chosen yet.
    MadeUp(Person),
}

impl Sample {
    pub(super) async fn read(
        state: &State,
        viewer: &Viewer,
        choice: &Choice,
        words: &Words,
    ) -> Result<Self, Error> {
        let Some(chosen) = choice.filled() else { return Ok(Self::None) };
        if !template::has_contact_fields(chosen, words) {
            return Ok(Self::None);
        }
        let company = viewer.company.id;
        let records = state.engine.company(company).await?;
        let mut first = audience::first_number(words);
        if let (None, Ok(tag)) = (first, words.one("tag").parse()) {
            first = records.tags().first_number(tag).await?;
        }
        let Some(number) = first else { return Ok(Self::MadeUp(made_up())) };
        let person = records.contacts().people(&[number]).await?.remove(&number);
        Ok(Self::Recipient(number, person))
    }

    /// The person whose values are shown.
    pub(super) const fn person(&self) -> Option<&Person> {
        match self {
            Self::None | Self::Recipient(_, None) => None,
            Self::Recipient(_, Some(person)) | Self::MadeUp(person) => Some(person),
        }
    }
}

fn made_up() -> Person {
    Person {
        first_name: "Ana".to_owned(),
        last_name: "Souza".to_owned(),
        email: "ana@example.com".to_owned(),
        phone_number: "+55 11 98888-7777".to_owned(),
        ..Person::default()
    }
}
