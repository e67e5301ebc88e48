//! Icons, from the one file of icons that all pages share.

use maud::{Markup, Render, html};

use crate::console::assets;

/// An icon. It decorates words and never replaces them: screen readers skip it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Icon {
    /// The picture of this id, for an entry of the navigation: its table says which.
    Entry(&'static str),
    Company,
    More,
    Account,
    Language,
    SignOut,
    Choose,
    Open,
    Add,
    Done,
    ToDo,
    Warning,
    Bad,
    Filter,
    Help,
    Reference,
    Nothing,
    Upload,
    Emoji,
}

impl Icon {
    /// The id of its picture in the file.
    const fn id(self) -> &'static str {
        match self {
            Self::Entry(id) => id,
            Self::Company => "building-2",
            Self::More => "ellipsis",
            Self::Account => "circle-user-round",
            Self::Language => "languages",
            Self::SignOut => "log-out",
            Self::Choose => "chevrons-up-down",
            Self::Open => "chevron-down",
            Self::Add => "plus",
            Self::Done => "circle-check",
            Self::ToDo => "circle-dashed",
            Self::Warning => "triangle-alert",
            Self::Bad => "circle-alert",
            Self::Filter => "sliders-horizontal",
            Self::Help => "circle-question-mark",
            Self::Reference => "book-open",
            Self::Nothing => "inbox",
            Self::Upload => "upload",
            Self::Emoji => "smile",
        }
    }
}

#[cfg(test)]
impl Icon {
    /// Whether its picture is in the file.
    pub(crate) fn is_drawn(self) -> bool {
        assets::ICONS.has_picture(self.id())
    }
}

impl Render for Icon {
    fn render(&self) -> Markup {
        html! { svg.i aria-hidden="true" { use href=(assets::ICONS.picture(self.id())) {} } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_icon_is_in_the_file() {
        for icon in [
            Icon::Company,
            Icon::More,
            Icon::Account,
            Icon::Language,
            Icon::SignOut,
            Icon::Choose,
            Icon::Open,
            Icon::Add,
            Icon::Done,
            Icon::ToDo,
            Icon::Warning,
            Icon::Bad,
            Icon::Filter,
            Icon::Help,
            Icon::Reference,
            Icon::Nothing,
            Icon::Upload,
            Icon::Emoji,
        ] {
            assert!(icon.is_drawn(), "{icon:?}");
        }
    }
}
