//! The names of columns that are known: Pombo's own, those of Google Contacts (its present export and the older one), of
//! HubSpot and of Outlook, and the usual names in English, Portuguese and Spanish.

use super::{Field, plain};
use domain::fold::fold;

/// The rank of a column that is not known and was mapped in an earlier file: behind numbers that are surely of mobile
/// phones, and before others.
pub(super) const RECALLED: u32 = 2;
/// The ranks of numbers: WhatsApp's own first, then a mobile phone's, then those that do not say what they are.
pub(super) const WHATSAPP: u32 = 0;
pub(super) const MOBILE: u32 = 1;
pub(super) const ANY: u32 = 3;
/// The ranks of numbers that are less likely to be a person's WhatsApp. Columns of Google with numbers in their names have
/// the ranks between.
const MAIN: u32 = 1_000_000;
pub(super) const HOME: u32 = MAIN + 1;
pub(super) const WORK: u32 = MAIN + 2;
pub(super) const OTHER: u32 = MAIN + 3;

/// What is known of a column by its name.
pub(super) struct Known {
    pub(super) field: Field,
    /// Its place among the columns of the same field.
    pub(super) rank: u32,
    /// Whether Google names its own groups there.
    pub(super) is_google_group: bool,
}

/// What is known of a column with this name. What stands in parentheses behind a name only explains it.
pub(super) fn known(name: &str) -> Option<Known> {
    let (field, rank) = by_letters(&fold(&plain(name))).or_else(|| {
        let (front, _) = name.split_once(['(', '['])?;
        by_letters(&fold(&plain(front)))
    })?;
    let is_google_group = matches!(plain(name).as_str(), "labels" | "groupmembership");
    Some(Known { field, rank, is_google_group })
}

/// The field of a column with these letters and digits, and its rank.
fn by_letters(name: &str) -> Option<(Field, u32)> {
    let numbered = |front: &str, back: &str| {
        let number = name.strip_prefix(front)?.strip_suffix(back)?.parse::<u32>().ok();
        number.map(|number| number.min(MAIN - ANY))
    };
    let field = match name {
        "firstname" | "givenname" | "primeironome" | "primernombre" | "nombredepila" => Field::FirstName,
        "middlename" | "additionalname" | "nomedomeio" | "segundonome" | "segundonombre" => Field::MiddleName,
        "lastname" | "familyname" | "surname" | "sobrenome" | "ultimonome" | "apellido" | "apellidos" => {
            Field::LastName
        }
        "name" | "fullname" | "nome" | "nomecompleto" | "nombre" | "nombrecompleto" => Field::Name,
        "organizationname" | "organization1name" | "organization" | "company" | "empresa" | "compania"
        | "organizacao" | "organizacion" => Field::Organization,
        "email"
        | "emailaddress"
        | "mail"
        | "enderecodeemail"
        | "correo"
        | "correoelectronico"
        | "direcciondecorreoelectronico"
        | "direcciondecorreo" => Field::Email,
        "phonenumber" | "phone" | "tel" | "telefone" | "fone" | "numerodetelefone" | "telefono"
        | "numerodetelefono" => return Some((Field::PhoneNumber, ANY)),
        "mobilephonenumber" | "mobilephone" | "mobile" | "mobilenumber" | "cell" | "cel" | "celular"
        | "numerodecelular" | "numerodocelular" | "telefonecelular" | "telefonemovel" | "telefonocelular"
        | "movil" | "telefonomovil" | "telemovel" | "cellphone" => {
            return Some((Field::PhoneNumber, MOBILE));
        }
        "whatsappphonenumber"
        | "whatsapp"
        | "whatsappnumber"
        | "numerodowhatsapp"
        | "numerodewhatsapp"
        | "numerowhatsapp"
        | "celularwhatsapp"
        | "telefonewhatsapp"
        | "telefonowhatsapp"
        | "wpp"
        | "zap" => {
            return Some((Field::PhoneNumber, WHATSAPP));
        }
        "primaryphone" | "telefoneprincipal" | "telefonoprincipal" => {
            return Some((Field::PhoneNumber, MAIN));
        }
        "homephone"
        | "homephone2"
        | "telefoneresidencial"
        | "telefoneresidencial2"
        | "telefonoparticular"
        | "telefonoparticular2" => return Some((Field::PhoneNumber, HOME)),
        "businessphone"
        | "businessphone2"
        | "workphone"
        | "telefonecomercial"
        | "telefonecomercial2"
        | "telefonodeltrabajo"
        | "telefonodeltrabajo2" => return Some((Field::PhoneNumber, WORK)),
        "otherphone" | "carphone" | "outrotelefone" | "otrotelefono" => {
            return Some((Field::PhoneNumber, OTHER));
        }
        "phonenumberlid" => Field::PhoneNumberLid,
        "profilepicture" | "photo" => Field::ProfilePicture,
        "tags" | "labels" | "groupmembership" | "etiquetas" | "marcadores" | "categories" | "categorias" => {
            Field::Tags
        }
        _ => {
            let phone = numbered("phone", "value").map(|number| (Field::PhoneNumber, number + ANY));
            let email = || numbered("email", "value").or_else(|| numbered("email", "address"));
            return phone.or_else(|| Some((Field::Email, email()?)));
        }
    };
    Some((field, 0))
}
