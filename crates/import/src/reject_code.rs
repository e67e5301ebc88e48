//! The reasons for rejected rows, as codes with details: programs compare the codes, and the console shows
//! them in the person's language.

use super::records::Broken;
use super::row::Refused;
use domain::own_field::{LONGEST_TEXT, WrongValue};
use domain::phone::InvalidPhone;

domain::worded! {
    /// Why a row is rejected. The words are part of the contract and never change.
    pub enum RejectCode {
        /// It has another number of fields than the header.
        FieldCount = "field_count",
        /// This field holds a NUL.
        Nul = "nul",
        /// This field holds a byte that is not valid in the file's encoding.
        WrongByte = "wrong_byte",
        /// This field is too long.
        TooLong = "too_long",
        /// It has too many tags.
        TooManyTags = "too_many_tags",
        /// The picture's address is not one of the web.
        PictureAddress = "picture_address",
        /// It has neither a number nor an address.
        Nobody = "nobody",
        /// The e-mail address is malformed, and there is no number.
        WrongAddress = "wrong_address",
        /// The number has no digits, and there is no address.
        NumberWithoutDigits = "number_without_digits",
        /// The number is too short, and there is no address.
        NumberTooShort = "number_too_short",
        /// The number is too long, and there is no address.
        NumberTooLong = "number_too_long",
        /// The number begins with 0, and there is no address.
        NumberBeginsWithZero = "number_begins_with_zero",
        /// The number looks national, and there is no address.
        NumberIsNational = "number_is_national",
        /// The number is an id that hides the number, and there is no address.
        NumberIsLid = "number_is_lid",
        /// The number is an id of WhatsApp, and there is no address.
        NumberIsId = "number_is_id",
        /// An e-mail address stands in place of the number.
        NumberIsAddress = "number_is_address",
        /// The number has an extension, and there is no address.
        NumberHasExtension = "number_has_extension",
        /// There are several numbers in one, and there is no address.
        SeveralNumbers = "several_numbers",
        /// A date stands in place of the number, and there is no address.
        NumberIsDate = "number_is_date",
        /// There are letters between the digits, and there is no address.
        NumberHasLetters = "number_has_letters",
        /// There are other characters between the digits, and there is no address.
        NumberIsUnclear = "number_is_unclear",
        /// A spreadsheet rounded the number to this.
        NumberRounded = "number_rounded",
        /// A spreadsheet rounded WhatsApp's id of the person to this.
        LidRounded = "lid_rounded",
        /// The cell of an own field is no number.
        FieldNotNumber = "field_not_number",
        /// The cell of an own field may be a thousand, or have three decimals.
        FieldNumberUnclear = "field_number_unclear",
        /// The cell of an own field is no date.
        FieldNotDate = "field_not_date",
        /// The day and the month of a date may be exchanged.
        FieldDateUnclear = "field_date_unclear",
        /// A quote stands inside a field.
        StrayQuote = "stray_quote",
        /// A quote is never closed.
        UnclosedQuote = "unclosed_quote",
        /// The line is too long.
        LineTooLong = "line_too_long",
    }
}

/// A code with its details.
pub(super) type Coded = (RejectCode, Vec<String>);

impl From<&Refused> for Coded {
    fn from(refused: &Refused) -> Self {
        match refused {
            Refused::FieldCount { found, wanted } => {
                (RejectCode::FieldCount, vec![found.to_string(), wanted.to_string()])
            }
            Refused::Nul { field } => (RejectCode::Nul, vec![(*field).to_owned()]),
            Refused::WrongByte { field } => (RejectCode::WrongByte, vec![(*field).to_owned()]),
            Refused::RoundedLid(text) => (RejectCode::LidRounded, vec![text.clone()]),
            Refused::TooLong { field, most } => {
                (RejectCode::TooLong, vec![(*field).to_owned(), most.to_string()])
            }
            Refused::TooManyTags => (RejectCode::TooManyTags, Vec::new()),
            Refused::Picture => (RejectCode::PictureAddress, Vec::new()),
            Refused::Nobody => (RejectCode::Nobody, Vec::new()),
            Refused::Address(text) => (RejectCode::WrongAddress, vec![text.clone()]),
            Refused::Phone(text, invalid) => number(text, *invalid),
            Refused::OwnWrongByte { name } => (RejectCode::WrongByte, vec![name.clone()]),
            Refused::Own { name, cell, wrong } => own(name, cell, *wrong),
        }
    }
}

/// What is wrong with the cell of an own field.
fn own(name: &str, cell: &str, wrong: WrongValue) -> Coded {
    let (code, detail) = match wrong {
        WrongValue::TooLong => (RejectCode::TooLong, LONGEST_TEXT.to_string()),
        WrongValue::Nul => return (RejectCode::Nul, vec![name.to_owned()]),
        WrongValue::Number => (RejectCode::FieldNotNumber, cell.to_owned()),
        WrongValue::UnclearNumber => (RejectCode::FieldNumberUnclear, cell.to_owned()),
        WrongValue::Date => (RejectCode::FieldNotDate, cell.to_owned()),
        WrongValue::UnclearDate => (RejectCode::FieldDateUnclear, cell.to_owned()),
    };
    (code, vec![name.to_owned(), detail])
}

/// What is wrong with the text of a number.
fn number(text: &str, invalid: InvalidPhone) -> Coded {
    let code = RejectCode::of_number(invalid);
    let details = if code == RejectCode::NumberRounded { vec![text.to_owned()] } else { Vec::new() };
    (code, details)
}

impl RejectCode {
    /// What is wrong with a text that is no number. The detail of [`RejectCode::NumberRounded`] is the text.
    pub const fn of_number(invalid: InvalidPhone) -> Self {
        match invalid {
            InvalidPhone::NoDigits => RejectCode::NumberWithoutDigits,
            InvalidPhone::TooShort => RejectCode::NumberTooShort,
            InvalidPhone::TooLong => RejectCode::NumberTooLong,
            InvalidPhone::LeadingZero => RejectCode::NumberBeginsWithZero,
            InvalidPhone::Figure => RejectCode::NumberRounded,
            InvalidPhone::National => RejectCode::NumberIsNational,
            InvalidPhone::Lid => RejectCode::NumberIsLid,
            InvalidPhone::WhatsAppId => RejectCode::NumberIsId,
            InvalidPhone::EmailAddress => RejectCode::NumberIsAddress,
            InvalidPhone::Extension => RejectCode::NumberHasExtension,
            InvalidPhone::Several => RejectCode::SeveralNumbers,
            InvalidPhone::Date => RejectCode::NumberIsDate,
            InvalidPhone::Letters => RejectCode::NumberHasLetters,
            InvalidPhone::Unclear => RejectCode::NumberIsUnclear,
        }
    }
}

impl From<&Broken> for Coded {
    fn from(broken: &Broken) -> Self {
        let code = match broken {
            Broken::Stray => RejectCode::StrayQuote,
            Broken::Unclosed => RejectCode::UnclosedQuote,
            Broken::TooLong => RejectCode::LineTooLong,
        };
        (code, Vec::new())
    }
}
