//! A location on the map, as the content of a message.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::error::{Code, Refusal};
use crate::payload::{Node, Part, parts};

/// The parts of a degree that are kept: seven decimal places, which are about a centimetre.
const PER_DEGREE: f64 = 1e7;
/// The longest text of a number of degrees, in characters.
const DEGREES_CHARS: usize = 40;

parts! {
    /// A location on the map. The limits of its texts are ours: the provider documents none.
    #[derive(Eq, Deserialize)]
    pub struct Location {
        /// North of the equator.
        latitude: own(Latitude),
        /// East of Greenwich.
        longitude: own(Longitude),
        /// The name of the place.
        #[schema(example = "Padaria Sol")]
        name: text(1000)?,
        /// The address of the place. Phones show it only below a name.
        #[schema(example = "Rua das Flores 7, São Paulo")]
        address: text(1000)?,
    }
}

impl Location {
    /// Reads the field `location` of a send.
    ///
    /// # Errors
    ///
    /// `invalid_location`, with the path of what breaks a rule.
    pub fn parse(value: &Value) -> Result<Self, Refusal> {
        Self::read(&Node::root(Code::InvalidLocation, "location", value))
    }
}

/// Declares numbers of degrees up to a bound, in both directions.
macro_rules! degrees {
    ($($(#[doc = $doc:literal])+ $name:ident to $most:literal, such as $example:literal;)*) => {$(
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name(i32);

        impl $name {
            /// The most degrees, in both directions.
            pub const MOST: f64 = $most;

            /// These degrees, to seven decimal places; `None` beyond the bound.
            pub fn new(degrees: f64) -> Option<Self> {
                kept(degrees, Self::MOST).map(Self)
            }

            /// The degrees.
            pub fn degrees(self) -> f64 {
                f64::from(self.0) / PER_DEGREE
            }

            pub(crate) fn read_at(node: &Node<'_>, key: &str) -> Result<Self, Refusal> {
                let given = node.at(key).ok_or_else(|| {
                    node.missing(key, format_args!("give degrees from -{0} to {0}", Self::MOST))
                })?;
                given_degrees(&given).and_then(Self::new).ok_or_else(|| {
                    given.refuse(format_args!("must be a number of degrees from -{0} to {0}", Self::MOST))
                })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_f64(self.degrees())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::new(f64::deserialize(deserializer)?)
                    .ok_or_else(|| de::Error::custom("not a number of degrees"))
            }
        }

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                let number = ObjectBuilder::new()
                    .schema_type(Type::Number)
                    .minimum(Some(-Self::MOST))
                    .maximum(Some(Self::MOST));
                let text = ObjectBuilder::new().schema_type(Type::String).max_length(Some(DEGREES_CHARS));
                OneOfBuilder::new()
                    .description(Some(concat!($($doc),+).trim()))
                    .item(number)
                    .item(text)
                    .examples([Value::from($example)])
                    .into()
            }
        }

        impl ToSchema for $name {}
    )*};
}

degrees! {
    /// Degrees north of the equator, from -90 to 90, as a number or as text. Seven decimal places count.
    Latitude to 90.0, such as -23.5613;
    /// Degrees east of Greenwich, from -180 to 180, as a number or as text. Seven decimal places count.
    Longitude to 180.0, such as -46.6565;
}

fn given_degrees(given: &Node<'_>) -> Option<f64> {
    match given.value() {
        Value::Number(number) => number.as_f64(),
        Value::String(text) if text.len() <= DEGREES_CHARS => text.trim().parse().ok(),
        _ => None,
    }
}

fn kept(degrees: f64, most: f64) -> Option<i32> {
    // The texts `inf` and `NaN` are numbers to Rust, and are refused by this comparison.
    let is_within = (-most..=most).contains(&degrees);
    // 180 degrees are 1.8e9 parts: they fit.
    is_within.then(|| (degrees * PER_DEGREE).round() as i32)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_location_is_read_from_numbers_and_from_texts() {
        let read = |value: Value| Location::parse(&value).map(|location| json!(location));
        let plain = json!({"latitude": 37.5, "longitude": -122.42});
        assert_eq!(read(json!({"latitude": "37.50", "longitude": " -122.42 "})), Ok(plain.clone()));
        assert_eq!(read(json!({"latitude": 37.5, "longitude": -122.42, "name": " ", "x": 1})), Ok(plain));
        let whole = json!({"latitude": -90.0, "longitude": 180.0, "name": "Here", "address": "Rua 7"});
        assert_eq!(read(whole.clone()), Ok(whole));
        let exact = json!({"latitude": "37.44216251868683", "longitude": 0});
        assert_eq!(read(exact), Ok(json!({"latitude": 37.442_162_5, "longitude": 0.0})));
    }

    #[test]
    fn what_is_stored_is_read_back_unchanged() {
        for parts in [1_i32, -1, 374_421_625, 899_999_999, 123_456_789, -777_777_777] {
            let degrees = f64::from(parts) / PER_DEGREE;
            let location = Location::parse(&json!({"latitude": degrees, "longitude": degrees})).unwrap();
            let stored = serde_json::to_string(&location).unwrap();
            assert_eq!(serde_json::from_str::<Location>(&stored).unwrap(), location, "{stored}");
            assert_eq!(location.latitude, Latitude(parts), "{stored}");
        }
        assert!(serde_json::from_str::<Latitude>("90.1").is_err());
    }

    #[test]
    fn a_location_that_is_nowhere_is_refused_by_name() {
        let sentence = |value: Value| {
            let refusal = Location::parse(&value).unwrap_err();
            assert_eq!(refusal.code, Code::InvalidLocation, "{value}");
            refusal.sentence
        };
        for wrong in
            [json!(90.1), json!("-91"), json!("north"), json!("NaN"), json!("inf"), json!(true), json!({})]
        {
            let told = sentence(json!({"latitude": wrong, "longitude": 0}));
            assert_eq!(told, "`location.latitude` must be a number of degrees from -90 to 90", "{wrong}");
        }
        assert_eq!(
            sentence(json!({"latitude": 0, "longitude": 180.5})),
            "`location.longitude` must be a number of degrees from -180 to 180"
        );
        assert_eq!(
            sentence(json!({"longitude": 0})),
            "`location.latitude` is missing: give degrees from -90 to 90"
        );
        assert_eq!(
            sentence(json!({"latitude": 0, "longitude": 0, "name": "x".repeat(1001)})),
            "`location.name` is longer than 1000 characters"
        );
        assert_eq!(
            sentence(json!({"latitude": 0, "longitude": 0, "address": 7})),
            "`location.address` must be a string"
        );
    }
}
