//! The parts of payloads: a part is one type, which the reference shows, which checks what is given, and which a page
//! can build. Its limits are written once, in its declaration.

use super::Node;
use crate::error::Refusal;
use crate::link::FILE_NAME_CHARS;

// The declaration of a `file_name()` has the number itself, because an attribute takes no constant.
const _: () = assert!(FILE_NAME_CHARS == 240);

/// A part of a payload.
pub(crate) trait Part: Sized {
    /// Reads the part from its object, and checks it in the order of its fields.
    fn read(node: &Node<'_>) -> Result<Self, Refusal>;
}

/// The limit of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// The most characters of a text, or the most items of a list.
    pub most: usize,
}

/// Reads the part under this key, which must be there.
pub(crate) fn one<T: Part>(node: &Node<'_>, key: &str) -> Result<T, Refusal> {
    T::read(&node.object(key)?)
}

/// Reads the items under this key, of which there must be at least one and at most `most`.
pub(crate) fn items<'a, T: Part>(
    node: &Node<'a>,
    key: &str,
    most: usize,
) -> Result<Vec<(Node<'a>, T)>, Refusal> {
    let items = node.items_at(key, most)?.into_iter();
    items.map(|item| T::read(&item).map(|part| (item, part))).collect()
}

/// Reads the items under this key as [`items`] does, and checks each before the next one is read: a refusal names the first
/// fault. `check` also gets the number of items.
pub(crate) fn checked<'a, T: Part>(
    node: &Node<'a>,
    key: &str,
    most: usize,
    mut check: impl FnMut(&Node<'a>, &T, usize) -> Result<(), Refusal>,
) -> Result<Vec<T>, Refusal> {
    let items = node.items_at(key, most)?;
    let one = |item: &Node<'a>| {
        let part = T::read(item)?;
        check(item, &part, items.len())?;
        Ok(part)
    };
    items.iter().map(one).collect()
}

/// Declares the types of parts, each an enum of the words that a part may have as its `type`, with the refusal of any
/// other word.
macro_rules! tags {
    ($($(#[$about:meta])* pub enum $name:ident { $($variant:ident = $word:literal),+ } else $refusal:literal;)*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
        pub enum $name {
            $(#[doc = concat!("`", $word, "`.")] #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every word.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The word.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            pub(crate) fn read_at(
                node: &$crate::payload::Node<'_>,
                key: &str,
            ) -> Result<Self, $crate::error::Refusal> {
                /// Longer than any word.
                const MOST_CHARS: usize = 60;
                let given = node.text(key, MOST_CHARS)?;
                let known = Self::ALL.iter().find(|known| known.as_str() == given);
                known.copied().ok_or_else(|| node.refuse($refusal))
            }
        }

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                $crate::schema::one_of("", [$($word),+])
            }
        }

        impl utoipa::ToSchema for $name {}
    )*};
}

