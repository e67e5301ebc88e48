//! What a recipient does not want to hear, or may not be sent.

/// What a suppressed recipient is left out of. The numbers are what the database keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(i16)]
pub enum Suppression {
    /// Marketing templates: the recipient opted out of them.
    Marketing = 1,
    /// Everything: the business blocked the recipient at the provider.
    Everything = 2,
}

impl Suppression {
    /// The number that the database keeps.
    pub const fn as_i16(self) -> i16 {
        self as i16
    }

    /// From the number that the database kept.
    pub fn from_i16(value: i16) -> Option<Self> {
        [Self::Marketing, Self::Everything].into_iter().find(|scope| scope.as_i16() == value)
    }
}
