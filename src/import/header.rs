//! Finds the field of each column from the header.
//!
//! The known names are Pombo's own, those of Google Contacts (its present export and the older one), those of
//! HubSpot, and the usual names in Portuguese and Spanish; a mapping gives the field of any other column.
//! Names are compared only by their letters and digits, so that `First Name`, `first_name` and `FIRST NAME`
//! are equal, and accents are ignored. Unknown columns are ignored.

use std::collections::{HashMap, HashSet};
use std::str::FromStr;

use super::{Error, Result};
use crate::domain::fold::fold;

/// The most columns of a file: more than any spreadsheet of contacts has. Each row is divided into as many cells, and
/// each page that shows the file has as many lines.
pub const MOST_COLUMNS: usize = 500;
/// The most mappings: one for each column.
pub const MOST_MAPPINGS: usize = MOST_COLUMNS;
/// The longest header, in bytes: it is stored with its import, and lists of imports show it.
const LONGEST_HEADER: usize = 64 * 1024;
/// Columns that a refusal names, and characters of each.
const SHOWN_COLUMNS: usize = 12;
const SHOWN_CHARS: usize = 80;

/// The fields that a mapping can name.
pub(super) const FIELDS: &str =
    "first_name, last_name, name, email, phone_number, phone_number_lid, profile_picture, tags, ignored";

/// The field of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Field {
    /// First name.
    FirstName,
    /// Middle name; shown after the first.
    MiddleName,
    /// Last name.
    LastName,
    /// The whole name, used when its parts are empty.
    Name,
    /// An organisation's name, used when there is no other.
    Organization,
    /// E-mail address; the first usable one counts.
    Email,
    /// Phone number; the first valid one counts.
    PhoneNumber,
    /// WhatsApp's own id of the person.
    PhoneNumberLid,
    /// URL of a picture.
    ProfilePicture,
    /// Names of tags, separated by `;` or ` ::: `.
    Tags,
    /// The column is not imported, whatever its name is.
    Ignored,
}

impl Field {
    /// The fields that a mapping can name.
    pub const ALL: [Self; 9] = [
        Self::FirstName,
        Self::LastName,
        Self::Name,
        Self::Email,
        Self::PhoneNumber,
        Self::PhoneNumberLid,
        Self::ProfilePicture,
        Self::Tags,
        Self::Ignored,
    ];

    /// The word for the field. A field that a mapping cannot name has the word of the field that it becomes a
    /// part of.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FirstName | Self::MiddleName => "first_name",
            Self::LastName => "last_name",
            Self::Name | Self::Organization => "name",
            Self::Email => "email",
            Self::PhoneNumber => "phone_number",
            Self::PhoneNumberLid => "phone_number_lid",
            Self::ProfilePicture => "profile_picture",
            Self::Tags => "tags",
            Self::Ignored => "ignored",
        }
    }

    /// The field of this word.
    pub fn parse(word: &str) -> Option<Self> {
        let word = plain(word);
        Self::ALL.into_iter().find(|field| plain(field.as_str()) == word)
    }
}

/// `column=field`: the column of this name has this field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// The column's name in the header.
    pub column: String,
    /// The field of the column.
    pub field: Field,
}

impl FromStr for Mapping {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts = text.rsplit_once('=').filter(|(column, _)| !column.trim().is_empty());
        let (column, field) = parts.ok_or_else(|| Error::Mapping(text.to_owned()))?;
        let field = Field::parse(field).ok_or_else(|| Error::Mapping(text.to_owned()))?;
        Ok(Self { column: column.trim().to_owned(), field })
    }
}

/// A parsed header.
#[derive(Debug)]
pub(super) struct Layout {
    /// The original header, for the file of rejected rows.
    pub(super) header: Vec<String>,
    /// Columns with a field, in the order in which they are read.
    columns: Vec<(Field, usize)>,
    /// The field of each column.
    fields: Vec<Option<Field>>,
}

/// A column with a field, and its rank among the columns of the same field.
struct Ranked {
    field: Field,
    rank: u32,
    index: usize,
}

