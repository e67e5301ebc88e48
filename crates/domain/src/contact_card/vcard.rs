//! Cards as vCards of version 3.0 ([RFC 2426](https://www.rfc-editor.org/rfc/rfc2426)), with the parameter `waid` by which
//! WhatsApp's apps know a number.

use super::{CardAddress, CardEmail, CardName, CardOrganization, CardPhone, CardUrl, ContactCard};

impl ContactCard {
    /// The card as a vCard. Lines end as WhatsApp's apps end them, with a line feed alone.
    pub fn vcard(&self) -> String {
        let Self { name, phones, emails, addresses, urls, org, birthday } = self;
        let CardName { formatted_name, first_name, last_name, middle_name, suffix, prefix } = name;
        let mut card = Lines("BEGIN:VCARD\nVERSION:3.0\n".to_owned());
        card.line("N", None, &[last_name, first_name, middle_name, prefix, suffix].map(Option::as_deref));
        card.line("FN", None, &[Some(formatted_name)]);
        if let Some(CardOrganization { company, department, title }) = org {
            if company.is_some() || department.is_some() {
                card.line("ORG", None, &[company.as_deref(), department.as_deref()]);
            }
            if title.is_some() {
                card.line("TITLE", None, &[title.as_deref()]);
            }
        }
        for CardPhone { phone, r#type, wa_id } in phones.iter().flatten() {
            let on_whatsapp = wa_id.as_ref().map(|digits| format!(";waid={}", word(digits)));
            let name = format!("TEL{}{}", kind(r#type.as_deref()), on_whatsapp.unwrap_or_default());
            card.line(&name, None, &[Some(phone)]);
        }
        for CardEmail { email, r#type } in emails.iter().flatten() {
            card.line("EMAIL", r#type.as_deref(), &[Some(email)]);
        }
        for CardAddress { street, city, state, zip, country, country_code, r#type } in
            addresses.iter().flatten()
        {
            let country = country.as_ref().or(country_code.as_ref());
            let parts = [None, None, street.as_ref(), city.as_ref(), state.as_ref(), zip.as_ref(), country];
            card.line("ADR", r#type.as_deref(), &parts.map(|part| part.map(String::as_str)));
        }
        for CardUrl { url, r#type } in urls.iter().flatten() {
            card.line("URL", r#type.as_deref(), &[Some(url)]);
        }
        if let Some(birthday) = birthday {
            card.line("BDAY", None, &[Some(birthday)]);
        }
        card.0.push_str("END:VCARD");
        card.0
    }
}

struct Lines(String);

impl Lines {
    /// Adds a property with the parts of its value.
    fn line(&mut self, name: &str, of_kind: Option<&str>, parts: &[Option<&str>]) {
        let parts: Vec<_> = parts.iter().map(|part| escaped(part.unwrap_or_default())).collect();
        let line = format!("{name}{}:{}\n", kind(of_kind), parts.join(";"));
        self.0.push_str(&line);
    }
}

fn kind(given: Option<&str>) -> String {
    given.map(word).filter(|word| !word.is_empty()).map(|word| format!(";type={word}")).unwrap_or_default()
}

/// The letters, digits and hyphens of a parameter, which could otherwise begin another one or another line.
fn word(given: &str) -> String {
    given.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect()
}

/// A part of a value. What separates parts, values and lines is escaped; other control characters are left out.
fn escaped(part: &str) -> String {
    let mut text = String::with_capacity(part.len());
    for c in part.trim().chars() {
        match c {
            '\\' | ';' | ',' => text.extend(['\\', c]),
            '\n' => text.push_str("\\n"),
            c if c.is_control() => {}
            c => text.push(c),
        }
    }
    text
}
