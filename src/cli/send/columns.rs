//! What the columns of a file are for: the number, the reference, and values by their names.

use std::str::FromStr;

use crate::cli::failure::Misused;
use crate::domain::fold::fold;
use crate::domain::values::{MOST_VALUES, VALUE_NAME_CHARS, is_value_name};

/// The most columns that a sentence names.
const NAMED: usize = 12;

/// What one column is for, as `--map` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ColumnUse {
    /// The column's name in the header, or `#` and its number, from 1.
    column: String,
    purpose: Purpose,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Purpose {
    Number,
    Reference,
    Value(String),
    Ignored,
}

/// The columns of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) number: usize,
    pub(super) reference: Option<usize>,
    /// Values by their names.
    pub(super) values: Vec<(String, usize)>,
    /// The columns whose names could not become names of values, or would have been one that another column has.
    pub(super) ignored: Vec<String>,
}

impl FromStr for ColumnUse {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.rsplit_once('=').filter(|(column, _)| !column.trim().is_empty());
        let (column, purpose) = parts.ok_or("a mapping is COLUMN=USE, such as \"Order no=order\"")?;
        let purpose = match purpose.trim() {
            "phone_number" => Purpose::Number,
            "reference" => Purpose::Reference,
            "ignored" => Purpose::Ignored,
            name => {
                let name = name.strip_prefix("value.").unwrap_or(name);
                if !is_value_name(name) {
                    return Err("a column is mapped to phone_number, reference, ignored or the name of a value: 1 to 40 \
                                lower-case letters, digits and underscores"
                        .to_owned());
                }
                Purpose::Value(name.to_owned())
            }
        };
        Ok(Self { column: column.trim().to_owned(), purpose })
    }
}

impl Columns {
    /// The columns of this header. `number` surely holds phone numbers, unless a mapping says otherwise.
    pub(super) fn of(header: &[String], number: Option<usize>, uses: &[ColumnUse]) -> Result<Self, Misused> {
        let mut purposes: Vec<Option<Purpose>> = vec![None; header.len()];
        for ColumnUse { column, purpose } in uses {
            let index = find(header, column).ok_or_else(|| {
                Misused(format!("there is no column `{column}` to map (found: {})", named(header)))
            })?;
            purposes[index] = Some(purpose.clone());
        }
        let mapped = |wanted: &Purpose| purposes.iter().position(|purpose| purpose.as_ref() == Some(wanted));
        let is_free = |index: &usize| purposes[*index].is_none();
        let number = mapped(&Purpose::Number).or_else(|| number.filter(is_free)).ok_or_else(|| {
            Misused(format!(
                "no column is known to hold phone numbers (found: {}): name one with --map, such as --map \
                 \"COLUMN=phone_number\"",
                named(header)
            ))
        })?;
        let called = || header.iter().position(|name| fold(name.trim()) == "reference");
        let reference = mapped(&Purpose::Reference).or_else(|| called().filter(is_free));
        let (mut values, mut ignored) = (Vec::<(String, usize)>::new(), Vec::new());
        for (index, purpose) in purposes.iter().enumerate() {
            if let Some(Purpose::Value(name)) = purpose {
                if values.iter().any(|(known, _)| known == name) {
                    return Err(Misused(format!(
                        "two columns are mapped to `{name}`: map each to another value"
                    )));
                }
                values.push((name.clone(), index));
            }
        }
        for (index, column) in header.iter().enumerate() {
            if index == number || reference == Some(index) || purposes[index].is_some() {
                continue;
            }
            match value_name(column) {
                Some(name) if !values.iter().any(|(known, _)| *known == name) => values.push((name, index)),
                _ => ignored.push(if column.is_empty() { format!("#{}", index + 1) } else { column.clone() }),
            }
        }
        if values.len() > MOST_VALUES {
            return Err(Misused(format!(
                "the file has {} columns with values, and a recipient has at most {MOST_VALUES}: leave some out with \
                 --map \"COLUMN=ignored\"",
                values.len()
            )));
        }
        Ok(Self { number, reference, values, ignored })
    }
}

/// The column of this name, or the one at this place.
fn find(header: &[String], wanted: &str) -> Option<usize> {
    let exact = header.iter().position(|name| name.trim() == wanted);
    let alike = || header.iter().position(|name| !wanted.is_empty() && fold(name.trim()) == fold(wanted));
    let place = || wanted.strip_prefix('#')?.parse::<usize>().ok()?.checked_sub(1);
    exact.or_else(alike).or_else(|| place().filter(|index| *index < header.len()))
}

/// The name of the value in a column that is called so: `Order no.` is `order_no`.
fn value_name(column: &str) -> Option<String> {
    let bare = column.trim();
    let bare = bare.strip_prefix("value.").unwrap_or(bare);
    if is_value_name(bare) {
        return Some(bare.to_owned());
    }
    let folded = fold(bare);
    let words = folded.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join("_");
    (name.len() <= VALUE_NAME_CHARS && is_value_name(&name)).then_some(name)
}

fn named(header: &[String]) -> String {
    header.iter().take(NAMED).map(|name| name.trim()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(header: &[&str], number: Option<usize>, uses: &[&str]) -> Result<Columns, String> {
        let header: Vec<_> = header.iter().map(|name| (*name).to_owned()).collect();
        let uses: Vec<ColumnUse> = uses.iter().map(|text| text.parse().unwrap()).collect();
        Columns::of(&header, number, &uses).map_err(|error| error.to_string())
    }

    #[test]
    fn columns_become_values_by_their_names_and_mappings_come_first() {
        let header =
            ["Phone", "Descrição do pedido", "reference", "Order No.", "value.total", "", "order no"];
        let found = columns(&header, Some(0), &[]).unwrap();
        assert_eq!((found.number, found.reference), (0, Some(2)));
        let names: Vec<_> = found.values.iter().map(|(name, index)| (name.as_str(), *index)).collect();
        assert_eq!(names, [("descricao_do_pedido", 1), ("order_no", 3), ("total", 4)]);
        assert_eq!(found.ignored, ["#6", "order no"]);

        let uses = [
            "phone=value.number",
            "#7=phone_number",
            "Order No.=reference",
            "value.total=ignored",
            "reference=ref",
        ];
        let found = columns(&header, Some(0), &uses).unwrap();
        assert_eq!((found.number, found.reference), (6, Some(3)));
        let names: Vec<_> = found.values.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["number", "ref", "descricao_do_pedido"]);
    }

    #[test]
    fn a_file_without_numbers_and_a_mapping_to_nowhere_are_refused_with_a_remedy() {
        assert!(columns(&["a", "b"], None, &[]).unwrap_err().contains("--map \"COLUMN=phone_number\""));
        assert!(columns(&["a"], Some(0), &["c=x"]).unwrap_err().contains("`c`"));
        assert!(columns(&["p", "a", "b"], Some(0), &["a=x", "b=x"]).unwrap_err().contains("two columns"));
        let wide: Vec<_> = (0..70).map(|index| format!("c{index}")).collect();
        let wide: Vec<&str> = wide.iter().map(String::as_str).collect();
        assert!(columns(&wide, Some(0), &[]).unwrap_err().contains("ignored"));
        assert!("=x".parse::<ColumnUse>().is_err() && "a=B c".parse::<ColumnUse>().is_err());
    }
}
