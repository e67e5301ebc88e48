//! The messages to one person.

use uuid::Uuid;

use crate::Error;
use crate::sends::Sends;
use clock::Timestamp;
use domain::message::{Key, State};
use domain::page::{Page, Window};
use domain::phone::PhoneNumber;
use store::sends::list::Filter;
use store::sends::messages::{Addressed, ToPerson};

impl Sends<'_> {
    /// A company's messages to the person with this number, under any of the person's numbers, those of later sends
    /// first. `state` is the state of the messages, and `sends` selects the sends that they belong to.
    pub async fn to_person(
        &self,
        company_id: Uuid,
        number: PhoneNumber,
        state: Option<State>,
        sends: Filter,
        window: Window<Key>,
    ) -> Result<Page<Addressed>, Error> {
        let numbers = self.engine.0.shared.people.forms(company_id, number);
        let records = self.engine.records_of(company_id).await?;
        let asked = ToPerson { numbers, state, sends };
        Ok(records.of(company_id).sends().to_person(&asked, window, Timestamp::now()).await?)
    }
}
