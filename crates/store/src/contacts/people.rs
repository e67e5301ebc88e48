//! The contacts of recipients, for messages with contact fields.

use std::collections::HashMap;

use uuid::Uuid;

use crate::dialect::{Rows, Type};
use crate::nouns::Contacts;
use crate::{Error, Result, fetch};
use domain::contact::Person;
use domain::phone::PhoneNumber;

impl Contacts<'_> {
    /// The contacts of `company` with these numbers: names, e-mail address, number and own fields. Of several contacts with
    /// one number the oldest counts, as in imports. Two queries, however many there are.
    pub async fn people(self, numbers: &[PhoneNumber]) -> Result<HashMap<PhoneNumber, Person>> {
        let mut wanted = Rows::new(self.store.backend, &[("phone", Type::Int)]);
        numbers.iter().for_each(|number| wanted.push([number.as_i64().into()]));
        if wanted.is_empty() {
            return Ok(HashMap::new());
        }
        let (wanted, values) = wanted.behind([self.company.into()]);
        let select = format!(
            "SELECT contact.id, contact.phone, contact.first_name, contact.last_name, contact.email, contact.phone_number
             FROM {wanted} AS wanted CROSS JOIN contact
             WHERE contact.company_id = $1 AND contact.phone = wanted.phone
             ORDER BY contact.ordinal DESC"
        );
        type Columns = (Uuid, i64, String, String, String, String);
        let rows = fetch::<Columns>(&self.store.read, select, values).await?;
        let ids = rows.iter().map(|(id, ..)| id);
        let mut own = self.store.of(self.company).fields().values_of(&self.store.read, ids).await?;
        let mut people = HashMap::with_capacity(rows.len());
        for (id, phone, first_name, last_name, email, phone_number) in rows {
            let number = u64::try_from(phone).ok().and_then(PhoneNumber::from_u64);
            let number =
                number.ok_or_else(|| Error::Impossible(format!("the number {phone} of a contact")))?;
            let own = own.remove(&id).unwrap_or_default();
            let person = Person { first_name, last_name, email, phone_number, own, ..Person::default() };
            // The oldest comes last.
            people.insert(number, person);
        }
        Ok(people)
    }
}
