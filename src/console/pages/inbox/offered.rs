//! Records to choose from: a list while they are few, and else a field that takes any name and suggests the first ones. So the
//! page of a company with thousands of them stays small.

use maud::Markup;
use uuid::Uuid;

use crate::console::component::field::Field;

/// The records that a field offers.
pub(super) const OFFERED: u64 = 50;
/// The longest name that is looked up, in characters.
pub(super) const NAME_CHARS: usize = 254;

/// The first of some records.
#[derive(Debug)]
pub(super) struct Offered {
    /// Each with its id, and the name that people know.
    records: Vec<(Uuid, String)>,
    /// Whether there are no others.
    is_whole: bool,
}

impl Offered {
    /// The first of `total` records.
    pub(super) fn new(records: impl IntoIterator<Item = (Uuid, String)>, total: u64) -> Self {
        let most = usize::try_from(OFFERED).unwrap_or(usize::MAX);
        Self { records: records.into_iter().take(most).collect(), is_whole: total <= OFFERED }
    }

    /// Whether all records can be offered.
    pub(super) const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Whether something is left to choose beside these.
    pub(super) fn has_others(&self, than: &[Uuid]) -> bool {
        !self.is_whole || self.records.iter().any(|(id, _)| !than.contains(id))
    }

    /// The value that the field shows for a record of this name.
    pub(super) fn value(&self, id: Uuid, name: Option<String>) -> String {
        name.filter(|_| !self.is_whole).unwrap_or_else(|| id.to_string())
    }

    /// The field, without the records that are chosen already. `none` are the words for no choice, if that is one.
    pub(super) fn field(&self, field: Field<'_>, none: Option<String>, chosen: &[Uuid]) -> Markup {
        let others = self.records.iter().filter(|(id, _)| !chosen.contains(id));
        if self.is_whole {
            let none = none.map(|words| (String::new(), words));
            let others = others.map(|(id, name)| (id.to_string(), name.clone()));
            return field.select(none.into_iter().chain(others));
        }
        field.most(NAME_CHARS).suggesting(others.map(|(_, name)| name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::form::Form;
    use crate::console::language::Language;
    use crate::console::text::Text;

    #[test]
    fn few_records_are_a_list_and_many_a_field_for_any_name() {
        let shown = |total: u64| {
            let records = (0..total).map(|nth| (Uuid::from_u128(nth.into()), format!("Shop {nth}")));
            let offered = Offered::new(records, total);
            let form = Form::new(Text(Language::English));
            let field = Field::new(&form, "channel", "Channel");
            let chosen = [Uuid::from_u128(0)];
            assert!(offered.has_others(&chosen));
            (
                offered.field(field, Some("All".to_owned()), &chosen).into_string(),
                offered.value(chosen[0], Some("Shop 0".to_owned())),
            )
        };
        let (few, value) = shown(OFFERED);
        assert!(few.contains("<select") && few.contains(">Shop 49<") && !few.contains(">Shop 0<"), "{few}");
        assert_eq!(value, Uuid::from_u128(0).to_string());
        let (many, value) = shown(2_000);
        assert!(many.contains("<datalist") && !many.contains("<select"), "{many}");
        assert_eq!((many.matches("<option").count(), value.as_str()), (49, "Shop 0"));
    }
}
