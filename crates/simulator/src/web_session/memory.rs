//! The records of a simulated device: the number of the phone that it is linked to.

use domain::phone::PhoneNumber;
use driver::{Change, OpenError, Record, Records, RecordsError};

/// A namespace that no other driver uses.
const NAMESPACE: &str = "simulated_device";
const ACCOUNT: &str = "account";

/// The number that the device is linked to, if it is.
///
/// # Errors
///
/// [`OpenError::Records`].
pub(super) async fn read(records: &dyn Records) -> Result<Option<PhoneNumber>, OpenError> {
    let read = records.read(NAMESPACE, &[ACCOUNT]).await;
    let found = read.map_err(|error| OpenError::Records(error.to_string()))?;
    let Some(record) = found.into_iter().next() else { return Ok(None) };
    let number = std::str::from_utf8(&record.value).ok().and_then(|text| PhoneNumber::parse(text).ok());
    number.map(Some).ok_or_else(|| OpenError::Records("the account's number is invalid".to_owned()))
}

/// Stores the number that the device is linked to.
///
/// # Errors
///
/// Those of the records.
pub(super) async fn write(records: &dyn Records, number: PhoneNumber) -> Result<(), RecordsError> {
    let record = Record { key: ACCOUNT.to_owned(), value: number.to_string().into_bytes(), mark: 0 };
    records.apply(vec![Change::Put { namespace: NAMESPACE.to_owned(), record }]).await
}
