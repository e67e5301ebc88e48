//! Files of the company's library: their kinds and sizes in words, and the field that offers them beside a link.

use maud::{Markup, html};
use uuid::Uuid;

use super::field::Field;
use crate::console::form::Form;
use crate::console::text::Text;
use crate::console::visitor::Person;
use crate::domain::link::{file_id, file_link};
use crate::domain::media::Kind;
use crate::domain::page::PageRequest;
use crate::engine::records::media::LibraryFile;
use crate::engine::{self, Engine};

/// The files that a field offers: the newest ones. The page of the library leads to all others.
const OFFERED: u64 = 100;
/// The end of the name of the field that chooses a file, after the name of the field for a link.
const FILE: &str = "_file";

/// Files of the library, to choose from.
#[derive(Debug, Clone, Default)]
pub(crate) struct OfferedFiles {
    files: Vec<LibraryFile>,
    /// Whether a provider can fetch them.
    is_reachable: bool,
    /// Whether the person may not open the library's page.
    is_closed: bool,
}

impl OfferedFiles {
    /// The newest files of a company.
    pub(crate) async fn read(engine: &Engine, company: Uuid) -> Result<Self, engine::Error> {
        let (library, page) = (engine.media(), PageRequest { page: 1, limit: OFFERED });
        let files = library.page(company, None, page).await?.records;
        Ok(Self { files, is_reachable: library.is_reachable(), is_closed: false })
    }

    /// The same for this person: agents choose files, and do not see the library's page.
    pub(crate) fn seen_by(mut self, person: &Person) -> Self {
        self.is_closed = person.is_agent();
        self
    }

    /// The field of this name and label for a link, and the files of this kind that can take its place; `is_web` for a message
    /// of a linked phone.
    pub(crate) fn field(&self, form: &Form, (name, label): (&str, &str), kind: &str, is_web: bool) -> Markup {
        let (text, given) = (form.text(), form.value(name));
        // The link of a file that is not offered stays as it is: an old one, or one that is gone.
        let chosen = file_id(given).filter(|id| self.files.iter().any(|file| file.id == *id));
        let choosing = format!("{name}{FILE}");
        // A link that names a file is shown as the choice that it is.
        let shown = if chosen.is_some() { "" } else { given };
        let mut shown = Form::filled(text, [(name, shown.to_owned())]);
        if let Some(fault) = form.fault_of(name) {
            shown.fault(name, fault);
        }
        let chosen = chosen.map(|id| (choosing.as_str(), file_link(id)));
        let choice = Form::filled(text, chosen);
        let fits = |file: &&LibraryFile| kind.parse::<Kind>().is_ok_and(|kind| kind.takes(file.kind));
        let files = self.files.iter().filter(fits);
        let options =
            files.map(|file| (file_link(file.id), format!("{} ({})", file.name, size(text, file.bytes))));
        let none = (String::new(), text.get("media-no-file"));
        let hint = text.get("compose-link-hint");
        html! {
            (Field::new(&shown, name, label).hint(&hint).input("url"))
            (Field::new(&choice, &choosing, &text.get("media-from-library")).select(std::iter::once(none).chain(options)))
            (self.unreachable(text, is_web))
            @if !self.is_closed {
                p { a href="/console/media" target="_blank" { (text.get("media-open-library")) } }
            }
        }
    }

    /// The field of this name and label that chooses any of the files, by its id. A file that is not offered stays chosen.
    /// `is_web` for a message of a linked phone.
    pub(crate) fn any(&self, form: &Form, (name, label): (&str, &str), is_web: bool) -> Markup {
        let (text, given) = (form.text(), form.value(name));
        let files = self.files.iter().map(|file| (file.id.to_string(), file));
        let is_offered = given.is_empty() || files.clone().any(|(id, _)| id == given);
        let described = |file: &LibraryFile| {
            format!("{}: {} ({})", kind(text, file.kind), file.name, size(text, file.bytes))
        };
        let files = files.map(|(id, file)| (id, described(file)));
        let none = (String::new(), text.get("media-no-file"));
        let other = (!is_offered).then(|| (given.to_owned(), text.get("replies-other-file")));
        html! {
            (Field::new(form, name, label).select(std::iter::once(none).chain(other).chain(files)))
            (self.unreachable(text, is_web))
        }
    }

    /// The reason why no provider can fetch a file.
    fn unreachable(&self, text: Text, is_web: bool) -> Markup {
        html! { @if !self.is_reachable && !is_web { p.hint { (text.get("media-unreachable")) } } }
    }
}

/// Puts the chosen files of a form in the place of the links.
pub(crate) fn take_chosen(form: &mut Form) {
    let chosen = form.words().iter().filter_map(|(name, value)| {
        let name = name.strip_suffix(FILE)?;
        file_id(value).map(|id| (name.to_owned(), file_link(id)))
    });
    for (name, link) in chosen.collect::<Vec<_>>() {
        form.put(&name, link);
    }
}

/// The kind of message that a file is sent as.
pub(crate) fn kind(text: Text, kind: Kind) -> String {
    text.get(match kind {
        Kind::Image => "send-kind-image",
        Kind::Video => "send-kind-video",
        Kind::Audio => "send-kind-audio",
        Kind::Document => "send-kind-document",
        Kind::Sticker => "send-kind-sticker",
    })
}

/// A number of bytes.
pub(crate) fn size(text: Text, bytes: u64) -> String {
    let (unit, size) = match bytes {
        0..1_000_000 => ("media-kilobytes", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => ("media-megabytes", bytes as f64 / 1e6),
        _ => ("media-gigabytes", bytes as f64 / 1e9),
    };
    text.with(unit, [("size", text.0.decimal(size, 1).into())])
}
