//! What the columns of a file hold, as `--map` and their names say: the number, the reference, and values.

use std::str::FromStr;

use crate::cli::failure::Misused;
use crate::domain::values::MOST_VALUES;
use crate::import::{ColumnFault, HeldColumns, MOST_COLUMNS, OtherColumns, RecipientColumn};

/// The most columns that a sentence names.
const NAMED: usize = 12;

/// What one column holds: its name in the header, or `#` and its number from 1, and what is read from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ColumnUse(String, RecipientColumn);

impl FromStr for ColumnUse {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.rsplit_once('=').filter(|(column, _)| !column.trim().is_empty());
        let (column, word) = parts.ok_or("a mapping is COLUMN=USE, such as \"Order no=order\"")?;
        let word = word.trim();
        let held = word.parse().or_else(|_| format!("value.{word}").parse()).map_err(|_| {
            "a column is mapped to phone_number, reference, ignored or the name of a value: 1 to 40 lower-case letters, \
             digits and underscores"
        })?;
        Ok(Self(column.trim().to_owned(), held))
    }
}

/// The columns of this header: mappings come first, then what the names say.
pub(super) fn columns_of(header: &[String], uses: &[ColumnUse]) -> Result<HeldColumns, Misused> {
    let given: Vec<_> = uses.iter().map(|ColumnUse(column, held)| (column.clone(), held.clone())).collect();
    let named = || header.iter().take(NAMED).map(|name| name.trim()).collect::<Vec<_>>().join(", ");
    HeldColumns::find(header, &given, OtherColumns::ByName).map_err(|fault| {
        Misused(match fault {
            ColumnFault::Missing(column) => format!("there is no column `{column}` to map (found: {})", named()),
            ColumnFault::Several(column) => {
                format!("several columns are called `{column}`: map one by its place, such as --map \"#2=order\"")
            }
            ColumnFault::NoNumbers => format!(
                "no column is known to hold phone numbers (found: {}): name one with --map, such as --map \
                 \"COLUMN=phone_number\"",
                named()
            ),
            ColumnFault::Twice(held) => format!(
                "two columns are for {held} (found: {}): map one of them to something else, such as --map \
                 \"#2=ignored\"",
                named()
            ),
            ColumnFault::TooManyValues(found) => format!(
                "the file has {found} columns with values, and a recipient has at most {MOST_VALUES}: leave some out \
                 with --map \"COLUMN=ignored\""
            ),
            ColumnFault::TooMany(found) => {
                format!("the file has {found} columns, and at most {MOST_COLUMNS} are read")
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(header: &[&str], uses: &[&str]) -> Result<HeldColumns, String> {
        let header: Vec<_> = header.iter().map(|name| (*name).to_owned()).collect();
        let uses: Vec<ColumnUse> = uses.iter().map(|text| text.parse().unwrap()).collect();
        columns_of(&header, &uses).map_err(|error| error.to_string())
    }

    #[test]
    fn columns_become_values_by_their_names_and_mappings_come_first() {
        let header = ["Phone", "Descrição do pedido", "reference", "Order No.", "value.total", "", "?"];
        let found = columns(&header, &[]).unwrap();
        assert_eq!((found.phone_number, found.reference), (0, Some(2)));
        let names: Vec<_> = found.values.iter().map(|(index, name)| (*index, name.as_str())).collect();
        assert_eq!(names, [(1, "descricao_do_pedido"), (3, "order_no"), (4, "total")]);
        assert_eq!(found.unread, ["?"]);

        let uses = [
            "phone=value.number",
            "#7=phone_number",
            "Order No.=reference",
            "value.total=ignored",
            "reference=ref",
        ];
        let found = columns(&header, &uses).unwrap();
        assert_eq!((found.phone_number, found.reference), (6, Some(3)));
        let names: Vec<_> = found.values.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, ["number", "descricao_do_pedido", "ref"]);
        let found = columns(&["Phone", "order", "Total"], &["Total=order"]).unwrap();
        assert_eq!((found.values, found.unread), (vec![(2, "order".to_owned())], vec!["order".to_owned()]));
    }

    #[test]
    fn a_file_without_numbers_and_a_mapping_to_nowhere_are_refused_with_a_remedy() {
        assert!(columns(&["a", "b"], &[]).unwrap_err().contains("--map \"COLUMN=phone_number\""));
        assert!(columns(&["phone"], &["c=x"]).unwrap_err().contains("`c`"));
        assert!(columns(&["phone", "a", "b"], &["a=x", "b=x"]).unwrap_err().contains("value.x"));
        assert!(columns(&["phone", "Order no", "order_no"], &[]).unwrap_err().contains("#2=ignored"));
        let wide = ["phone".to_owned()].into_iter().chain((0..70).map(|index| format!("c{index}")));
        let wide: Vec<_> = wide.collect();
        let wide: Vec<&str> = wide.iter().map(String::as_str).collect();
        assert!(columns(&wide, &[]).unwrap_err().contains("ignored"));
        assert!("=x".parse::<ColumnUse>().is_err() && "a=B c".parse::<ColumnUse>().is_err());
    }
}
