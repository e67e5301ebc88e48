//! Importing and exporting files of contacts.

use std::fs;
use std::path::{Path, PathBuf};

use pombo::domain::contact::Contact;
use pombo::domain::page::PageRequest;
use pombo::import::{self, Error, Options, Progress, Summary};
use pombo::store::changes::{Filter, What, Who};
use serde_json::json;
use tempfile::TempDir;
use uuid::Uuid;

use crate::database::{Universe, stores};
use crate::store_contacts::company;

stores! {
    a_google_export_is_imported,
    a_semicolon_file_from_a_spreadsheet_is_imported,
    importing_again_changes_nothing,
    rejected_rows_stand_beside_the_file_with_line_and_reason,
    a_corrected_file_of_rejected_rows_can_be_imported,
    the_file_of_rejected_rows_goes_when_nothing_is_rejected,
    a_wrong_byte_in_the_last_line_leaves_nothing_imported,
    a_file_that_cannot_be_understood_is_explained,
    columns_mappings_and_tags_beyond_their_bounds_are_refused_before_a_row_is_written,
    unknown_columns_can_be_mapped,
    an_interrupted_import_is_finished_by_running_it_again,
    an_export_imports_to_the_same_contacts,
}

/// A file that goes with the test.
struct Input {
    directory: TempDir,
    path: PathBuf,
}

fn input(bytes: impl AsRef<[u8]>) -> Input {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("people.csv");
    fs::write(&path, bytes).unwrap();
    Input { directory, path }
}

/// The person who imports.
fn ana() -> Who {
    Who::CommandLine("ana".to_owned())
}

async fn import(universe: &Universe, company: Uuid, path: &Path) -> Result<Summary, Error> {
    import::contacts(&universe.store, &ana(), company, path, &Options::default(), |_| ()).await
}

async fn all(universe: &Universe, company: Uuid) -> Vec<Contact> {
    universe.store.of(company).contacts().after(None, 10_000).await.unwrap()
}

fn tags(contact: &Contact) -> Vec<&str> {
    contact.tags.iter().map(|tag| tag.name.as_str()).collect()
}

const fn counts(Summary { counts, .. }: &Summary) -> (u64, u64, u64, u64) {
    (counts.created, counts.updated, counts.unchanged, counts.rejected)
}

async fn a_google_export_is_imported(universe: &Universe) {
    let company = company(universe, "acme").await;
    let file = input(
        "\u{FEFF}First Name,Middle Name,Last Name,Notes,Labels,E-mail 1 - Label,E-mail 1 - Value,\
         Phone 1 - Label,Phone 1 - Value\r\n\
         João,,Souza,\"two\r\nlines\",* myContacts ::: Família,,joao@example.com,Mobile,+55 11 98888-7777\r\n\
         Bob,,,,* myContacts,,,Work,+49 30 901820\r\n",
    );
    let summary = import(universe, company, &file.path).await.unwrap();
    assert_eq!((counts(&summary), summary.rejects_file), ((2, 0, 0, 0), None));
    let contacts = all(universe, company).await;
    assert_eq!(contacts[0].person.first_name, "João");
    assert_eq!((tags(&contacts[0]), tags(&contacts[1])), (vec!["Família"], vec![]));
    let found =
        universe.store.of(company).contacts().page(PageRequest { page: 1, limit: 10 }, Some("familia")).await;
    assert_eq!(found.unwrap().total, 1);
}

async fn a_semicolon_file_from_a_spreadsheet_is_imported(universe: &Universe) {
    let company = company(universe, "acme").await;
    let file = input(b"First Name;Phone Number;Email;Tags\r\nJo\xE3o;5511988887777;j@example.com;VIP\r\n");
    let options = Options { encoding: Some("windows-1252".to_owned()), ..Options::default() };
    let summary =
        import::contacts(&universe.store, &ana(), company, &file.path, &options, |_| ()).await.unwrap();
    assert_eq!(counts(&summary), (1, 0, 0, 0));
    let utf16: Vec<u8> = "\u{FEFF}First Name\tPhone Number\r\nZoë\t5511988887777\r\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let summary = import(universe, company, &input(utf16).path).await.unwrap();
    assert_eq!(counts(&summary), (0, 1, 0, 0));
    assert_eq!(all(universe, company).await[0].person.first_name, "Zoë");
}

