//! `pombo contacts`.

use std::io::{BufWriter, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use serde_json::json;

use super::argument::{self, OfCompany};
use super::failure::Misused;
use super::output::Unwritten;
use super::progress;
use super::session::Session;
use crate::domain::phone::Country;
use crate::domain::plural::counted;
use crate::files;
use crate::import::{self, BYTE_ORDER_MARK, Mapping, Options, Summary};
use crate::store::exports::Exported;
use crate::store::imports::Counts;

/// The most ignored columns that are named to a person.
const NAMED_COLUMNS: usize = 12;

#[derive(Debug, Args)]
pub(super) struct Import {
    /// A CSV file, or an Excel file (.xlsx), whose first line names the columns: an export of Pombo, Google Contacts, HubSpot or another
    /// program
    file: PathBuf,
    #[command(flatten)]
    of: OfCompany,
    /// A tag that every contact of the file gets; may be given several times
    #[arg(long = "tag", value_name = "NAME", value_parser = argument::tag)]
    tags: Vec<String>,
    /// The field for a column with an unknown name, such as "Contact 1=phone_number", or by its place, such as
    /// "#3=phone_number"; may be given several times
    #[arg(long = "map", value_name = "COLUMN=FIELD")]
    mappings: Vec<Mapping>,
    /// The file's encoding when it is not UTF-8, such as windows-1252; with "auto", it is guessed from the whole file
    #[arg(long, value_name = "NAME")]
    encoding: Option<String>,
    /// The country of numbers without a plus sign, such as BR; without it, they are international
    #[arg(long, value_name = "COUNTRY", value_parser = argument::country)]
    country: Option<Country>,
    /// Let a name that looks wrongly decoded replace a good one, "JoÃ£o" in place of "João"
    #[arg(long)]
    replace_names: bool,
}

#[derive(Debug, Args)]
pub(super) struct Export {
    #[command(flatten)]
    of: OfCompany,
    /// The file to write; without it, standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Begin with a byte-order mark, by which spreadsheets know that the file is UTF-8
    #[arg(long)]
    for_spreadsheets: bool,
}

pub(super) async fn import(session: &Session, arguments: Import) -> anyhow::Result<()> {
    let Import { file, of, tags, mappings, encoding, country, replace_names } = arguments;
    let company = session.company(&of.company).await?;
    let options = Options { encoding, mappings, tags, country, replaces_names: replace_names };
    let bar = progress::bar(0, "importing", session.output.json);
    let (store, who) = (&session.app.store, session.who());
    let imported = import::contacts(store, &who, company.id, &file, &options, |so_far| {
        bar.set_length(so_far.bytes_total);
        bar.set_position(so_far.bytes_read);
    });
    let summary = imported.await.map_err(failure)?;
    bar.finish_and_clear();
    session.output.record(&summary, &told(&summary))
}

pub(super) async fn export(
    session: &Session,
    Export { of, output, for_spreadsheets }: Export,
) -> anyhow::Result<()> {
    let mark = if for_spreadsheets { BYTE_ORDER_MARK } else { "" };
    let company = session.company(&of.company).await?;
    let store = &session.app.store;
    let Some(path) = output else {
        if session.output.json {
            let sentence =
                "an export is CSV; to get its figures as JSON, write it to a file with --output FILE";
            return Err(Misused(sentence.to_owned()).into());
        }
        let mut stream = session.output.stream();
        stream.write_all(mark.as_bytes()).map_err(Unwritten)?;
        let exported = import::export(store, company.id, stream, |_| {}).await;
        return match exported {
            Ok(count) => {
                Ok(store.changes().add_export(&session.who(), company.id, Exported::Contacts(count)).await?)
            }
            Err(import::Error::Write { source, .. }) => Err(Unwritten(source).into()),
            Err(other) => Err(other.into()),
        };
    };
    let shown = path.display();
    let file = files::create_new(&path)
        .with_context(|| format!("cannot create {shown}; choose a file that does not exist yet"))?;
    let mut file = BufWriter::new(file);
    file.write_all(mark.as_bytes()).with_context(|| format!("cannot write {shown}"))?;
    let count = import::export(store, company.id, file, |_| {}).await?;
    store.changes().add_export(&session.who(), company.id, Exported::Contacts(count)).await?;
    session.output.record(
        &json!({ "contacts": count, "file": path }),
        &format!("wrote {} to {shown}", counted(count, "contact", "contacts")),
    )
}

/// The caller has to correct errors of the file or of the arguments about it.
pub(super) fn failure(error: import::Error) -> anyhow::Error {
    use import::Error::{
        Damaged, Empty, Encoding, EndlessLine, Header, Mapping, Miscounted, Misplaced, NoKnownColumn,
        NoSuchColumn, NoSuchCountry, NoSuchField, NotCsv, NotEncoded, NotText, Read, Stopped, Store,
        TooManyColumns, TooManyMappings, TooManyTags, UnknownEncoding, Unread, Write,
    };
    match error {
        UnknownEncoding(_)
        | Encoding { .. }
        | NotEncoded { .. }
        | NotText { .. }
        | NotCsv(_)
        | NoSuchCountry(_)
        | EndlessLine { .. }
        | Empty
        | Header { .. }
        | TooManyColumns { .. }
        | TooManyMappings { .. }
        | TooManyTags { .. }
        | NoSuchField { .. }
        | NoKnownColumn { .. }
        | Mapping(_)
        | NoSuchColumn { .. } => Misused(error.to_string()).into(),
        Read { .. }
        | Write { .. }
        | Unread(_)
        | Damaged(_)
        | Store(_)
        | Stopped
        | Misplaced { .. }
        | Miscounted { .. } => error.into(),
    }
}

fn told(summary: &Summary) -> String {
    let Summary { counts, rejects_file, ignored_columns } = summary;
    let Counts {
        created,
        updated,
        unchanged,
        rejected,
        rejected_kept: _,
        without_number,
        names_kept,
        emails_left_out,
    } = *counts;
    let mut told =
        format!("{created} created, {updated} updated, {unchanged} unchanged, {rejected} rejected");
    if without_number > 0 {
        told.push_str(&format!(
            "\n{} no valid phone number and will get no messages",
            counted(without_number, "of them has", "of them have")
        ));
    }
    if names_kept > 0 {
        told.push_str(&format!(
            "\n{} wrongly decoded, so that contacts kept theirs: say the file's encoding with --encoding, or take the \
             file's names with --replace-names",
            counted(names_kept, "name looks", "names look")
        ));
    }
    if emails_left_out > 0 {
        told.push_str(&format!(
            "\n{}, so that the contacts were imported without",
            counted(emails_left_out, "e-mail address is none", "e-mail addresses are none")
        ));
    }
    if let Some(path) = rejects_file {
        told.push_str(&format!("\nthe rejected rows, each with its reason, are in {}", path.display()));
    }
    if !ignored_columns.is_empty() {
        let more = ignored_columns.len().saturating_sub(NAMED_COLUMNS);
        let named = ignored_columns.iter().take(NAMED_COLUMNS).map(|name| format!("`{name}`"));
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        told.push_str(&format!(
            "\n{} not known and ignored: {}{rest}; --map COLUMN=FIELD imports one",
            counted(ignored_columns.len() as u64, "column is", "columns are"),
            named.collect::<Vec<_>>().join(", ")
        ));
    }
    told
}
