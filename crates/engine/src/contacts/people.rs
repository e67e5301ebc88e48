//! Which numbers are one person, in memory: rules for most, and pairs that the provider's answers and receipts show.
//!
//! A pair is kept only where the rules say something else, so that there are few. Machines notice pairs; the engine
//! writes them once a second, and all nodes read them with the suppressions.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, RwLock};
use uuid::Uuid;

use super::super::recent::Recent;
use domain::phone::PhoneNumber;
use store::persons::OtherNumber;
use store::suppressions::{Record, Says, Word};

/// The most noticed pairs that wait to be written. Further ones are dropped: the next message to the person shows the
/// pair again.
const MOST_NOTICED: usize = 10_000;
/// The people, at least, of whom it is remembered that the provider knows them by the number that was written to. Of
/// others, the number is looked up when a receipt names one. Some 5 MB.
const CONFIRMED: usize = 100_000;
/// The people, at least, whose ids within a business are remembered with their numbers. Some 10 MB.
const USERS: usize = 100_000;

/// A pair of numbers of one company: the number that was written to, and the one under which the provider knows it.
pub(crate) type Noticed = (Uuid, PhoneNumber, PhoneNumber);

pub(crate) struct People {
    /// Whether any company has pairs.
    has_pairs: AtomicBool,
    pairs: RwLock<HashMap<Uuid, PairsOf>>,
    noticed: Mutex<HashSet<Noticed>>,
    confirmed: Recent<()>,
    /// The numbers of people by their ids, and whether the store keeps them.
    users: Recent<(PhoneNumber, bool)>,
    /// Whether statements wait for the number of a person, and whose.
    has_waiting: AtomicBool,
    waiting: RwLock<HashSet<(Uuid, String)>>,
}

/// The pairs of all companies.
pub(crate) struct Pairs(HashMap<Uuid, PairsOf>);

/// The pairs of one company.
#[derive(Default)]
struct PairsOf {
    person_of: HashMap<PhoneNumber, PhoneNumber>,
    others_of: HashMap<PhoneNumber, Vec<PhoneNumber>>,
}

/// The people of one company.
#[derive(Clone)]
pub(crate) struct PeopleOf {
    people: Arc<People>,
    company: Uuid,
}

impl People {
    /// The number under which the person with this number is known.
    pub(crate) fn person(&self, company: Uuid, number: PhoneNumber) -> PhoneNumber {
        let person = number.person();
        if !self.has_pairs.load(Ordering::Acquire) {
            return person;
        }
        self.pairs
            .read()
            .get(&company)
            .and_then(|pairs| pairs.person_of.get(&person))
            .copied()
            .unwrap_or(person)
    }

    /// The same, for a number of which it is not known which company wrote to it.
    pub(crate) fn person_anywhere(&self, number: PhoneNumber) -> PhoneNumber {
        let person = number.person();
        if !self.has_pairs.load(Ordering::Acquire) {
            return person;
        }
        let pairs = self.pairs.read();
        pairs.values().find_map(|pairs| pairs.person_of.get(&person)).copied().unwrap_or(person)
    }

    /// All numbers of the person with this number; the first is the one under which the person is known.
    pub(crate) fn forms(&self, company: Uuid, number: PhoneNumber) -> Vec<PhoneNumber> {
        let person = self.person(company, number);
        let mut forms = vec![person];
        forms.extend(self.others(company, person));
        let others: Vec<_> = forms.iter().filter_map(|form| form.other_form()).collect();
        forms.extend(others);
        forms
    }

    /// The statements under the numbers of their people. One that may end a suppression is made under a person's other
    /// learned numbers too: a suppression that was being written when they were learned stands under one of them.
    pub(crate) fn words_of_people(&self, words: Vec<Word>) -> Vec<Word> {
        let mut all = Vec::with_capacity(words.len());
        for word in words {
            let person = self.person(word.company_id, word.recipient);
            if matches!(word.says, Says::Resume | Says::StartWord) {
                let others = self.others(word.company_id, person).into_iter();
                all.extend(others.map(|recipient| Word { recipient, ..word }));
            }
            all.push(Word { recipient: person, ..word });
        }
        all
    }

    /// The learned other numbers of a person.
    fn others(&self, company: Uuid, person: PhoneNumber) -> Vec<PhoneNumber> {
        if !self.has_pairs.load(Ordering::Acquire) {
            return Vec::new();
        }
        let pairs = self.pairs.read();
        pairs.get(&company).and_then(|pairs| pairs.others_of.get(&person)).cloned().unwrap_or_default()
    }