fn thousands(rows: u64) -> String {
    let mut text = String::from("first_name,email,phone_number,tags\n");
    for row in 0..rows {
        text += &format!("P{row},p{row}@example.com,+55 11 9 {:08},T{}\n", row, row % 3);
    }
    text
}

async fn importing_again_changes_nothing(universe: &Universe) {
    let company = company(universe, "acme").await;
    let file = input(thousands(2_500));
    let mut seen: Vec<Progress> = Vec::new();
    let note = |progress: &Progress| seen.push(*progress);
    let first =
        import::contacts(&universe.store, &ana(), company, &file.path, &Options::default(), note).await;
    assert_eq!(counts(&first.unwrap()), (2_500, 0, 0, 0));
    assert_eq!(seen.iter().map(|progress| progress.rows).collect::<Vec<_>>(), [1_000, 2_000, 2_500]);
    let last = seen.last().unwrap();
    assert_eq!((last.bytes_read, last.counts.created), (last.bytes_total, 2_500));
    let before = all(universe, company).await;
    let again = import(universe, company, &file.path).await.unwrap();
    assert_eq!(counts(&again), (0, 0, 2_500, 0));
    assert_eq!(all(universe, company).await, before);

    // An import is recorded once, with its number of contacts; an import that changes nothing is not
    // recorded.
    let filter = Filter { what: &[What::Contacts], ..Filter::default() };
    let page = PageRequest { page: 1, limit: 10 };
    let recorded = universe.store.changes().page(filter, page).await.unwrap().records;
    let [record] = recorded.as_slice() else { panic!("{recorded:?}") };
    assert_eq!((record.who.as_str(), &record.subject), ("cli:ana", &company.to_string()));
    assert_eq!((&record.before, &record.after), (&None, &json!({ "created": 2_500 })));
}

async fn rejected_rows_stand_beside_the_file_with_line_and_reason(universe: &Universe) {
    let company = company(universe, "acme").await;
    let file = input(
        "first_name,email,phone_number\n\
         Ana,,5511988887777\n\
         \n\
         Bob,,011 98888\n\
         \"Carol,,5511988887778\n\
         Dan,,5511988887779,x\n\
         Eve,,\n\
         5\" Fay,,5511988887770\n\
         Gus,gus@example.com,12\n",
    );
    let summary = import(universe, company, &file.path).await.unwrap();
    assert_eq!((counts(&summary), summary.counts.without_number), ((2, 0, 0, 5), 1));
    let rejects = summary.rejects_file.unwrap();
    assert_eq!(rejects, file.directory.path().join("people.rejects.csv"));
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_path(rejects).unwrap();
    assert_eq!(reader.headers().unwrap(), vec!["line", "reason", "first_name", "email", "phone_number"]);
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    let mut shown: Vec<_> =
        rows.iter().map(|row| (row[0].parse::<u32>().unwrap(), row[1].to_owned())).collect();
    shown.sort();
    let wanted = [
        (
            4,
            "the phone number begins with 0 instead of a country code, and there is no e-mail address to \
             identify the contact",
        ),
        (5, "a quote is opened here and never properly closed"),
        (6, "has 4 fields where the header has 3"),
        (7, "has neither a phone number nor an e-mail address to identify the contact"),
        (
            8,
            "a quote stands inside a field; a field with quotes must be quoted, and each of its quotes doubled",
        ),
    ];
    assert_eq!(shown, wanted.map(|(line, reason)| (line, reason.to_owned())));
    let bob = rows.iter().find(|row| &row[0] == "4").unwrap();
    assert_eq!((&bob[2], &bob[4]), ("Bob", "011 98888"));
    let fay = rows.iter().find(|row| &row[0] == "8").unwrap();
    assert_eq!(&fay[2], "5\" Fay,,5511988887770");
}