/// Declares parts. A field is a `tag(TYPE)`, a `kind(TYPE)` that its reader has looked at, a `text(MOST)`, a `word(MOST)` in
/// any case, a `file_name()`, `one(PART)` or `many(PART, MOST)`, and optional with a `?` at its end; `own(TYPE)` reads
/// itself, and `any(TYPE)?` is described and not checked. A function with the name of a text or a list gives its limit. A
/// part that is `by hand` has a reader of its own, for what concerns several fields.
macro_rules! parts {
    ($($(#[$about:meta])* pub struct $name:ident $(by $hand:ident)? { $($fields:tt)* })*) => {$(
        $crate::payload::parts! { @ [$(#[$about])*] [$name $($hand)?] [] [] [] $($fields)* }
    )*};
    // All fields are sorted: their declarations, their readers, the functions that give limits.
    (@ [$($about:tt)*] [$name:ident $($hand:ident)?] [$($fields:tt)*] [$($readers:tt)*] [$($limits:tt)*]) => {
        $($about)*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, utoipa::ToSchema)]
        pub struct $name { $($fields)* }

        impl $name { $($limits)* }

        $crate::payload::parts! { @read [$name $($hand)?] $($readers)* }
    };
    (@read [$name:ident] $($field:ident = $reader:expr;)*) => {
        impl $crate::payload::Part for $name {
            fn read(node: &$crate::payload::Node<'_>) -> Result<Self, $crate::error::Refusal> {
                Ok(Self { $($field: $reader(node)?,)* })
            }
        }
    };
    (@read [$name:ident hand] $($field:ident = $reader:expr;)*) => {};
    // One field is sorted.
    (@field $about:tt $name:tt [$($fields:tt)*] [$($readers:tt)*] [$($limits:tt)*]
        [$($attribute:tt)*] $field:ident: $kind:ty = $reader:expr, $(most $most:tt)?; $($rest:tt)*
    ) => {
        $crate::payload::parts! { @ $about $name
            [$($fields)* $($attribute)* pub $field: $kind,]
            [$($readers)* $field = $reader;]
            [$($limits)* $(
                /// The limit of the field.
                pub const fn $field() -> $crate::payload::Limit {
                    $crate::payload::Limit { most: $most }
                }
            )?]
            $($rest)*
        }
    };
    // The kinds of fields.
    (@ $a:tt $n:tt $f:tt $r:tt $l:tt $field:ident: tag($tag:ty), $($rest:tt)*) => {
        $crate::payload::parts! { @field $a $n $f $r $l
            [#[schema(inline)] #[expect(missing_docs, reason = "a schema in place has no description beside it")]]
            $field: $tag = (|node: &$crate::payload::Node<'_>| <$tag>::read_at(node, "type")),; $($rest)* }
    };
    (@ $a:tt $n:tt $f:tt $r:tt $l:tt $field:ident: kind($tag:ty), $($rest:tt)*) => {
        $crate::payload::parts! { @field $a $n $f $r $l
            [#[schema(value_type = $tag, inline)]
             #[expect(missing_docs, reason = "a schema in place has no description beside it")]]
            $field: Kind = (|node: &$crate::payload::Node<'_>| Kind::read_at(node, "type")),; $($rest)* }
    };
    (@ $a:tt $n:tt $f:tt $r:tt $l:tt $(#[$of:meta])* $field:ident: one($part:ty), $($rest:tt)*) => {
        $crate::payload::parts! { @field $a $n $f $r $l [$(#[$of])*] $field: $part =
            (|node: &$crate::payload::Node<'_>| $crate::payload::one::<$part>(node, stringify!($field))),; $($rest)* }
    };
    (@ $a:tt $n:tt $f:tt $r:tt $l:tt $(#[$of:meta])* $field:ident: one($part:ty)?, $($rest:tt)*) => {
        $crate::payload::parts! { @field $a $n $f $r $l
            [$(#[$of])* #[serde(skip_serializing_if = "Option::is_none")]] $field: Option<$part> =
            (|node: &$crate::payload::Node<'_>| {
                node.optional_object(stringify!($field))?.as_ref().map($crate::payload::Part::read).transpose()
            }),; $($rest)* }
    };
    (@ $a:tt $n:tt $f:tt $r:tt $l:tt $(#[$of:meta])* $field:ident: text($most:tt), $($rest:tt)*) => {
        $crate::payload::parts! { @field $a $n $f $r $l [$(#[$of])* #[schema(max_length = $most)]] $field: String =
            (|node: &$crate::payload::Node<'_>| node.text(stringify!($field), $most).map(str::to_owned)),
            most $most; $($rest)* }
    };
    (@ $a:tt $n:tt $f:tt $r:tt $l:tt $(#[$of:meta])* $field:ident: text($most:tt)?, $($rest:tt)*) => {
        $crate::payload::parts! { @field $a $n $f $r $l
            [$(#[$of])* #[schema(max_length = $most)] #[serde(skip_serializing_if = "Option::is_none")]]
            $field: Option<String> = (|node: &$crate::payload::Node<'_>| {
                node.optional_text($crate::body::field_name(stringify!($field)), $most)
                    .map(|text| text.map(str::to_owned))
            }), most $most; $($rest)* }
    };
    (@ $a:tt $n:tt $f:tt $r:tt $l:tt $(#[$of:meta])* $field:ident: word($most:tt), $($rest:tt)*) => {
        $crate::payload::parts! { @field $a $n $f $r $l [$(#[$of])* #[schema(max_length = $most)]] $field: String =
            (|node: &$crate::payload::Node<'_>| node.word(stringify!($field), $most)), most $most; $($rest)* }
    };
    (@ $a:tt $n:tt $f:tt $r:tt $l:tt $(#[$of:meta])* $field:ident: file_name()?, $($rest:tt)*) => {
        $crate::payload::parts! { @field $a $n $f $r $l
            [$(#[$of])* #[schema(max_length = 240)] #[serde(skip_serializing_if = "Option::is_none")]]
            $field: Option<String> = (|node: &$crate::payload::Node<'_>| {
                node.optional_file_name(stringify!($field)).map(|name| name.map(str::to_owned))
            }),; $($rest)* }
    };
    (@ $a:tt $n:tt $f:tt $r:tt $l:tt $(#[$of:meta])* $field:ident: many($part:ty, $most:tt), $($rest:tt)*) => {
        $crate::payload::parts! { @field $a $n $f $r $l
            [$(#[$of])* #[schema(min_items = 1, max_items = $most)]] $field: Vec<$part> =
            (|node: &$crate::payload::Node<'_>| {
                let items = $crate::payload::items::<$part>(node, stringify!($field), $most)?;
                Ok::<Vec<_>, $crate::error::Refusal>(items.into_iter().map(|(_, part)| part).collect())
            }), most $most; $($rest)* }
    };
    (@ $a:tt $n:tt $f:tt $r:tt $l:tt $(#[$of:meta])* $field:ident: many($part:ty, $most:tt)?, $($rest:tt)*) => {
        $crate::payload::parts! { @field $a $n $f $r $l
            [$(#[$of])* #[schema(max_items = $most)] #[serde(skip_serializing_if = "Option::is_none")]]
            $field: Option<Vec<$part>> = (|node: &$crate::payload::Node<'_>| {
                let items = node.at(stringify!($field)).map(|given| given.items($most)).transpose()?;
                items.map(|items| items.iter().map($crate::payload::Part::read).collect()).transpose()
            }), most $most; $($rest)* }
    };
    (@ $a:tt $n:tt $f:tt $r:tt $l:tt $(#[$of:meta])* $field:ident: own($kind:ty), $($rest:tt)*) => {
        $crate::payload::parts! { @field $a $n $f $r $l [$(#[$of])*] $field: $kind =
            (|node: &$crate::payload::Node<'_>| {
                <$kind>::read_at(node, $crate::body::field_name(stringify!($field)))
            }),; $($rest)* }
    };
    (@ $a:tt $n:tt $f:tt $r:tt $l:tt $(#[$of:meta])* $field:ident: any($kind:ty)?, $($rest:tt)*) => {
        $crate::payload::parts! { @field $a $n $f $r $l
            [$(#[$of])* #[serde(skip_serializing_if = "Option::is_none")]] $field: Option<$kind> =
            (|node: &$crate::payload::Node<'_>| {
                let given = node.at(stringify!($field));
                let read = given.and_then(|given| serde_json::from_value(given.value().clone()).ok());
                Ok::<Option<$kind>, $crate::error::Refusal>(read)
            }),; $($rest)* }
    };
}

pub(crate) use {parts, tags};
