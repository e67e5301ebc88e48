//! Converts the words of a channel's columns to those of the domain, and back.

use entity::channel as stored;

use domain::channel::{Kind, Status};

/// A word of the domain that a column holds.
pub(super) trait ToStored {
    /// The column's type.
    type Stored;

    fn stored(self) -> Self::Stored;
}

/// A column's word.
pub(super) trait FromStored {
    /// The domain's type.
    type Word;

    fn word(self) -> Self::Word;
}

/// Pairs the variants of an enum of the schema with those of the domain.
macro_rules! pairs {
    ($name:ident { $($variant:ident),* $(,)? }) => {
        impl ToStored for $name {
            type Stored = stored::$name;

            fn stored(self) -> stored::$name {
                match self { $(Self::$variant => stored::$name::$variant,)* }
            }
        }

        impl FromStored for stored::$name {
            type Word = $name;

            fn word(self) -> $name {
                match self { $(Self::$variant => $name::$variant,)* }
            }
        }
    };
}

pairs!(Kind { BusinessAccount, WebSession });
pairs!(Status { Connecting, Connected, Disconnected, Blocked, Pairing });

#[cfg(test)]
mod tests {
    use sea_orm::ActiveEnum as _;

    use super::*;

    #[test]
    fn the_schema_has_the_words_of_the_domain() {
        for kind in Kind::ALL {
            let stored = kind.stored();
            assert_eq!((stored.to_value().as_str(), stored.word()), (kind.as_str(), *kind));
        }
        for status in Status::ALL {
            let stored = status.stored();
            assert_eq!((stored.to_value().as_str(), stored.word()), (status.as_str(), *status));
        }
    }
}
