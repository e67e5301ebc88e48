//! The export of all contacts of a company, as CSV that can be imported again.

use std::borrow::Cow;
use std::io::{self, Write};

use csv::{Writer, WriterBuilder};
use uuid::Uuid;

use super::header::OWN;
use super::{Error, Result};
use domain::cell::guard;
use domain::contact::Contact;
use domain::own_field::{FieldValue, OwnField};
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
    let own = store.of(company).fields().all().await?;
    let mut writer = Writer::from_writer(out);
    write_header(&mut writer, &own).map_err(failed)?;
    let mut count = 0;
    let mut position = None;
    loop {
        let contacts = store.of(company).contacts().after(position, CHUNK).await?;
        let Some(last) = contacts.last() else { break };
        position = Some(ContactPosition::from(last));
        for contact in &contacts {
            write(&mut writer, &own, contact).map_err(failed)?;
        }
        count += contacts.len() as u64;
        progress(count);
    }
    writer.flush().map_err(failed)?;
    Ok(count)
}

/// Contacts as CSV for spreadsheets, with these own fields and this delimiter, and with the header when they are the first of
/// a file.
pub fn export_csv(delimiter: u8, with_header: bool, own: &[OwnField], contacts: &[Contact]) -> Vec<u8> {
    let beginning = if with_header { BYTE_ORDER_MARK.as_bytes() } else { &[] };
    let mut writer = WriterBuilder::new().delimiter(delimiter).from_writer(beginning.to_vec());
    // Writing to memory does not fail.
    if with_header {
        let _ = write_header(&mut writer, own);
    }
    for contact in contacts {
        let _ = write(&mut writer, own, contact);
    }
    writer.into_inner().unwrap_or_default()
}

/// The columns of every contact, and a column for each own field, by whose name an import knows it.
fn write_header(writer: &mut Writer<impl Write>, own: &[OwnField]) -> io::Result<()> {
    let names = own.iter().map(|field| guard(&field.name));
    let columns: Vec<_> = OWN.into_iter().map(Cow::Borrowed).chain(names).collect();
    Ok(writer.write_record(columns.iter().map(|cell| cell.as_bytes()))?)
}

fn write(writer: &mut Writer<impl Write>, own: &[OwnField], contact: &Contact) -> io::Result<()> {
    let person = &contact.person;
    let tags: Vec<_> = contact.tags.iter().map(|tag| tag.name.as_str()).collect();
    let tags = tags.join(";");
    let values =
        own.iter().map(|field| person.own.get(&field.key).map(FieldValue::in_file).unwrap_or_default());
    let values: Vec<String> = values.collect();
    let built_in = [
        guard(&person.first_name),
        guard(&person.last_name),
        guard(&person.email),
        guard(&person.phone_number),
        guard(person.phone_number_lid.as_deref().unwrap_or_default()),
        guard(&person.profile_picture),
        guard(&tags),
    ];
    let record = built_in.into_iter().chain(values.iter().map(|value| guard(value)));
    let record: Vec<_> = record.collect();
    Ok(writer.write_record(record.iter().map(|cell| cell.as_bytes()))?)
}