async fn a_corrected_file_of_rejected_rows_can_be_imported(universe: &Universe) {
    let company = company(universe, "acme").await;
    let file =
        input("first_name,phone_number,=1+1,a;@SUM(1)\n=Ana;+1,011 98888-7777,,\n'=Bob,012 98888-7777,,\n");
    let rejects = import(universe, company, &file.path).await.unwrap().rejects_file.unwrap();
    let rejected = fs::read_to_string(&rejects).unwrap();
    assert_runs_nothing(&rejected);
    fs::write(&rejects, rejected.replace(",01", ",+55 1")).unwrap();
    let summary = import(universe, company, &rejects).await.unwrap();
    assert_eq!(counts(&summary), (2, 0, 0, 0));
    let mut names: Vec<_> =
        all(universe, company).await.into_iter().map(|contact| contact.person.first_name).collect();
    names.sort();
    assert_eq!(names, ["=Ana;+1", "=Bob"]);
}

async fn the_file_of_rejected_rows_goes_when_nothing_is_rejected(universe: &Universe) {
    let company = company(universe, "acme").await;
    let file = input("first_name,phone_number\nAna,1\n");
    let rejects = import(universe, company, &file.path).await.unwrap().rejects_file.unwrap();
    assert!(rejects.exists());
    fs::write(&file.path, "first_name,phone_number\nAna,5511988887777\n").unwrap();
    assert_eq!(import(universe, company, &file.path).await.unwrap().rejects_file, None);
    assert!(!rejects.exists());
}

async fn a_wrong_byte_in_the_last_line_leaves_nothing_imported(universe: &Universe) {
    let company = company(universe, "acme").await;
    let mut bytes = thousands(3_000).into_bytes();
    bytes.extend(b"Jo\xE3o,,5511988887777,\n");
    let error = import(universe, company, &input(bytes).path).await.unwrap_err();
    assert!(matches!(error, Error::Encoding { line: 3_002, byte: 0xE3, .. }), "{error}");
    assert!(all(universe, company).await.is_empty());
}

async fn a_file_that_cannot_be_understood_is_explained(universe: &Universe) {
    let company = company(universe, "acme").await;
    let error = |bytes: &'static [u8]| async move {
        let file = input(bytes);
        let error = import(universe, company, &file.path).await.unwrap_err();
        assert!(!file.directory.path().join("people.rejects.csv").exists());
        error.to_string()
    };
    assert!(error(b"").await.starts_with("the file is empty"));
    assert!(error(b"\n\n").await.starts_with("the file is empty"));
    assert!(error(b"Nome,Ramal\nAna,1\n").await.contains("found: Nome, Ramal"));
    assert!(error(b"\"email,phone_number\nAna,1\n").await.starts_with("line 1: the header cannot be read"));
    assert!(error(b"e\0m\0a\0i\0l\0\n\0").await.contains("--encoding utf-16le"));
    let missing = Path::new("/nowhere/people.csv");
    let error = import(universe, company, missing).await.unwrap_err().to_string();
    assert!(error.starts_with("cannot read /nowhere/people.csv"), "{error}");
    let error = import(universe, company, &std::env::temp_dir()).await.unwrap_err().to_string();
    assert!(error.ends_with("it is no regular file"), "{error}");
    let options = Options { encoding: Some("klingon".to_owned()), ..Options::default() };
    let error =
        import::contacts(&universe.store, &ana(), company, missing, &options, |_| ()).await.unwrap_err();
    assert!(matches!(error, Error::UnknownEncoding(_)));
}

async fn columns_mappings_and_tags_beyond_their_bounds_are_refused_before_a_row_is_written(
    universe: &Universe,
) {
    let company = company(universe, "acme").await;
    let refused = async |columns: usize, mappings: usize, tags: usize| {
        let file =
            input(format!("phone{}\n5511988887777{}\n", ",".repeat(columns - 1), ",".repeat(columns - 1)));
        let options = Options {
            mappings: vec!["phone=phone_number".parse().unwrap(); mappings],
            tags: (0..tags).map(|index| format!("t{index}")).collect(),
            ..Options::default()
        };
        import::contacts(&universe.store, &ana(), company, &file.path, &options, |_| ()).await.unwrap_err()
    };
    assert!(matches!(refused(501, 0, 0).await, Error::TooManyColumns { line: 1, found: 501 }));
    assert!(matches!(refused(500, 501, 0).await, Error::TooManyMappings { found: 501 }));
    assert!(matches!(refused(500, 500, 101).await, Error::TooManyTags { found: 101 }));
    assert!(all(universe, company).await.is_empty());
}

