//! The export of all contacts of a company, as CSV that can be imported again.

use std::io::{self, Write};

use csv::{Writer, WriterBuilder};
use uuid::Uuid;

use super::header::OWN;
use super::{Error, Result};
use domain::cell::guard;
use domain::contact::Contact;
use store::{ContactPosition, Store};

/// Begins a file for spreadsheets, which read one without it in an encoding of their own.
pub const BYTE_ORDER_MARK: &str = "\u{feff}";
/// Contacts in each read.
const CHUNK: u32 = 1_000;

/// Writes all contacts of `company` to `out`, oldest first, and returns their number; `progress` is called
/// with the number after each thousand. Contacts that are added meanwhile may be included or not.
///
/// # Errors
///
/// When `out` cannot be written or the database fails.
pub async fn export(
    store: &Store,
    company: Uuid,
    out: impl Write,
    mut progress: impl FnMut(u64),
) -> Result<u64> {
    let failed = |error: io::Error| Error::write("the export".as_ref())(error);
    let mut writer = Writer::from_writer(out);
    writer.write_record(OWN).map_err(io::Error::from).map_err(failed)?;
    let mut count = 0;
    let mut position = None;
    loop {
        let contacts = store.of(company).contacts().after(position, CHUNK).await?;
        let Some(last) = contacts.last() else { break };
        position = Some(ContactPosition::from(last));
        for contact in &contacts {
            write(&mut writer, contact).map_err(failed)?;
        }
        count += contacts.len() as u64;
        progress(count);
    }
    writer.flush().map_err(failed)?;
    Ok(count)
}

/// Contacts as CSV for spreadsheets, with this delimiter, and with the header when they are the first of a file.
pub fn export_csv(delimiter: u8, with_header: bool, contacts: &[Contact]) -> Vec<u8> {
    let beginning = if with_header { BYTE_ORDER_MARK.as_bytes() } else { &[] };
    let mut writer = WriterBuilder::new().delimiter(delimiter).from_writer(beginning.to_vec());
    // Writing to memory does not fail.
    if with_header {
        let _ = writer.write_record(OWN);
    }
    for contact in contacts {
        let _ = write(&mut writer, contact);
    }
    writer.into_inner().unwrap_or_default()
}

fn write(writer: &mut Writer<impl Write>, contact: &Contact) -> io::Result<()> {
    let person = &contact.person;
    let tags: Vec<_> = contact.tags.iter().map(|tag| tag.name.as_str()).collect();
    let tags = tags.join(";");
    let record = [
        guard(&person.first_name),
        guard(&person.last_name),
        guard(&person.email),
        guard(&person.phone_number),
        guard(person.phone_number_lid.as_deref().unwrap_or_default()),
        guard(&person.profile_picture),
        guard(&tags),
    ];
    Ok(writer.write_record(record.iter().map(|cell| cell.as_bytes()))?)
}