    /// Whether the person with this number may have a greater one.
    pub(crate) fn has_greater_form(&self, company: Uuid, number: PhoneNumber) -> bool {
        number.other_form().is_some_and(|other| other > number)
            || self.has_pairs.load(Ordering::Acquire)
                && self.forms(company, number).iter().any(|form| *form > number)
    }

    /// The provider knows the number that was written to as `known_as`.
    pub(crate) fn notice(&self, company: Uuid, number: PhoneNumber, known_as: PhoneNumber) {
        self.confirmed.put(&(company, known_as), ());
        if number.person() == known_as.person()
            || self.person(company, number) == self.person(company, known_as)
        {
            return;
        }
        if !number.may_be_form_of(known_as) {
            tracing::debug!(company.id = %company, "the provider names a number that is no form of the recipient's");
            return;
        }
        let mut noticed = self.noticed.lock();
        if noticed.len() < MOST_NOTICED {
            noticed.insert((company, number, known_as));
        }
    }

    /// Whether it is known of this number, which the provider names, which number was written to.
    pub(crate) fn is_confirmed(&self, company: Uuid, known_as: PhoneNumber) -> bool {
        self.confirmed.get(&(company, known_as)).is_some()
    }

    /// Takes out the noticed pairs, to write them.
    pub(crate) fn take_noticed(&self) -> Vec<Noticed> {
        std::mem::take(&mut *self.noticed.lock()).into_iter().collect()
    }

    /// Takes over the stored pairs. The suppressions are known by the numbers of people, and change with them.
    pub(crate) fn replace(&self, Pairs(all): Pairs) {
        let has_pairs = !all.is_empty();
        *self.pairs.write() = all;
        self.has_pairs.store(has_pairs, Ordering::Release);
    }

    /// Remembers the number of a person with this id, and whether the store keeps it by now.
    pub(crate) fn meet(&self, company: Uuid, user: &str, number: PhoneNumber, is_kept: bool) {
        let is_kept = is_kept || self.is_kept(company, user, number);
        self.users.put(&(company, user), (number, is_kept));
    }

    /// Whether the store is known to keep this number of the person with this id.
    pub(crate) fn is_kept(&self, company: Uuid, user: &str, number: PhoneNumber) -> bool {
        self.users.get(&(company, user)) == Some((number, true))
    }

    /// The number of the person with this id, if it was seen lately.
    pub(crate) fn number_of(&self, company: Uuid, user: &str) -> Option<PhoneNumber> {
        self.users.get(&(company, user)).map(|(number, _)| number)
    }

    /// Takes over the people whose statements wait in the store.
    pub(crate) fn replace_waiting(&self, waiting: impl IntoIterator<Item = (Uuid, String)>) {
        let waiting: HashSet<_> = waiting.into_iter().collect();
        let has_waiting = !waiting.is_empty();
        *self.waiting.write() = waiting;
        self.has_waiting.store(has_waiting, Ordering::Release);
    }

    /// Adds people whose statements wait in the store.
    pub(crate) fn wait_for(&self, company: Uuid, users: impl IntoIterator<Item = String>) {
        let mut waiting = self.waiting.write();
        waiting.extend(users.into_iter().map(|user| (company, user)));
        self.has_waiting.store(!waiting.is_empty(), Ordering::Release);
    }

    /// The statements of these people no longer wait.
    pub(crate) fn no_longer_wait(&self, company: Uuid, users: &[(String, PhoneNumber)]) {
        let mut waiting = self.waiting.write();
        for (user, _) in users {
            waiting.remove(&(company, user.clone()));
        }
        self.has_waiting.store(!waiting.is_empty(), Ordering::Release);
    }

    /// Those among these people whose statements wait, with their numbers.
    pub(crate) fn awaited(
        &self,
        company: Uuid,
        users: &[(String, PhoneNumber)],
    ) -> Vec<(String, PhoneNumber)> {
        if users.is_empty() || !self.has_waiting.load(Ordering::Acquire) {
            return Vec::new();
        }
        let waiting = self.waiting.read();
        users.iter().filter(|(user, _)| waiting.contains(&(company, user.clone()))).cloned().collect()
    }