async fn unknown_columns_can_be_mapped(universe: &Universe) {
    let company = company(universe, "acme").await;
    let file = input("Quem;Ramal;Grupo\nAna Souza;+55 11 98888-7777;VIP\n");
    let mappings = ["Quem=name", "ramal=phone_number", "Grupo=tags"].map(|text| text.parse().unwrap());
    let options = Options { mappings: mappings.to_vec(), ..Options::default() };
    import::contacts(&universe.store, &ana(), company, &file.path, &options, |_| ()).await.unwrap();
    let contacts = all(universe, company).await;
    assert_eq!((contacts[0].person.first_name.as_str(), tags(&contacts[0])), ("Ana Souza", vec!["VIP"]));
}

async fn an_interrupted_import_is_finished_by_running_it_again(universe: &Universe) {
    let company = company(universe, "acme").await;
    let file = input(thousands(5_000));
    let (interrupt, interrupted) = tokio::sync::oneshot::channel();
    let mut interrupt = Some(interrupt);
    let options = Options::default();
    let who = ana();
    let running = import::contacts(&universe.store, &who, company, &file.path, &options, |progress| {
        if progress.rows >= 2_000
            && let Some(interrupt) = interrupt.take()
        {
            interrupt.send(()).unwrap();
        }
    });
    tokio::select! {
        biased;
        _ = interrupted => {}
        summary = running => panic!("finished before it was interrupted: {summary:?}"),
    }
    let left = all(universe, company).await.len() as u64;
    assert!((2_000..5_000).contains(&left), "{left}");
    let summary = import(universe, company, &file.path).await.unwrap();
    assert_eq!(summary.counts.created + summary.counts.unchanged, 5_000);
    assert_eq!(all(universe, company).await.len(), 5_000);
}

async fn an_export_imports_to_the_same_contacts(universe: &Universe) {
    let (acme, copy) = (company(universe, "acme").await, company(universe, "copy").await);
    let file = input(
        "first_name,last_name,email,phone_number,phone_number_lid,profile_picture,tags\n\
         João,\"O'Neil \"\"Jo\"\"\",joao@example.com,+55 (11) 98888-7777,9@lid,https://example.com/j.png,VIP;Ação\n\
         \"=HYPERLINK(\"\"http://x\"\")\",-Bob,,4930901820,,,'=t;@x\n\
         \"two\nlines\",\"a,b;c\",,5511988887778,,,\n\
         '@ann,,ann@example.com,n/a,,,=a\n\
         Eva;=1+1,\"a, -1|@b\",,+5511988887779,＝1,,\"x,=y\"\n",
    );
    assert_eq!(counts(&import(universe, acme, &file.path).await.unwrap()), (5, 0, 0, 0));
    let mut exported = Vec::new();
    let mut told = 0;
    assert_eq!(import::export(&universe.store, acme, &mut exported, |count| told = count).await.unwrap(), 5);
    assert_eq!(told, 5);
    let text = String::from_utf8(exported.clone()).unwrap();
    assert!(text.contains("\"'=HYPERLINK(\"\"http://x\"\")\",'-Bob"), "{text}");
    assert_runs_nothing(&text);
    assert_eq!(counts(&import(universe, copy, &input(&exported).path).await.unwrap()), (5, 0, 0, 0));
    let (original, copied) = (all(universe, acme).await, all(universe, copy).await);
    for (original, copied) in original.iter().zip(&copied) {
        assert_eq!((&original.person, tags(original)), (&copied.person, tags(copied)));
    }
    assert_eq!(original.len(), copied.len());
    let again = import(universe, acme, &input(&exported).path).await.unwrap();
    assert_eq!(counts(&again), (0, 0, 5, 0));
}

/// No cell is a formula, for any separator that a spreadsheet may assume.
fn assert_runs_nothing(text: &str) {
    for cell in text.split([',', ';', '\t', '|', '\n', '\r']) {
        let begins = cell.trim_start_matches(['"', ' ']);
        assert!(!begins.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠', '−']), "{cell:?} in {text}");
    }
}