/// The columns of a header by their names; of equal names, the first.
struct Names<'a> {
    exact: HashMap<&'a str, usize>,
    plain: HashMap<String, usize>,
}

impl<'a> Names<'a> {
    fn of(header: &'a [String]) -> Self {
        let (mut exact, mut by_letters) = (HashMap::new(), HashMap::new());
        for (index, name) in header.iter().enumerate() {
            exact.entry(name.trim()).or_insert(index);
            by_letters.entry(plain(name)).or_insert(index);
        }
        // A name without letters and digits is like no other.
        by_letters.remove("");
        Self { exact, plain: by_letters }
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.exact.get(name).or_else(|| self.plain.get(&plain(name))).copied()
    }
}

/// Checks the length of a header, before it is divided into names.
pub(super) fn check_length(header: &[u8], line: u64) -> Result<()> {
    if header.len() > LONGEST_HEADER {
        let fault = format!("it is longer than {} KiB", LONGEST_HEADER / 1024);
        return Err(Error::Header { line, fault });
    }
    Ok(())
}

impl Layout {
    /// Parses the header on `line`.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyColumns`], [`Error::TooManyMappings`], [`Error::NoSuchColumn`] for a mapping of a column that
    /// does not exist, [`Error::NoKnownColumn`] when no column holds a number or an address.
    pub(super) fn new(header: Vec<String>, line: u64, mappings: &[Mapping]) -> Result<Self> {
        let layout = Self::lenient(header, line, mappings)?;
        layout.check(line)?;
        Ok(layout)
    }

    /// Like [`Layout::new`], whether or not a column holds a number or an address.
    pub(super) fn lenient(header: Vec<String>, line: u64, mappings: &[Mapping]) -> Result<Self> {
        if header.len() > MOST_COLUMNS {
            return Err(Error::TooManyColumns { line, found: header.len() });
        }
        check_mappings(mappings.len())?;
        let names = Names::of(&header);
        let mut ranked = Vec::new();
        for Mapping { column, field } in mappings {
            let Some(index) = names.find(column) else {
                return Err(Error::NoSuchColumn { line, column: column.clone(), found: found(&header) });
            };
            ranked.push(Ranked { field: *field, rank: 0, index });
        }
        let mapped: HashSet<usize> = ranked.iter().map(|column| column.index).collect();
        let given: HashSet<Field> = mappings.iter().map(|mapping| mapping.field).collect();
        for (index, name) in header.iter().enumerate() {
            if let Some((field, rank)) = known(&fold(&plain(name)))
                && !mapped.contains(&index)
                && !given.contains(&field)
            {
                ranked.push(Ranked { field, rank, index });
            }
        }
        // If there is a column of last names, a column "Name" or "Nome" has the first names.
        let has = |field: Field| ranked.iter().any(|column| column.field == field);
        if has(Field::LastName) && !has(Field::FirstName) {
            let named: HashSet<String> = mappings.iter().map(|mapping| plain(&mapping.column)).collect();
            let is_whole = |column: &&mut Ranked| {
                column.field == Field::Name && !named.contains(&plain(&header[column.index]))
            };
            ranked.iter_mut().filter(is_whole).for_each(|column| column.field = Field::FirstName);
        }
        ranked.sort_by_key(|column| column.rank);
        let mut fields = vec![None; header.len()];
        for Ranked { field, index, .. } in ranked.iter().rev() {
            fields[*index] = Some(*field);
        }
        let columns = ranked.into_iter().map(|column| (column.field, column.index)).collect();
        Ok(Self { header, columns, fields })
    }

    /// Checks that a column has phone numbers or e-mail addresses, which identify contacts.
    pub(super) fn check(&self, line: u64) -> Result<()> {
        if self.columns.iter().any(|(field, _)| matches!(field, Field::Email | Field::PhoneNumber)) {
            return Ok(());
        }
        Err(Error::NoKnownColumn { line, found: found(&self.header) })
    }

    /// The field of a column.
    pub(super) fn field(&self, index: usize) -> Option<Field> {
        self.fields.get(index).copied().flatten()
    }

