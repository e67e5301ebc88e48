//! Request bodies. A body is one type: the reference is derived from it, and its fields are read from it.
//!
//! Nothing of a field is checked before the field is read, so that each check comes at its step and a request that is
//! refused early never has its million recipients read.

mod small;
mod unknown;

use std::fmt;
use std::marker::PhantomData;

pub use self::unknown::{MOST_COMPARED, refuse_misspelled};
use crate::error::{Code, Refusal};

/// One field of a body: its name, and the value that was given in the form `F`. The reference describes it as a `T`.
pub struct Field<F, T> {
    name: &'static str,
    given: Option<F>,
    kind: PhantomData<fn() -> T>,
}

impl<F: Clone, T> Clone for Field<F, T> {
    fn clone(&self) -> Self {
        Self::new(self.name, self.given.clone())
    }
}

impl<F: Copy, T> Copy for Field<F, T> {}

impl<F, T> Field<F, T> {
    /// A field of this name, and its value if one was given.
    pub const fn new(name: &'static str, given: Option<F>) -> Self {
        Self { name, given, kind: PhantomData }
    }

    /// The value as it was given.
    pub const fn given(&self) -> Option<&F> {
        self.given.as_ref()
    }

    /// "`name` what".
    pub fn refuse(&self, code: Code, what: impl fmt::Display) -> Refusal {
        Refusal::of(self.name, code, what)
    }

    /// "`name` must be …".
    pub fn wrong_type(&self, expected: impl fmt::Display) -> Refusal {
        self.refuse(Code::InvalidField, format_args!("must be {expected}"))
    }
}

/// A body whose fields are given in the form `F`.
pub trait Body<F>: Sized {
    /// The names of its fields.
    const NAMES: &'static [&'static str];

    /// Takes the value of each field.
    fn take(value: impl FnMut(&'static str) -> Option<F>) -> Self;
}

/// The name of a field whose identifier may be a raw one.
#[doc(hidden)]
pub const fn field_name(identifier: &'static str) -> &'static str {
    match identifier.as_bytes() {
        [b'r', b'#', ..] => identifier.split_at(2).1,
        _ => identifier,
    }
}

/// Declares bodies, each with the form in which its fields are given. The type of a field is the one that the reference
/// shows, and decides how the field can be read.
#[macro_export]
macro_rules! bodies {
    ($(
        $(#[$about:meta])*
        $visible:vis struct $name:ident$(<$life:lifetime>)? of $form:ty {
            $($(#[$field_about:meta])* $field_visible:vis $field:ident: $kind:ty,)*
        }
    )*) => {$(
        $(#[$about])*
        #[derive(utoipa::ToSchema)]
        $visible struct $name$(<$life>)? {
            $(
                $(#[$field_about])*
                #[schema(value_type = $kind)]
                $field_visible $field: $crate::body::Field<$form, $kind>,
            )*
        }

        impl$(<$life>)? $crate::body::Body<$form> for $name$(<$life>)? {
            const NAMES: &'static [&'static str] = &[$($crate::body::field_name(stringify!($field)),)*];

            fn take(mut value: impl FnMut(&'static str) -> Option<$form>) -> Self {
                $(
                    let name = const { $crate::body::field_name(stringify!($field)) };
                    let $field = $crate::body::Field::new(name, value(name));
                )*
                Self { $($field,)* }
            }
        }
    )*};
}
