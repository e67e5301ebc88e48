//! JSON that passes through as it is: the documents of a provider, and values of several kinds. No type reads them.

use serde_json::json;
use utoipa::openapi::schema::{
    AdditionalProperties, ArrayBuilder, Object, ObjectBuilder, OneOfBuilder, Schema, Type,
};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

/// Describes objects that may have more fields than these, each optional. A field has a schema, a description and
/// perhaps an example.
macro_rules! described {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident $(with $inner:ident)? { $($(#[doc = $field_doc:literal])* $field:literal: $schema:expr,)* }
    )*) => {$(
        $(#[doc = $doc])+
        pub(crate) enum $name {}

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                ObjectBuilder::new()
                    .schema_type(Type::Object)
                    .description(Some(concat!($($doc),+).trim()))
                    .additional_properties(Some(AdditionalProperties::FreeForm(true)))
                    $(.property($field, about($schema, concat!($($field_doc),*).trim())))*
                    .into()
            }
        }

        impl ToSchema for $name {
            fn schemas(_schemas: &mut Vec<(String, RefOr<Schema>)>) {
                $(
                    _schemas.push(($inner::name().into_owned(), $inner::schema()));
                    $inner::schemas(_schemas);
                )?
            }
        }
    )*};
}

described! {
    /// A part of a template, in the provider's form. The provider decides which fields a part has.
    TemplatePart with TemplatePartButton {
        /// `HEADER`, `BODY`, `FOOTER`, `BUTTONS`, or another word of the provider.
        "type": text(Some("BODY")),
        /// The format of a header: `TEXT`, `IMAGE`, `VIDEO`, `DOCUMENT` or `LOCATION`.
        "format": text(None),
        /// The text, with its variables.
        "text": text(Some("Hello {{1}}, your order has left.")),
        "buttons": many::<TemplatePartButton>(),
        /// The example values of the variables that were given to the provider.
        "example": ObjectBuilder::new().schema_type(Type::Object).build().into(),
    }

    /// A button of a template, in the provider's form.
    TemplatePartButton {
        /// `QUICK_REPLY`, `URL`, `PHONE_NUMBER`, `COPY_CODE`, `OTP`, or another word of the provider.
        "type": text(Some("URL")),
        "text": text(None),
        /// The address, with its variable if it has one.
        "url": text(None),
        "phone_number": text(None),
    }

    /// Where a button of a template of the provider's library leads to.
    LibraryButtonInput {
        /// `URL`, `PHONE_NUMBER`, `OTP`, or another word of the provider.
        "type": text(Some("URL")),
        /// The address of a button that opens a page: `base_url`, which may end with a variable, and then `url_suffix_example`, a
        /// whole address.
        "url": object([("base_url", Some("https://shop.example.com/{{1}}")), ("url_suffix_example", Some("https://shop.example.com/7"))]),
        "phone_number": text(Some("+5511988887777")),
        /// How a code gets into an app: `COPY_CODE`, `ONE_TAP` or `ZERO_TAP`.
        "otp_type": text(None),
    }

    /// What is added to the text of a template of the provider's library, where the provider offers it.
    LibraryBodyInputs {
        /// A number to call.
        "add_contact_number": of_type(Type::Boolean),
        /// A link to more about it.
        "add_learn_more_link": of_type(Type::Boolean),
        /// That a code is for nobody else.
        "add_security_recommendation": of_type(Type::Boolean),
        /// A link to follow a parcel.
        "add_track_package_link": of_type(Type::Boolean),
        /// After how many minutes a code expires.
        "code_expiration_minutes": of_type(Type::Integer),
    }

    /// A webhook, as the provider writes it.
    WebhookBody with WebhookEntry {
        /// `whatsapp_business_account`.
        "object": text(Some("whatsapp_business_account")),
        /// One entry for each business account that the webhook is about.
        "entry": many::<WebhookEntry>(),
    }

    /// The changes of one business account.
    WebhookEntry {
        /// The provider's id of the account.
        "id": text(None),
    }

    /// The options of a tier, the scope of a suppression, or the fields of a new record.
    ChangedFields {}

    /// The values for one part of a template, as in `components` of a request.
    SentComponent {
        /// The part: `header`, `body`, `button`, or another word of the request.
        "type": text(Some("body")),
    }

    /// Buttons, a list or products, as in `interactive` of a request.
    SentInteractive {
        "type": text(Some("button")),
    }

    /// A place, as in `location` of a request.
    SentLocation {
        "name": text(Some("Padaria Sol")),
        "address": text(None),
    }

    /// The card of a person, as in `contacts` of a request.
    SentCard {
        /// A date, such as `1990-12-31`.
        "birthday": text(None),
    }

    /// A message and an emoji, as in `reaction` of a request.
    SentReaction {
        /// The provider's id of the message.
        "message_id": text(None),
        "emoji": text(Some("👍")),
    }
}

/// The value before or after a change: a word, or an object such as a tier.
pub(crate) enum ChangedValue {}

impl PartialSchema for ChangedValue {
    fn schema() -> RefOr<Schema> {
        OneOfBuilder::new()
            .description(Some("The value before or after a change: a word, or an object such as a tier."))
            .item(text(None))
            .item(Ref::from_schema_name(ChangedFields::name()))
            .into()
    }
}

impl ToSchema for ChangedValue {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((ChangedFields::name().into_owned(), ChangedFields::schema()));
    }
}

#[expect(deprecated, reason = "the examples of derived schemas have this form")]
fn text(example: Option<&str>) -> Schema {
    let example = example.map(|example| json!(example));
    ObjectBuilder::new().schema_type(Type::String).example(example).into()
}

/// An object whose fields are texts.
fn object(fields: [(&str, Option<&str>); 2]) -> Schema {
    let object = ObjectBuilder::new().schema_type(Type::Object);
    fields.into_iter().fold(object, |object, (name, example)| object.property(name, text(example))).into()
}

fn of_type(kind: Type) -> Schema {
    ObjectBuilder::new().schema_type(kind).into()
}

fn many<T: ToSchema>() -> Schema {
    ArrayBuilder::new().items(Ref::from_schema_name(T::name())).into()
}

fn about(mut schema: Schema, description: &str) -> Schema {
    let description = Some(description).filter(|text| !text.is_empty()).map(str::to_owned);
    match &mut schema {
        Schema::Object(Object { description: own, .. }) => *own = description,
        Schema::Array(array) => array.description = description,
        _ => {}
    }
    schema
}
