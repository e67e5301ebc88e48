//! Cards of people, as the content of a message.
//!
//! A business account sends them in the provider's form; a web session as [vCards](ContactCard::vcard), which is the form
//! that WhatsApp's apps exchange. The limits of texts are ours: the provider documents none.

mod vcard;

use serde::Deserialize;
use serde_json::Value;

use crate::error::{Code, Refusal};
use crate::payload::{Node, Part, parts};
use clock::Timestamp;

/// The most cards in one message, by the provider's documentation.
pub const MOST_CARDS: usize = 257;

parts! {
    /// A person's card. The provider's own form.
    #[derive(Eq, Deserialize)]
    pub struct ContactCard {
        /// The name.
        name: one(CardName),
        /// The phone numbers.
        phones: many(CardPhone, 32)?,
        /// The e-mail addresses.
        emails: many(CardEmail, 32)?,
        /// The postal addresses.
        addresses: many(CardAddress, 32)?,
        /// The web pages.
        urls: many(CardUrl, 32)?,
        /// Where the person works.
        org: one(CardOrganization)?,
        /// Year, month and day.
        #[schema(example = "1990-12-31")]
        birthday: text(10)?,
    }

    /// A name: as it is shown, and at least one of its parts.
    #[derive(Eq, Deserialize)]
    pub struct CardName {
        /// The whole name, as it is shown.
        #[schema(example = "Ana Souza")]
        formatted_name: text(256),
        /// The given name.
        #[schema(example = "Ana")]
        first_name: text(256)?,
        /// The family name.
        last_name: text(256)?,
        /// A name between both.
        middle_name: text(256)?,
        /// Behind the name, such as `Jr.`
        suffix: text(256)?,
        /// Before the name, such as `Dr.`
        prefix: text(256)?,
    }

    /// A phone number.
    #[derive(Eq, Deserialize)]
    pub struct CardPhone {
        /// The number, as it is shown.
        #[schema(example = "+55 11 98888-7777")]
        phone: text(64),
        /// The kind of number, such as `CELL`, `WORK` or `HOME`.
        r#type: text(32)?,
        /// The number's digits, if it is on WhatsApp: without them, the card offers to invite the person.
        #[schema(example = "5511988887777")]
        wa_id: text(32)?,
    }

    /// An e-mail address.
    #[derive(Eq, Deserialize)]
    pub struct CardEmail {
        /// The address.
        #[schema(example = "ana@example.com")]
        email: text(256),
        /// The kind of address, such as `WORK` or `HOME`.
        r#type: text(32)?,
    }

    /// A postal address.
    #[derive(Eq, Deserialize)]
    pub struct CardAddress {
        /// The street and the house number.
        street: text(256)?,
        /// The city.
        city: text(256)?,
        /// The state, often in short.
        state: text(256)?,
        /// The postal code.
        zip: text(32)?,
        /// The country.
        country: text(256)?,
        /// The country's code of two letters.
        country_code: text(8)?,
        /// The kind of address, such as `WORK` or `HOME`.
        r#type: text(32)?,
    }

    /// A web page.
    #[derive(Eq, Deserialize)]
    pub struct CardUrl {
        /// The page's address.
        #[schema(example = "https://example.com")]
        url: text(2048),
        /// The kind of page, such as `WORK` or `HOME`.
        r#type: text(32)?,
    }

    /// Where a person works.
    #[derive(Eq, Deserialize)]
    pub struct CardOrganization {
        /// The company.
        company: text(256)?,
        /// The department.
        department: text(256)?,
        /// The person's title.
        title: text(256)?,
    }
}

impl ContactCard {
    /// Reads the field `contacts` of a send.
    ///
    /// # Errors
    ///
    /// `invalid_contacts`, with the path of what breaks a rule.
    pub fn parse_all(value: &Value) -> Result<Vec<Self>, Refusal> {
        let root = Node::root(Code::InvalidContacts, "contacts", value);
        let card = |node: &Node<'_>| {
            let card = Self::read(node)?;
            card.check(node)?;
            Ok(card)
        };
        root.items(MOST_CARDS)?.iter().map(card).collect()
    }

    /// What the provider asks of several fields together, and of dates.
    fn check(&self, node: &Node<'_>) -> Result<(), Refusal> {
        let CardName { formatted_name: _, first_name, last_name, middle_name, suffix, prefix } = &self.name;
        if [first_name, last_name, middle_name, suffix, prefix].iter().all(|part| part.is_none()) {
            return Err(node.object("name")?.refuse(
                "has no part beside `formatted_name`: give at least one of first_name, last_name, middle_name, \
                 suffix, prefix",
            ));
        }
        let is_day = |day: &String| day.len() == 10 && Timestamp::parse(&format!("{day}T00:00:00Z")).is_ok();
        if self.birthday.as_ref().is_some_and(|day| !is_day(day)) {
            return Err(node.refuse("has a `birthday` that is not a date such as 1990-12-31"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
