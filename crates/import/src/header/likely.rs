//! Columns whose names are no known ones, and say what they hold all the same: `Celular / WhatsApp`, `Nº do telefone`, `Cliente`.
//! What is only likely is asked last: an own field of the company that is called so comes before.

use super::known::{ANY, HOME, Known, MOBILE, OTHER, WHATSAPP, WORK, known};
use super::{Field, plain};
use domain::fold::fold;

/// The words for a phone in the name of a column, and what they say of its number.
const PHONES: [(&str, u32); 3] = [
    ("whatsapp whatsap watsapp whats wpp zap", WHATSAPP),
    ("celular celulares cel movil moviles movel mobile cell cellphone telemovel", MOBILE),
    ("telefone telefones fone telefono telefonos fono phone phones telephone tel telf tlf tlfno tfno", ANY),
];
/// The words for a phone that is less likely to be a person's own.
const PLACES: [(&str, u32); 3] = [
    ("residencial casa home particular fixo fijo landline", HOME),
    ("comercial trabalho trabajo oficina empresa work business office", WORK),
    ("outro otro other alternativo recado recados secundario shipping entrega", OTHER),
];
/// The words that stand beside these and change nothing.
const BESIDE: &str = "numero numeros num nro nr number no n de do da del la el of e y ou o or and cliente clientes customer \
                      client contato contacto contact principal main primary pessoal personal default address billing \
                      1 2 3 4 5 01 02 03";
/// The names of columns of a number that may be that of a house, or of the row.
const NUMBERS: &str = "numero numeros number nro num no n nr";
/// Those that count rows in many files.
const SHORT: &str = "no n nr";
/// The names of columns of a number or of a person.
const CONTACTS: &str = "contato contatos contacto contactos contact";
/// The words in the names of columns of addresses, beside which a number is that of a house.
const ADDRESSES: &str = "rua endereco logradouro bairro cep complemento calle direccion domicilio colonia cp postal street \
                         address zip zipcode postcode";

/// What a column with this name likely holds.
pub(super) fn likely(name: &str) -> Option<Known> {
    let field = match fold(&plain(name)).as_str() {
        "cliente" | "nomedocliente" | "nomecliente" | "nomedocontato" | "nomeesobrenome"
        | "nombredelcliente" | "nombrecliente" | "nombredelcontacto" | "nombres" | "nombreyapellido"
        | "nombreyapellidos" | "customer" | "customername" | "client" | "clientname" | "contactname" => {
            Field::Name
        }
        "apellidopaterno" | "primerapellido" => Field::LastName,
        "emails" | "email1" | "emailprincipal" | "emailpersonal" | "emailpessoal" | "emaildocliente"
        | "emailcliente" | "emaildecontato" | "correodelcliente" | "correocliente" | "correodecontacto"
        | "customeremail" | "contactemail" | "billingemail" => Field::Email,
        "tag" | "etiqueta" => Field::Tags,
        _ => {
            let front = || name.split_once(['(', '[']).and_then(|(front, _)| phone(front));
            let rank = phone(name).or_else(front)?;
            return Some(Known { field: Field::PhoneNumber, rank, is_google_group: false });
        }
    };
    Some(Known { field, rank: 1, is_google_group: false })
}

/// The column of a header without a column of phone numbers that may be one, although its name says only "number" or "contact".
pub(super) fn perhaps_phone(header: &[String]) -> Option<usize> {
    let has = |field: Field| {
        let found = |name: &String| known(name).or_else(|| likely(name));
        header.iter().any(|name| found(name).is_some_and(|found| found.field == field))
    };
    let is_address = |name: &String| words(name).iter().any(|word| is_in(ADDRESSES, word));
    let has_address = header.iter().any(|name| known(name).is_none() && is_address(name));
    let (has_email, has_name) = (has(Field::Email), has(Field::Name) || has(Field::FirstName));
    header.iter().position(|name| {
        let name = fold(&plain(name));
        let is_number = is_in(NUMBERS, &name) && !has_address && !(has_email && is_in(SHORT, &name));
        is_number || is_in(CONTACTS, &name) && has_name
    })
}

/// How likely a column of this name holds people's numbers of WhatsApp, if all its words are about a phone.
fn phone(name: &str) -> Option<u32> {
    let words = words(name);
    let (mut phones, mut places) = (Vec::new(), Vec::new());
    for word in &words {
        if let Some(rank) = rank(PHONES, word) {
            phones.push(rank);
        } else if let Some(rank) = rank(PLACES, word) {
            places.push(rank);
        } else if !is_in(BESIDE, word) && !is_area_code(&words, word) {
            return None;
        }
    }
    let rank = phones.into_iter().min()?;
    Some(if rank == ANY { places.into_iter().max().unwrap_or(ANY) } else { rank })
}

/// Whether a word only says that the numbers have their area codes: a column may have these alone.
fn is_area_code(words: &[String], word: &str) -> bool {
    let has = |known: &str| words.iter().any(|word| word == known);
    ["com", "ddd"].contains(&word) && has("com") && has("ddd")
}

fn rank(of: [(&str, u32); 3], word: &str) -> Option<u32> {
    of.into_iter().find(|(words, _)| is_in(words, word)).map(|(_, rank)| rank)
}

fn is_in(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

/// The words of a name, without case and accents.
fn words(name: &str) -> Vec<String> {
    let words = name.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(fold).collect()
}
