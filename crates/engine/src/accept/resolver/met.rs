//! Second numbers of people who are in a send already: each person gets it once.

use std::collections::HashMap;

use uuid::Uuid;

use crate::contacts::people::People;
use domain::phone::PhoneNumber;
use domain::request::{SkipCode, Skipped};

/// The people of a send who may occur once more under another number, with the number that the send has.
///
/// An audience comes in ascending order, and the forms of one person's number lie far apart in it. So a person is kept
/// only if a greater form exists: of four countries those with the shorter one, and people with a learned pair. A
/// million people of Mexico, all of whom have the shorter form, take some 30 MB until the audience is written; people of
/// other countries take nothing.
#[derive(Debug, Default)]
pub(crate) struct Met(HashMap<PhoneNumber, PhoneNumber>);

impl Met {
    /// Removes from `numbers`, which are the next of the audience, those of people who are in the send under another
    /// number, and counts them as skipped.
    pub(crate) fn skip_second_forms(
        &mut self,
        people: &People,
        company: Uuid,
        numbers: &mut Vec<PhoneNumber>,
        skipped: &mut Skipped,
    ) {
        numbers.retain(|number| {
            let person = people.person(company, *number);
            if !self.0.is_empty()
                && let Some(first) = self.0.get(&person)
            {
                let reason = format!("is another form of +{first}, which is in this send");
                skipped.add_as(SkipCode::SamePerson, &format!("+{number}"), &reason);
                return false;
            }
            if people.has_greater_form(company, *number) {
                self.0.insert(person, *number);
            }
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contacts::people::Pairs;
    use store::persons::OtherNumber;

    #[test]
    fn a_person_is_in_a_send_once_under_the_first_number() {
        let (people, company) = (People::default(), Uuid::from_u128(1));
        let number = |value| PhoneNumber::from_u64(value).unwrap();
        let (long, short) = (number(2_290_161_234_567), number(22_961_234_567));
        people.replace(Pairs::of([OtherNumber { company_id: company, number: long, person: short }]));
        let all = [
            short,
            number(525_512_345_678),
            number(541_155_554_444),
            number(551_133_334_444),
            number(556_488_887_777),
            long,
            number(5_215_512_345_678),
            number(5_491_155_554_444),
            number(5_511_933_334_444),
            number(5_564_988_887_777),
        ];
        let (mut met, mut skipped, mut left) = (Met::default(), Skipped::default(), Vec::new());
        // As the audience comes: in blocks.
        for block in all.chunks(3) {
            let mut block = block.to_vec();
            met.skip_second_forms(&people, company, &mut block, &mut skipped);
            left.extend(block);
        }
        let kept = [&all[..5], &all[8..9]].concat();
        assert_eq!((left, skipped.count), (kept, 4), "a landline is another person than a mobile number");
        let last = skipped.first.last().unwrap();
        assert_eq!(last.input, "+5564988887777");
        assert_eq!(last.reason, "is another form of +556488887777, which is in this send");
        assert_eq!(last.code.as_deref(), Some("same_person"));
    }
}
