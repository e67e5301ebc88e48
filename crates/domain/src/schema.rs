//! Descriptions of words for the reference, from the lists of the words, so that a new word is documented by itself.

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};

/// A text that is one of these words.
pub fn one_of<'a>(description: &str, words: impl IntoIterator<Item = &'a str>) -> RefOr<Schema> {
    let description = Some(description).filter(|description| !description.is_empty());
    ObjectBuilder::new().schema_type(Type::String).description(description).enum_values(Some(words)).into()
}

/// Declares the types of fields that hold one of some words. They have no values: a field is read by its own rule.
#[macro_export]
macro_rules! schema_words {
    ($($(#[doc = $doc:literal])* $visible:vis $name:ident = $words:expr;)*) => {$(
        $(#[doc = $doc])*
        $visible enum $name {}

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                $crate::schema::one_of(concat!($($doc),*).trim(), $words)
            }
        }

        impl utoipa::ToSchema for $name {}
    )*};
}

/// Describes types of which a value may have several forms at once, one of them open.
macro_rules! any_of {
    ($($(#[doc = $doc:literal])+ $name:ty as $word:literal = $($form:ty),+;)*) => {$(
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                utoipa::openapi::schema::AnyOfBuilder::new()
                    .description(Some(concat!($($doc),+).trim()))
                    $(.item(utoipa::openapi::Ref::from_schema_name(<$form as utoipa::ToSchema>::name())))+
                    .into()
            }
        }

        impl utoipa::ToSchema for $name {
            fn name() -> std::borrow::Cow<'static, str> {
                $word.into()
            }

            fn schemas(schemas: &mut Vec<(String, utoipa::openapi::RefOr<utoipa::openapi::schema::Schema>)>) {
                $(
                    schemas.push((
                        <$form as utoipa::ToSchema>::name().into_owned(),
                        <$form as utoipa::PartialSchema>::schema(),
                    ));
                    <$form as utoipa::ToSchema>::schemas(schemas);
                )+
            }
        }
    )*};
}

pub(crate) use any_of;
