//! The body of a send, split into its fields once: what reading them takes is known before they are read.

use super::Limits;
use super::body::Split;
use super::business::{BusinessRequest, BusinessSend};
use super::field::Json;
use crate::error::Refusal;

/// The field with recipients that have values of their own.
pub(super) const RECIPIENTS: &str = "recipients";

/// The memory that recipients may take, of so many bytes of JSON: a recipient takes less than that of what is written about it.
pub(super) const fn weight_of_recipients(bytes: usize) -> usize {
    bytes / 3 * 2
}

/// The body of a send through a business account, of which nothing but the fields' names is read.
#[derive(Debug)]
pub struct SplitSend<'a>(Split<'a>);

impl<'a> SplitSend<'a> {
    /// Splits a body.
    ///
    /// # Errors
    ///
    /// `invalid_body`, `unknown_field`.
    pub fn of(body: &'a [u8]) -> Result<Self, Refusal> {
        Split::send(body).map(Self)
    }

    /// Whether it gives recipients with values of their own: such a body may be larger than others.
    pub fn gives_recipients(&self) -> bool {
        self.0.body::<BusinessSend<'_>>().personal().recipients.look() == Json::Array
    }

    /// The memory that [`SplitSend::read`] may take for the structures in the body. The rest of a request takes no more than
    /// its text.
    pub fn weight(&self) -> usize {
        self.0.body::<BusinessSend<'_>>().weight()
    }

    /// Reads the request.
    ///
    /// # Errors
    ///
    /// Those of [`BusinessRequest::parse`], behind those of [`SplitSend::of`].
    pub fn read(&self, limits: &Limits) -> Result<BusinessRequest, Refusal> {
        BusinessRequest::read(&self.0, limits, None)
    }
}