    /// The people whose statements wait although their numbers were seen lately, by company.
    pub(crate) fn met_since(&self) -> HashMap<Uuid, Vec<(String, PhoneNumber)>> {
        let mut met = HashMap::<Uuid, Vec<_>>::new();
        if self.has_waiting.load(Ordering::Acquire) {
            for (company, user) in self.waiting.read().iter() {
                if let Some(number) = self.number_of(*company, user) {
                    met.entry(*company).or_default().push((user.clone(), number));
                }
            }
        }
        met
    }
}

impl Pairs {
    /// The stored pairs.
    pub(crate) fn of(stored: impl IntoIterator<Item = OtherNumber>) -> Self {
        let mut all = HashMap::<Uuid, PairsOf>::new();
        for OtherNumber { company_id, number, person } in stored {
            let pairs = all.entry(company_id).or_default();
            pairs.person_of.insert(number, person);
            pairs.others_of.entry(person).or_default().push(number);
        }
        Self(all)
    }

    /// The number under which the person of a suppression is known.
    pub(super) fn person(&self, record: &Record) -> PhoneNumber {
        let person = record.recipient.person();
        let pairs = self.0.get(&record.company_id);
        pairs.and_then(|pairs| pairs.person_of.get(&person)).copied().unwrap_or(person)
    }
}

impl Default for People {
    fn default() -> Self {
        Self {
            has_pairs: AtomicBool::default(),
            pairs: RwLock::default(),
            noticed: Mutex::default(),
            confirmed: Recent::new(CONFIRMED),
            users: Recent::new(USERS),
            has_waiting: AtomicBool::default(),
            waiting: RwLock::default(),
        }
    }
}

impl PeopleOf {
    /// The people of one company.
    pub(crate) const fn new(people: Arc<People>, company: Uuid) -> Self {
        Self { people, company }
    }

    /// The number under which the person with this number is known.
    pub(crate) fn person(&self, number: PhoneNumber) -> PhoneNumber {
        self.people.person(self.company, number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clock::Timestamp;
    use domain::suppression::Suppression;

    const COMPANY: Uuid = Uuid::from_u128(1);

    fn number(value: u64) -> PhoneNumber {
        PhoneNumber::from_u64(value).unwrap()
    }

    #[test]
    fn only_a_pair_that_no_rule_gives_is_noticed_and_never_two_strangers() {
        let people = People::default();
        people.notice(COMPANY, number(5_564_988_887_777), number(556_488_887_777));
        people.notice(COMPANY, number(5_511_900_000_001), number(5_511_900_000_002));
        people.notice(COMPANY, number(5_511_900_000_001), number(4_411_900_000_001));
        assert!(people.take_noticed().is_empty());
        let pair = (COMPANY, number(2_290_161_234_567), number(22_961_234_567));
        people.notice(pair.0, pair.1, pair.2);
        people.notice(pair.0, pair.1, pair.2);
        assert_eq!(people.take_noticed(), [pair]);
        assert!(people.is_confirmed(COMPANY, pair.2) && !people.is_confirmed(COMPANY, pair.1));
    }

    #[test]
    fn a_learned_pair_is_one_person_for_its_company_only() {
        let people = People::default();
        let (long, short) = (number(2_290_161_234_567), number(22_961_234_567));
        people.replace(Pairs::of([OtherNumber { company_id: COMPANY, number: long, person: short }]));
        assert_eq!((people.person(COMPANY, long), people.person(COMPANY, short)), (short, short));
        assert_eq!(people.person(Uuid::from_u128(2), long), long);
        assert_eq!(people.forms(COMPANY, long), [short, long]);
        assert!(
            people.has_greater_form(COMPANY, short) && !people.has_greater_form(Uuid::from_u128(2), short)
        );
        assert!(!people.has_greater_form(COMPANY, long));
        people.notice(COMPANY, long, short);
        assert!(people.take_noticed().is_empty(), "it is known");
        let word = |recipient, says| Word {
            company_id: COMPANY,
            recipient,
            scope: Suppression::Everything,
            said_at: Timestamp::from_millis(1),
            says,
        };
        assert_eq!(people.words_of_people(vec![word(long, Says::StopWord)]), [word(short, Says::StopWord)]);
        let ends = [word(long, Says::StartWord), word(short, Says::StartWord)];
        assert_eq!(people.words_of_people(vec![word(short, Says::StartWord)]), ends);
    }
}