    /// The columns with `field`, the preferred one first.
    pub(super) fn columns(&self, field: Field) -> impl Iterator<Item = usize> {
        self.columns.iter().filter(move |(held, _)| *held == field).map(|(_, index)| *index)
    }
}

/// Checks the number of mappings.
pub(super) const fn check_mappings(found: usize) -> Result<()> {
    if found > MOST_MAPPINGS { Err(Error::TooManyMappings { found }) } else { Ok(()) }
}

/// The header's first columns, as a refusal shows them.
fn found(header: &[String]) -> String {
    let shown = |name: &String| name.trim().chars().take(SHOWN_CHARS).collect::<String>();
    header.iter().take(SHOWN_COLUMNS).map(shown).collect::<Vec<_>>().join(", ")
}

/// The field of a column with this plain name, and its rank among the columns of the same field: for HubSpot, the
/// number for WhatsApp comes first and then the mobile one; for Google, columns with small numbers come first.
fn known(name: &str) -> Option<(Field, u32)> {
    let numbered = |what: &str| name.strip_prefix(what)?.strip_suffix("value")?.parse::<u32>().ok();
    let field = match name {
        "firstname" | "givenname" | "primeironome" | "primernombre" | "nombredepila" => Field::FirstName,
        "middlename" | "additionalname" | "nomedomeio" | "segundonombre" => Field::MiddleName,
        "lastname" | "familyname" | "surname" | "sobrenome" | "ultimonome" | "apellido" | "apellidos" => {
            Field::LastName
        }
        "name" | "fullname" | "nome" | "nomecompleto" | "nombre" | "nombrecompleto" => Field::Name,
        "organizationname" | "organization1name" => Field::Organization,
        "email" | "emailaddress" | "mail" | "enderecodeemail" | "correo" | "correoelectronico" => {
            Field::Email
        }
        "phonenumber" | "phone" | "telefone" | "fone" | "numerodetelefone" | "telefono"
        | "numerodetelefono" => {
            return Some((Field::PhoneNumber, 2));
        }
        "mobilephonenumber" | "mobilephone" | "mobile" | "celular" | "telefonecelular"
        | "telefonocelular" | "movil" | "telefonomovil" => return Some((Field::PhoneNumber, 1)),
        "whatsappphonenumber" | "whatsapp" => Field::PhoneNumber,
        "phonenumberlid" => Field::PhoneNumberLid,
        "profilepicture" | "photo" => Field::ProfilePicture,
        "tags" | "labels" | "groupmembership" | "etiquetas" | "marcadores" => Field::Tags,
        _ => {
            let phone = numbered("phone").map(|number| (Field::PhoneNumber, number.saturating_add(2)));
            return phone.or_else(|| Some((Field::Email, numbered("email")?)));
        }
    };
    Some((field, 0))
}

