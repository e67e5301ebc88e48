//! Ids of the door that speaks Graph, where they are made of our own and need no table: those of messages and of files.
//!
//! Channels, accounts and companies have short ids there, which the store gives them.

pub mod hook;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use uuid::Uuid;

use crate::message::Key;

/// The beginning of the id of a message, ours and the provider's.
pub const MESSAGE: &str = "wamid.";
/// The first bytes of our ids. The provider's begin with the tag of another encoding (0x1c).
const MARK: &[u8; 3] = b"PMB";
/// Mark, send and ordinal: a length that needs no padding.
const BYTES: usize = 3 + 16 + 8;
/// An id of this many digits, or of more, is that of a file; those of numbers and accounts have 17 at most.
const FILE_DIGITS: usize = 20;

/// What a digit of a short id stands for. They have 16 digits and are below 2^53, so that programs which read them as numbers
/// keep every digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GraphIdKind {
    /// A web session, where Meta has a phone number.
    Number,
    /// The web sessions of a company together, where Meta has a business account.
    Account,
    /// A company, where Meta has an app.
    App,
}

impl GraphIdKind {
    /// The first three digits of its ids.
    const fn head(self) -> i64 {
        match self {
            Self::Number => 701,
            Self::Account => 702,
            Self::App => 703,
        }
    }

    /// The number in the database.
    pub const fn as_i16(self) -> i16 {
        match self {
            Self::Number => 1,
            Self::Account => 2,
            Self::App => 3,
        }
    }

    /// The kind with this number in the database.
    pub const fn from_i16(number: i16) -> Option<Self> {
        match number {
            1 => Some(Self::Number),
            2 => Some(Self::Account),
            3 => Some(Self::App),
            _ => None,
        }
    }

    /// An id that is chosen by this random number.
    pub const fn id(self, random: u64) -> i64 {
        const REST: u64 = 10_000_000_000_000;
        self.head() * REST.cast_signed() + (random % REST).cast_signed()
    }
}

/// A program that is connected in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProgramKind {
    /// A shared inbox.
    Chatwoot,
    /// A builder of chatbots.
    Typebot,
}

impl ProgramKind {
    /// Its name.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Chatwoot => "Chatwoot",
            Self::Typebot => "Typebot",
        }
    }

    /// The number in the database.
    pub const fn as_i16(self) -> i16 {
        match self {
            Self::Chatwoot => 1,
            Self::Typebot => 2,
        }
    }

    /// The kind with this number in the database.
    pub const fn from_i16(number: i16) -> Option<Self> {
        match number {
            1 => Some(Self::Chatwoot),
            2 => Some(Self::Typebot),
            _ => None,
        }
    }
}

/// The number of an error, if programs that are written for Meta can know it: the negative ones are ours, and those from 400 to
/// 599 are of the protocol of web sessions.
pub fn known_error(code: Option<i64>) -> Option<i64> {
    code.filter(|code| *code > 0 && !(400..600).contains(code))
}

/// The id of a message that was sent through Pombo.
pub fn message_id(Key { send_id, ordinal }: Key) -> String {
    let mut bytes = Vec::with_capacity(BYTES);
    bytes.extend_from_slice(MARK);
    bytes.extend_from_slice(send_id.as_bytes());
    bytes.extend_from_slice(&ordinal.to_be_bytes());
    format!("{MESSAGE}{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// The message of ours with this id; `None` for an id of the provider.
pub fn message_key(id: &str) -> Option<Key> {
    let bytes = URL_SAFE_NO_PAD.decode(id.trim().strip_prefix(MESSAGE)?).ok()?;
    let rest = bytes.strip_prefix(MARK)?;
    let (send_id, ordinal) = (rest.get(..16)?, rest.get(16..)?);
    let (send_id, ordinal) = (Uuid::from_slice(send_id).ok()?, ordinal.try_into().ok()?);
    Some(Key { send_id, ordinal: u64::from_be_bytes(ordinal) })
}

/// The first of the ids of templates of web sessions, which have 16 digits as other short ids.
const TEMPLATES: i64 = 7_040_000_000_000_000;
/// The end of those ids.
const TEMPLATES_END: i64 = 7_050_000_000_000_000;

/// The id of a template of web sessions, by our own.
pub fn template_id(id: i64) -> String {
    TEMPLATES.saturating_add(id).to_string()
}

/// Our own id of the template of web sessions with this id; `None` for an id of something else.
pub fn template_of(id: &str) -> Option<i64> {
    let id = id.parse().ok().filter(|id| (TEMPLATES..TEMPLATES_END).contains(id))?;
    Some(id - TEMPLATES)
}

/// The id of a file: of the library, or of the message with it.
pub fn media_id(id: Uuid) -> String {
    format!("{:020}", id.as_u128())
}

/// The file with this id; `None` for an id of something else.
pub fn media_of(id: &str) -> Option<Uuid> {
    let is_one = id.len() >= FILE_DIGITS && id.bytes().all(|byte| byte.is_ascii_digit());
    is_one.then(|| id.parse().ok().map(Uuid::from_u128)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_id_is_read_as_it_was_written_and_others_are_not() {
        for (send, ordinal) in [(0, 0), (u128::MAX, u64::MAX), (0x0190_a0c4_7c1b_7f00_8f4e_2a9f_54b2_c001, 7)]
        {
            let key = Key { send_id: Uuid::from_u128(send), ordinal };
            let id = message_id(key);
            assert_eq!(message_key(&id), Some(key), "{id}");
            assert_eq!(message_key(&format!(" {id}\n")), Some(key));
            assert_eq!(message_key(&id[..id.len() - 1]), None);
            assert_eq!(id.len(), MESSAGE.len() + 36);
        }
        for other in
            ["", "wamid.", "wamid.HBgNNTUxMTk4ODg4Nzc3NxUCABIYEjVGNDI1QTc0RjEzMDMzNDkyQQA=", "3EB0A1"]
        {
            assert_eq!(message_key(other), None, "{other}");
        }
    }

    #[test]
    fn the_id_of_a_file_has_only_digits_and_more_of_them_than_any_other_id() {
        for id in [1, 0x0190_a0c4_7c1b_7f00_8f4e_2a9f_54b2_c001, u128::MAX] {
            let id = Uuid::from_u128(id);
            assert_eq!(media_of(&media_id(id)), Some(id));
            assert!(media_id(id).len() >= FILE_DIGITS);
        }
        assert_eq!(template_of(&template_id(7)), Some(7));
        for other in ["", "7", "7030000000000001", "7050000000000000", "x"] {
            assert_eq!(template_of(other), None, "{other}");
        }
        for other in [
            "",
            "7010000000000123",
            "17841400000000000",
            "340282366920938463463374607431768211456",
            "12345678901234567890a",
        ] {
            assert_eq!(media_of(other), None, "{other}");
        }
    }

    #[test]
    fn short_ids_say_what_they_stand_for_and_fit_into_the_numbers_of_all_languages() {
        for (kind, head) in
            [(GraphIdKind::Number, "701"), (GraphIdKind::Account, "702"), (GraphIdKind::App, "703")]
        {
            for random in [0, 1, u64::MAX] {
                let id = kind.id(random);
                assert!(
                    id < 1 << 53 && id.to_string().starts_with(head) && id.to_string().len() == 16,
                    "{id}"
                );
            }
            assert_eq!(GraphIdKind::from_i16(kind.as_i16()), Some(kind));
        }
    }
}
