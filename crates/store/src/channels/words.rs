//! Converts the words of a channel's columns to those of the domain, and back.

use entity::channel as stored;

use domain::channel::{Kind, Status};

/// Pairs the variants of an enum of the schema with those of the domain.
macro_rules! pairs {
    ($name:ident { $($variant:ident),* $(,)? }) => {
        impl From<$name> for stored::$name {
            fn from(word: $name) -> Self {
                match word { $($name::$variant => Self::$variant,)* }
            }
        }

        impl From<stored::$name> for $name {
            fn from(word: stored::$name) -> Self {
                match word { $(stored::$name::$variant => Self::$variant,)* }
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
            let stored = stored::Kind::from(*kind);
            assert_eq!((stored.to_value().as_str(), Kind::from(stored)), (kind.as_str(), *kind));
        }
        for status in Status::ALL {
            let stored = stored::Status::from(*status);
            assert_eq!((stored.to_value().as_str(), Status::from(stored)), (status.as_str(), *status));
        }
    }
}
