//! Enums whose variants are words: of the contract, of the database or of a provider.

/// A word that names no variant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown word `{0}`")]
pub struct UnknownWord(pub String);

/// Gives each variant of an enum its word.
#[macro_export]
macro_rules! words {
    ($type:ty { $($variant:ident = $word:literal),* $(,)? }) => {
        impl $type {
            /// Every variant.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The word in answers, in the database and on the command line.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::words::UnknownWord;

            fn from_str(word: &str) -> ::std::result::Result<Self, Self::Err> {
                match word {
                    $($word => Ok(Self::$variant),)*
                    _ => Err($crate::words::UnknownWord(word.to_owned())),
                }
            }
        }
    };
}

/// Declares an enum whose variants each have a word.
#[macro_export]
macro_rules! worded {
    (
        $(#[$about:meta])+
        $visible:vis enum $name:ident {
            $($(#[$doc:meta])* $variant:ident = $word:literal,)*
        }
    ) => {
        $(#[$about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        $visible enum $name {
            $($(#[$doc])* $variant,)*
        }

        $crate::words!($name { $($variant = $word,)* });
    };
}

/// Declares an enum whose variants each have a word, and lists them as an array.
macro_rules! listed {
    (
        $(#[$about:meta])+
        pub enum $name:ident {
            $($(#[$doc:meta])+ $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$about])+
        pub enum $name {
            $($(#[$doc])+ $variant,)+
        }

        $crate::words::listed!(of $name { $($variant = $word,)+ });
    };
    (of $name:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $name {
            /// Every variant.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// The word in answers, in the database and on the command line.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

/// Declares such an enum whose variants each have a number in the database, too.
macro_rules! numbered {
    (
        $(#[$about:meta])+
        pub enum $name:ident {
            $($(#[$doc:meta])+ $variant:ident = $number:literal, $word:literal;)+
        }
    ) => {
        $(#[$about])+
        #[repr(i16)]
        pub enum $name {
            $($(#[$doc])+ $variant = $number,)+
        }

        $crate::words::listed!(of $name { $($variant = $word,)+ });

        impl $name {
            /// The number that the database keeps.
            pub const fn as_i16(self) -> i16 {
                self as i16
            }

            /// Reads the stored number.
            pub fn from_i16(number: i16) -> Option<Self> {
                Self::ALL.into_iter().find(|known| known.as_i16() == number)
            }
        }
    };
}

/// Declares an enum of a provider's words. The provider may add words at any time, so that a word that is not declared
/// is kept as it is.
macro_rules! open_words {
    (
        $(#[doc = $about:literal])+
        pub enum $name:ident {
            $($(#[doc = $doc:literal])+ $variant:ident = $word:literal,)*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[doc = $doc])+ $variant,)*
            /// A word that this version does not know.
            Other(Box<str>),
        }

        impl $name {
            /// The provider's word.
            pub fn as_str(&self) -> &str {
                match self { $(Self::$variant => $word,)* Self::Other(word) => word }
            }
        }

        /// Case does not matter for the known words.
        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                $(if word.eq_ignore_ascii_case($word) {
                    return Self::$variant;
                })*
                Self::Other(word.into())
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

/// Declares an enum whose variants each have a word and a remedy. The documentation of a variant is also its
/// explanation in the reference, on the pages and in the documents.
macro_rules! explained {
    (
        $(#[doc = $about:literal])+
        pub enum $name:ident {
            $($(#[doc = $doc:literal])+ $variant:ident = $word:literal, $remedy:literal;)*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[doc = $doc])+ $variant,)*
        }

        impl $name {
            /// Every variant.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The word in answers and in the database.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The variant with this word.
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.as_str() == word)
            }

            /// The explanation for people: the text that documents the variant.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),+).trim(),)* }
            }

            /// The remedy.
            pub const fn remedy(self) -> &'static str {
                match self { $(Self::$variant => $remedy,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

pub(super) use {explained, listed, numbered, open_words, words};

#[cfg(test)]
mod tests {
    use crate::channel::Level;
    use crate::outlook::Reason;
    use crate::template::Status;

    #[test]
    fn a_word_is_read_as_its_variant_and_no_other_spelling_is() {
        for level in Level::ALL {
            assert_eq!(level.to_string().parse(), Ok(*level));
        }
        assert!("High".parse::<Level>().is_err());
        assert_eq!((Reason::parse("turn"), Reason::parse("Turn")), (Some(Reason::Turn), None));
    }

    #[test]
    fn a_word_is_explained_by_its_documentation() {
        assert_eq!(Reason::Paused.meaning(), "A person paused the send.");
        assert_eq!((Reason::Paused.remedy(), Reason::Paused.to_string().as_str()), ("Resume it.", "paused"));
    }

    #[test]
    fn a_provider_s_word_is_known_in_any_case_and_an_unknown_one_is_kept() {
        assert_eq!((Status::from("in_appeal"), Status::InAppeal.as_str()), (Status::InAppeal, "IN_APPEAL"));
        assert_eq!(Status::from("Archived").to_string(), "Archived");
    }
}
