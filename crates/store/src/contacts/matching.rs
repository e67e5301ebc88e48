//! Matches drafts with contacts, in memory, one draft after the other, for a whole batch.
//!
//! A draft matches the contact with its phone number, else one with its e-mail address, else it is a new contact. People
//! who share an address and have different valid numbers are different people.
//! Earlier drafts of the batch count, so a file that repeats a person creates one contact. Called by the store's
//! import, which reads the candidates before and writes the changes after.

use std::collections::{BTreeSet, HashMap};

use uuid::Uuid;

use super::import::Upserted;
use domain::contact::Person;
use domain::garbled;
use domain::own_field::FieldKey;
use domain::phone::PhoneNumber;

/// What becomes of a contact's name when a draft has another one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Names {
    /// The draft's replaces it.
    #[default]
    Replace,
    /// The draft's replaces it, unless it looks like the same name in a wrong encoding.
    KeepGood,
}

/// A contact while a batch is decided.
pub(crate) struct Slot {
    pub(crate) id: Uuid,
    pub(crate) person: Person,
    pub(crate) phone: Option<PhoneNumber>,
    /// The names of its tags without case and accents, one a line.
    pub(crate) tag_text: String,
    /// Its ordinal; 0 while it is new.
    pub(crate) ordinal: i64,
    /// Not in the database yet.
    pub(crate) is_new: bool,
    /// The database has other values.
    pub(crate) is_changed: bool,
    /// The database has other searched texts.
    pub(crate) is_stale: bool,
    /// The database has another number.
    pub(crate) is_renumbered: bool,
    /// The own fields of which the database has another value. Of a new contact, all values are written.
    pub(crate) own_changes: BTreeSet<FieldKey>,
}

/// All contacts that a batch may touch, the oldest first.
#[derive(Default)]
pub(crate) struct Matcher {
    pub(crate) slots: Vec<Slot>,
    // The slots in which a number or address was seen, the oldest first; whether a slot still has it is checked on use.
    by_phone: HashMap<PhoneNumber, BTreeSet<usize>>,
    by_email: HashMap<String, BTreeSet<usize>>,
    pub(crate) names: Names,
    /// Drafts whose names were not taken.
    pub(crate) names_kept: u64,
}

impl Matcher {
    /// Adds a contact that the database has; the oldest first, since the first that matches is taken.
    pub(crate) fn add_stored(&mut self, slot: Slot) {
        self.slots.push(Slot { is_new: false, ..slot });
        self.remember(self.slots.len() - 1);
    }

    /// Finds or creates the contact that `draft` matches, and writes the draft into it.
    pub(crate) fn place(&mut self, draft: &Person) -> (usize, Upserted) {
        let phone = draft.phone();
        let Some(index) = self.find(phone, &draft.email) else {
            self.slots.push(Slot::new(Uuid::now_v7(), draft.clone(), phone));
            self.remember(self.slots.len() - 1);
            return (self.slots.len() - 1, Upserted::Created);
        };
        let names = self.names;
        let Some(slot) = self.slots.get_mut(index) else { return (index, Upserted::Unchanged) };
        let kept = if names == Names::KeepGood { slot.with_good_names(draft) } else { None };
        self.names_kept += u64::from(kept.is_some());
        let changed = slot.overwrite(kept.as_ref().unwrap_or(draft), phone);
        if changed {
            self.remember(index);
        }
        (index, if changed { Upserted::Updated } else { Upserted::Unchanged })
    }

    fn find(&self, phone: Option<PhoneNumber>, email: &str) -> Option<usize> {
        let seen = phone.and_then(|phone| self.by_phone.get(&phone)).into_iter().flatten();
        let by_phone = || seen.copied().find(|index| self.slots[*index].phone == phone);
        let key = email_key(email);
        let seen = self.by_email.get(&key).into_iter().flatten();
        // A contact with another number is another person.
        let may_be = |slot: &Slot| phone.is_none() || slot.phone.is_none() || slot.phone == phone;
        let is_same = |slot: &Slot| may_be(slot) && email_key(&slot.person.email) == key;
        let by_email = || seen.copied().find(|index| is_same(&self.slots[*index]));
        by_phone().or_else(|| if key.is_empty() { None } else { by_email() })
    }

    fn remember(&mut self, index: usize) {
        let slot = &self.slots[index];
        if let Some(phone) = slot.phone {
            self.by_phone.entry(phone).or_default().insert(index);
        }
        if !slot.person.email.is_empty() {
            self.by_email.entry(email_key(&slot.person.email)).or_default().insert(index);
        }
    }
}

impl Slot {
    pub(crate) const fn new(id: Uuid, person: Person, phone: Option<PhoneNumber>) -> Self {
        Self {
            id,
            person,
            phone,
            tag_text: String::new(),
            ordinal: 0,
            is_new: true,
            is_changed: false,
            is_stale: false,
            is_renumbered: false,
            own_changes: BTreeSet::new(),
        }
    }

    /// Gives it another tag, by the folded name.
    pub(crate) fn tag(&mut self, name: &str) {
        if !self.tag_text.is_empty() {
            self.tag_text.push('\n');
        }
        self.tag_text.push_str(name);
        self.is_changed |= !self.is_new;
        self.is_stale |= !self.is_new;
    }

    /// The draft without the names that are worse than those of the contact; `None` if there are none.
    fn with_good_names(&self, draft: &Person) -> Option<Person> {
        let is_first = garbled::is_worse(&draft.first_name, &self.person.first_name);
        let is_last = garbled::is_worse(&draft.last_name, &self.person.last_name);
        let good = |name: &String, is_worse| if is_worse { String::new() } else { name.clone() };
        (is_first || is_last).then(|| Person {
            first_name: good(&draft.first_name, is_first),
            last_name: good(&draft.last_name, is_last),
            ..draft.clone()
        })
    }

    /// Values of the draft replace known ones; values that the draft lacks are kept. A valid number is never replaced
    /// by an invalid one.
    pub(crate) fn overwrite(&mut self, draft: &Person, phone: Option<PhoneNumber>) -> bool {
        let Person { first_name, last_name, email, phone_number, phone_number_lid, profile_picture, own } =
            draft;
        let known = &mut self.person;
        let mut changed = replace(&mut known.first_name, first_name)
            | replace(&mut known.last_name, last_name)
            | replace(&mut known.email, email);
        if phone_number_lid.is_some() && known.phone_number_lid != *phone_number_lid {
            known.phone_number_lid.clone_from(phone_number_lid);
            changed = true;
        }
        if phone.is_some() || self.phone.is_none() {
            changed |= replace(&mut known.phone_number, phone_number);
        }
        if phone.is_some() && self.phone != phone {
            self.phone = phone;
            self.is_renumbered = !self.is_new;
        }
        self.is_stale |= changed && !self.is_new;
        // A picture and own fields are not searched.
        changed |= replace(&mut known.profile_picture, profile_picture);
        for (key, value) in own {
            if known.own.get(key) != Some(value) {
                known.own.insert(*key, value.clone());
                self.own_changes.insert(*key);
                changed = true;
            }
        }
        self.is_changed |= changed && !self.is_new;
        changed
    }
}

fn replace(known: &mut String, draft: &str) -> bool {
    let differs = !draft.is_empty() && known != draft;
    if differs {
        draft.clone_into(known);
    }
    differs
}

/// E-mail addresses are compared without case.
fn email_key(email: &str) -> String {
    email.to_lowercase()
}