/// The letters and digits of `name`, in lower case.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(header: &str, mappings: &[&str]) -> Result<Layout> {
        let mappings: Vec<Mapping> = mappings.iter().map(|mapping| mapping.parse().unwrap()).collect();
        Layout::new(header.split(',').map(str::to_owned).collect(), 1, &mappings)
    }

    fn columns(header: &str, mappings: &[&str], field: Field) -> Vec<usize> {
        layout(header, mappings).unwrap().columns(field).collect()
    }

    #[test]
    fn names_are_compared_by_letters_and_digits() {
        for header in ["phone_number", "Phone Number", " PHONENUMBER ", "phone-number"] {
            assert_eq!(columns(header, &[], Field::PhoneNumber), [0], "{header}");
        }
    }

    #[test]
    fn of_several_number_columns_the_likeliest_comes_first() {
        let hubspot = "Record ID,Phone Number,Mobile Phone Number,WhatsApp Phone Number,Email";
        assert_eq!(columns(hubspot, &[], Field::PhoneNumber), [3, 2, 1]);
        let google = "Phone 10 - Value,Phone 2 - Value,Phone 2 - Label,Phone 1 - Value";
        assert_eq!(columns(google, &[], Field::PhoneNumber), [3, 1, 0]);
    }

    #[test]
    fn a_mapping_overrules_what_a_name_says() {
        let header = "Quem,Ramal,Email,phone_number";
        let mappings = ["Quem=name", "ramal = phone_number"];
        assert_eq!(columns(header, &mappings, Field::PhoneNumber), [1]);
        assert_eq!(columns(header, &mappings, Field::Name), [0]);
        assert_eq!(columns(header, &mappings, Field::Email), [2]);
        assert!(columns("a,Email,b", &["a=email", "Email=name"], Field::Email) == [0]);
    }

    #[test]
    fn an_invalid_mapping_is_refused() {
        assert!(matches!("Telefone".parse::<Mapping>(), Err(Error::Mapping(_))));
        assert!(matches!("=email".parse::<Mapping>(), Err(Error::Mapping(_))));
        let error = "Telefone=fax".parse::<Mapping>().unwrap_err().to_string();
        assert!(error.contains("\"Telefone=fax\"") && error.contains("phone_number_lid"), "{error}");
        let error = layout("a,email", &["Fax=phone_number"]).unwrap_err().to_string();
        assert_eq!(error, "line 1: there is no column \"Fax\" to map (found: a, email)");
    }

    #[test]
    fn a_header_without_number_and_address_is_refused_and_shown() {
        let error = layout("Nome,first_name,Ramal", &[]).unwrap_err().to_string();
        assert!(error.starts_with("line 1: no column is known"), "{error}");
        assert!(error.contains("(found: Nome, first_name, Ramal)"), "{error}");
    }

    #[test]
    fn columns_and_mappings_are_bounded_and_found_by_their_names_at_once() {
        let header = |columns: usize| (0..columns).map(|index| format!("Phone {index} - Value")).collect();
        let mapping = |index| Mapping { column: format!("phone{index}VALUE"), field: Field::Email };
        let mappings = |count| (0..count).map(mapping).collect::<Vec<_>>();
        let layout = Layout::new(header(MOST_COLUMNS), 1, &mappings(MOST_MAPPINGS)).unwrap();
        assert_eq!(layout.columns(Field::Email).count(), MOST_COLUMNS);
        assert_eq!(layout.field(MOST_COLUMNS - 1), Some(Field::Email));
        let error = Layout::lenient(header(130_000), 1, &mappings(60)).unwrap_err();
        assert!(matches!(error, Error::TooManyColumns { found: 130_000, .. }), "{error}");
        let error = Layout::lenient(header(1), 1, &mappings(MOST_MAPPINGS + 1)).unwrap_err();
        assert!(matches!(error, Error::TooManyMappings { .. }), "{error}");
        assert!(check_length(&vec![b'x'; LONGEST_HEADER], 1).is_ok());
        assert!(check_length(&vec![b'x'; LONGEST_HEADER + 1], 1).is_err());
    }

    #[test]
    fn files_in_portuguese_and_spanish_are_understood() {
        for header in
            ["Nome,Telefone,E-mail,Etiquetas", "Nombre completo,Teléfono,Correo electrónico,Etiquetas"]
        {
            let found = [Field::Name, Field::PhoneNumber, Field::Email, Field::Tags];
            assert_eq!(found.map(|field| columns(header, &[], field)), [[0], [1], [2], [3]], "{header}");
        }
        assert_eq!(columns("Telefone,Celular,WhatsApp", &[], Field::PhoneNumber), [2, 1, 0]);
        assert_eq!(columns("Teléfono,Móvil", &[], Field::PhoneNumber), [1, 0]);
    }

    #[test]
    fn a_name_beside_a_last_name_is_the_first_name() {
        for header in ["Nome,Sobrenome,Telefone", "Nombre,Apellidos,Móvil", "Name,Surname,Phone"] {
            let found = [Field::FirstName, Field::LastName].map(|field| columns(header, &[], field));
            assert_eq!(found, [[0], [1]], "{header}");
            assert!(columns(header, &[], Field::Name).is_empty(), "{header}");
        }
        // A person's mapping stays.
        assert_eq!(columns("Nome,Sobrenome,Telefone", &["Nome=name"], Field::Name), [0]);
        assert_eq!(columns("name,first_name,last_name,phone", &[], Field::Name), [0]);
    }
}
