//! A table that a narrow screen shows as cards: each cell knows its column's name.

use maud::{Markup, html};

use crate::console::text::Text;

/// A column: its name, and what its cells contain.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    name: String,
    cells: Cells,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cells {
    Words,
    /// A browser gives a column as much room as its longest text asks for, so that beside whole sentences a column of a few
    /// words would get one word a line. This one keeps room for some.
    BriefWords,
    /// They are aligned at the end.
    Numbers,
}

impl Column {
    /// A column of words; one of buttons has no name.
    pub(crate) fn words(name: impl Into<String>) -> Self {
        Self { name: name.into(), cells: Cells::Words }
    }

    /// Columns of words by the keys of their names; one of buttons has an empty key.
    pub(crate) fn all<const N: usize>(text: Text, keys: [&str; N]) -> [Self; N] {
        keys.map(|key| Self::words(if key.is_empty() { String::new() } else { text.get(key) }))
    }

    /// A column of a few words beside one of sentences.
    pub(crate) fn brief(name: impl Into<String>) -> Self {
        Self { name: name.into(), cells: Cells::BriefWords }
    }

    /// A column of numbers.
    pub(crate) fn numbers(name: impl Into<String>) -> Self {
        Self { name: name.into(), cells: Cells::Numbers }
    }

    fn class(&self) -> Option<&'static str> {
        match self.cells {
            Cells::Numbers => Some("number"),
            Cells::BriefWords => Some("brief"),
            // A column of buttons, which are aligned at the end.
            Cells::Words if self.name.is_empty() => Some("act"),
            Cells::Words => None,
        }
    }
}

/// The table. `caption` describes it to screen readers. Each row has a cell for each column; the first cell
/// names the row.
pub(crate) fn table(
    caption: &str,
    columns: &[Column],
    rows: impl IntoIterator<Item = Vec<Markup>>,
) -> Markup {
    html! {
        div.table {
            table {
                caption.unseen { (caption) }
                thead {
                    tr {
                        @for column in columns {
                            @if column.name.is_empty() { td {} }
                            @else { th scope="col" class=[column.class()] { (column.name) } }
                        }
                    }
                }
                tbody {
                    @for row in rows {
                        tr {
                            @for (index, (cell, column)) in row.into_iter().zip(columns).enumerate() {
                                @if index == 0 {
                                    th scope="row" class=[column.class()] { (cell) }
                                } @else {
                                    td class=[column.class()] data-name=(column.name) { (cell) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cell_has_the_class_and_the_name_of_its_column() {
        let columns =
            [Column::words("Time"), Column::brief("Event"), Column::numbers("Attempt"), Column::words("")];
        let row = vec![html! { "now" }, html! { "sent" }, html! { "1" }, html! { "again" }];
        let table = table("Deliveries", &columns, [row]).into_string();
        for cell in [
            r#"<th scope="row">now</th>"#,
            r#"<td class="brief" data-name="Event">sent</td>"#,
            r#"<td class="number" data-name="Attempt">1</td>"#,
            r#"<td class="act" data-name="">again</td>"#,
        ] {
            assert!(table.contains(cell), "{cell}: {table}");
        }
    }
}
