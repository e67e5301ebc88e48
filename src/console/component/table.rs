//! A table that a narrow screen shows as cards: each cell knows its column's name.

use maud::{Markup, html};

/// A column: its name, and whether it contains numbers, which are aligned at the end.
#[derive(Debug, Clone)]
pub(in crate::console) struct Column {
    name: String,
    is_number: bool,
}

impl Column {
    /// A column of words; one of buttons has no name.
    pub(in crate::console) fn words(name: impl Into<String>) -> Self {
        Self { name: name.into(), is_number: false }
    }

    /// A column of numbers.
    pub(in crate::console) fn numbers(name: impl Into<String>) -> Self {
        Self { name: name.into(), is_number: true }
    }
}

/// The table. `caption` describes it to screen readers. Each row has a cell for each column; the first cell
/// names the row.
pub(in crate::console) fn table(
    caption: &str,
    columns: &[Column],
    rows: impl IntoIterator<Item = Vec<Markup>>,
) -> Markup {
    let class = |column: &Column| match column.is_number {
        true => Some("number"),
        // A column of buttons, which are aligned at the end.
        false => column.name.is_empty().then_some("act"),
    };
    html! {
        div.table {
            table {
                caption.unseen { (caption) }
                thead {
                    tr {
                        @for column in columns {
                            @if column.name.is_empty() { td {} }
                            @else { th scope="col" class=[class(column)] { (column.name) } }
                        }
                    }
                }
                tbody {
                    @for row in rows {
                        tr {
                            @for (index, (cell, column)) in row.into_iter().zip(columns).enumerate() {
                                @if index == 0 {
                                    th scope="row" class=[class(column)] { (cell) }
                                } @else {
                                    td class=[class(column)] data-name=(column.name) { (cell) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
