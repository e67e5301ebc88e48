//! Which options hold secrets: those that are read as a [`Secret`], whatever the form of their value is.
//!
//! The types are asked, so that a new option of a secret type needs no entry in a list: the reference is read with a
//! deserializer that notes at which options a secret is asked for.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde::de::value::StringDeserializer;
use serde::de::{DeserializeSeed, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};
use toml::Value;

use super::{Config, REFERENCE};
use domain::secret;

type Error = toml::de::Error;

/// The options that hold secrets, such as "database.url".
pub fn secret_options() -> &'static BTreeSet<String> {
    static FOUND: OnceLock<BTreeSet<String>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let found = RefCell::default();
        let reference = REFERENCE.parse::<toml::Table>().unwrap_or_default();
        // The reference is compiled in, and a test reads it to its end.
        let _ = read(reference, &found);
        found.into_inner()
    })
}

fn read(reference: toml::Table, found: &RefCell<BTreeSet<String>>) -> Result<Config, Error> {
    Config::deserialize(Probe { value: Value::Table(reference), option: String::new(), found })
}

/// A value of the reference.
struct Probe<'a> {
    value: Value,
    /// The option, or the section; empty for the whole reference.
    option: String,
    found: &'a RefCell<BTreeSet<String>>,
}

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Table(table) => {
                let entries = table.into_iter();
                visitor.visit_map(Entries { entries, next: None, option: self.option, found: self.found })
            }
            value => value.deserialize_any(visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        if name == secret::NAME {
            self.found.borrow_mut().insert(self.option.clone());
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.value.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

/// The entries of a section, or the sections.
struct Entries<'a> {
    entries: toml::map::IntoIter<String, Value>,
    next: Option<(String, Value)>,
    option: String,
    found: &'a RefCell<BTreeSet<String>>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        self.next = self.entries.next();
        let Some((name, _)) = &self.next else { return Ok(None) };
        let name: StringDeserializer<Error> = name.clone().into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let (name, value) = self.next.take().unwrap_or_else(|| (String::new(), Value::Boolean(false)));
        let option = if self.option.is_empty() { name } else { format!("{}.{name}", self.option) };
        seed.deserialize(Probe { value, option, found: self.found })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_reference_is_read_and_every_secret_in_it_found() {
        let found = RefCell::default();
        read(REFERENCE.parse().unwrap(), &found).unwrap();
        let found: Vec<_> = found.into_inner().into_iter().collect();
        assert_eq!(
            found,
            [
                "database.url",
                "events.token",
                "events.url",
                "mail.password",
                "media.s3_secret_key",
                "nats.token",
                "nats.url",
                "network.proxy",
                "secrets.key",
                "secrets.previous_keys",
                "telemetry.otlp_endpoint",
                "telemetry.otlp_headers",
            ]
        );
        assert!(secret_options().iter().eq(found.iter()));
    }
}
