use super::*;

const OWN: &str = "first_name,last_name,email,phone_number,phone_number_lid,profile_picture,tags";
/// Columns with the names of ours, of a file that is no export.
const PLAIN: &str = "first_name,last_name,email,phone_number,profile_picture,tags,note";
const GOOGLE: &str = "First Name,Middle Name,Last Name,Phonetic First Name,Nickname,Organization Name,Birthday,\
    Notes,Photo,Labels,E-mail 1 - Label,E-mail 1 - Value,E-mail 2 - Label,E-mail 2 - Value,\
    Phone 1 - Label,Phone 1 - Value,Phone 2 - Label,Phone 2 - Value";
const OLDER_GOOGLE: &str = "Name,Given Name,Additional Name,Family Name,Notes,Group Membership,\
    E-mail 1 - Type,E-mail 1 - Value,Phone 1 - Type,Phone 1 - Value";
const HUBSPOT: &str = "Record ID,First Name,Last Name,Email,Phone Number,Mobile Phone Number,Contact owner,\
    Lead Status,Create Date";

fn read(header: &str, row: &str) -> Result<ContactDraft, Refused> {
    let header = header.split(',').map(|name| name.trim().to_owned()).collect();
    let layout = Layout::new(header, 1, &[]).unwrap();
    draft(&layout, &row.split(',').collect::<Vec<_>>(), &[], None).map(|row| row.draft)
}

fn person(first_name: &str, last_name: &str, email: &str, phone_number: &str) -> Person {
    Person {
        first_name: first_name.to_owned(),
        last_name: last_name.to_owned(),
        email: email.to_owned(),
        phone_number: phone_number.to_owned(),
        ..Person::default()
    }
}

#[test]
fn our_own_columns_are_read() {
    let row =
        " Ana ,Souza,ana@example.com,+55 (11) 98888-7777,9@lid,https://example.com/a.png,VIP; Friends;VIP";
    let ContactDraft { person, tags } = read(OWN, row).unwrap();
    assert_eq!((person.first_name.as_str(), person.last_name.as_str()), ("Ana", "Souza"));
    assert_eq!(
        (person.email.as_str(), person.phone_number.as_str()),
        ("ana@example.com", "+55 (11) 98888-7777")
    );
    assert_eq!(person.phone_number_lid.as_deref(), Some("9@lid"));
    assert_eq!(person.profile_picture, "https://example.com/a.png");
    assert_eq!(tags, ["VIP", "Friends"]);
}

#[test]
fn the_address_of_a_picture_is_one_of_the_web() {
    let row = |picture: &str| read(OWN, &format!("Ana,,ana@example.com,,,{picture},"));
    for picture in ["javascript:alert(1)", " JAVASCRIPT:alert(1)", "data:text/html;base64", "ana.png"] {
        assert_eq!(row(picture).unwrap_err(), Refused::Picture, "{picture}");
        let given = Person { profile_picture: picture.to_owned(), ..Person::default() };
        assert!(check_contact(&given).unwrap_err().contains("profile_picture"), "{picture}");
    }
    for picture in ["", "https://example.com/a.png", "http://example.com/a"] {
        assert_eq!(row(picture).unwrap().person.profile_picture, picture);
    }
}

#[test]
fn google_contacts_are_read() {
    let row = "Ana,Maria,Souza,,,Acme,,,https://example.com/p,* myContacts ::: Friends ::: VIP,* Work,\
        remark,Home,ana@example.com,Home,n/a,Mobile,+55 11 98888-7777 ::: +55 11 3333-4444";
    let ContactDraft { person: found, tags } = read(GOOGLE, row).unwrap();
    let wanted = person("Ana Maria", "Souza", "ana@example.com", "+55 11 98888-7777");
    assert_eq!(found, Person { profile_picture: "https://example.com/p".to_owned(), ..wanted });
    assert_eq!(tags, ["Friends", "VIP"]);
    let shop = ",,,,,Corner Shop,,,,* myContacts,,,,,Work,+49 30 901820,,";
    assert_eq!(read(GOOGLE, shop).unwrap().person, person("Corner Shop", "", "", "+49 30 901820"));
}

#[test]
fn the_older_google_contacts_are_read() {
    let row = "Ana Souza,Ana,,Souza,,* My Contacts ::: Family,* ,ana@example.com,Mobile,+55 11 98888-7777";
    let ContactDraft { person: found, tags } = read(OLDER_GOOGLE, row).unwrap();
    assert_eq!(found, person("Ana", "Souza", "ana@example.com", "+55 11 98888-7777"));
    assert_eq!(tags, ["Family"]);
    let row = "Ana Souza,,,,,,,,Mobile,+55 11 98888-7777";
    assert_eq!(read(OLDER_GOOGLE, row).unwrap().person.first_name, "Ana Souza");
}

#[test]
fn hubspot_contacts_are_read_with_the_mobile_number_first() {
    let row = "101,Ana,Souza,ana@example.com,+55 11 3333-4444,+55 11 98888-7777,Bob,New,2026-01-02 10:00";
    assert_eq!(
        read(HUBSPOT, row).unwrap().person,
        person("Ana", "Souza", "ana@example.com", "+55 11 98888-7777")
    );
    let row = "102,Bob,,,+49 30 901820,,,,";
    assert_eq!(read(HUBSPOT, row).unwrap().person.phone_number, "+49 30 901820");
}

#[test]
fn a_row_that_nothing_identifies_is_refused() {
    for row in [",,,,,,", "Ana,Souza,,,,VIP,", "Ana,,none,,,,", "", ","] {
        assert_eq!(read(PLAIN, row), Err(Refused::Nobody), "{row}");
    }
    let refused = read(OWN, "Ana,,,011 98888-7777,,,").unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the phone number begins with 0 instead of a country code, and there is no e-mail address to \
         identify the contact"
    );
    assert_eq!(read(OWN, "Ana,,,n/a,,,"), Err(Refused::Phone("n/a".to_owned(), InvalidPhone::NoDigits)));
}

#[test]
fn a_wrong_address_is_left_out_and_named_and_identifies_nobody() {
    let layout = Layout::new(PLAIN.split(',').map(str::to_owned).collect(), 1, &[]).unwrap();
    for wrong in [
        "a b@c.example",
        "ana@",
        "@example.com",
        "ana@example",
        "ana@example..com",
        "ana@.com",
        "a@b@c.example",
    ] {
        let row = draft(&layout, &["Ana", "", wrong, "5511988887777"], &[], None).unwrap();
        assert_eq!((row.draft.person.email.as_str(), row.left_out.as_deref()), ("", Some(wrong)));
        assert_eq!(read(PLAIN, &format!("Ana,,{wrong},,,,")), Err(Refused::Address(wrong.to_owned())));
    }
    for fine in ["ana@example.com", "ana+x@sub.example.com", "josé@exemplo.com.br", "", "none", "-"] {
        let row = draft(&layout, &["Ana", "", fine, "5511988887777"], &[], None).unwrap();
        assert_eq!(row.left_out, None, "{fine}");
    }
}

#[test]
fn the_tags_of_a_cell_are_separated_by_what_is_chosen() {
    let mut layout = Layout::new(vec!["phone".to_owned(), "tags".to_owned()], 1, &[]).unwrap();
    let mut read = |separator: char| {
        layout.tag_separator = separator;
        draft(&layout, &["5511988887777", "VIP, feira|a;b"], &[], None).unwrap().draft.tags
    };
    assert_eq!(read(';'), ["VIP, feira|a", "b"]);
    assert_eq!(read(','), ["VIP", "feira|a", "b"]);
    assert_eq!(read('|'), ["VIP, feira", "a", "b"]);
}

#[test]
fn an_address_keeps_a_row_whose_number_is_wrong() {
    let found = read(OWN, "Ana,,ana@example.com,12,,,").unwrap().person;
    assert_eq!((found.phone_number.as_str(), found.phone()), ("12", None));
}

#[test]
fn numbers_that_a_program_reformatted_are_repaired_or_refused() {
    let found = read(PLAIN, "Ana,,,5511988887777.0,,,").unwrap().person;
    assert_eq!(found.phone_number, "5511988887777");
    for (header, number) in [(OWN, "5.51199E+12"), (PLAIN, "5.51199E+12"), (PLAIN, "5e12")] {
        let refused = read(header, &format!("Ana,,ana@example.com,{number},,,")).unwrap_err();
        assert_eq!(refused, Refused::Phone(number.to_owned(), InvalidPhone::Figure));
        let given = Person { phone_number: number.to_owned(), ..Person::default() };
        assert!(check_contact(&given).unwrap_err().contains("spreadsheet's figure"), "{number}");
    }
    assert!(read(OWN, "Ana,,,Home 5511988887777,,,").is_ok());
}

#[test]
fn fields_that_are_missing_too_many_or_too_long_are_named() {
    let refused = |row: &str| read(OWN, row).unwrap_err().to_string();
    assert_eq!(refused("Ana,,,5511988887777,,,,x"), "has 8 fields where the header has 7");
    let long = format!("{},,,5511988887777,,,", "é".repeat(201));
    assert_eq!(refused(&long), "first_name is longer than 200 characters");
    assert!(read(OWN, &format!("{},,,5511988887777,,,", "é".repeat(200))).is_ok());
    assert_eq!(refused("A\0na,,,5511988887777,,,"), "first_name holds a NUL character");
    assert_eq!(refused("Ana,,,5511988887777,,,V\0IP"), "tags holds a NUL character");
    let many: Vec<_> = (0..=MOST_TAGS).map(|number| number.to_string()).collect();
    assert_eq!(refused(&format!("Ana,,,5511988887777,,,{}", many.join(";"))), "has more than 100 tags");
}

#[test]
fn missing_and_empty_cells_at_the_end_of_a_row_are_empty() {
    for row in ["Ana,,,5511988887777", "Ana,,,5511988887777,,,,", "Ana,,,5511988887777,,,,, ,,\u{feff}"] {
        assert_eq!(read(OWN, row).unwrap().person, person("Ana", "", "", "5511988887777"), "{row}");
    }
}

#[test]
fn an_export_of_our_own_is_taken_as_it_is() {
    let row = "n/a,,n/a,5511988887777.0,9@lid,,* VIP;*;a ::: b;* VIP";
    let ContactDraft { person: found, tags } = read(OWN, row).unwrap();
    let wanted =
        Person { phone_number_lid: Some("9@lid".to_owned()), ..person("n/a", "", "n/a", "5511988887777.0") };
    assert_eq!((found, tags), (wanted, vec!["* VIP".to_owned(), "*".to_owned(), "a ::: b".to_owned()]));
    assert_eq!(read(OWN, "Bea,,n/a,none,,,").unwrap().person, person("Bea", "", "n/a", "none"));
    // A star names a group of Google in Google's columns only.
    assert_eq!(read("phone,tags", "5511988887777,* VIP").unwrap().tags, ["* VIP"]);
    assert!(read("phone,Labels", "5511988887777,* VIP").unwrap().tags.is_empty());
}

#[test]
fn our_own_columns_are_read_by_the_rules_of_a_country_and_an_export_stays_as_it_is() {
    let layout = Layout::new(OWN.split(',').map(str::to_owned).collect(), 1, &[]).unwrap();
    let read = |number: &str, email: &str| {
        let draft = draft(&layout, &["Ana", "", email, number], &[], Country::parse("BR"));
        draft.map(|row| row.draft.person.phone_number)
    };
    // What people write.
    for (number, wanted) in [
        ("(11) 90000-2701", "+5511900002701"),
        ("(011) 90000-2702", "+5511900002702"),
        ("21 97100-0058", "+5521971000058"),
        ("21971000058", "+5521971000058"),
        ("0055 11 90000-2703", "+5511900002703"),
    ] {
        assert_eq!(read(number, ""), Ok(wanted.to_owned()), "{number}");
    }
    // What an export holds, of which a mobile number of another country is no landline of this one.
    for number in [
        "5511900002704",
        "5511900002705.0",
        "+55 (11) 90000-2706",
        "+1 212 555 0101",
        "12125550101",
        "351912345678",
        "41791234567",
        "5511900002707:12@s.whatsapp.net",
    ] {
        assert_eq!(read(number, ""), Ok(number.to_owned()), "{number}");
    }
    for number in ["n/a", "12", "", "Cel 2: +55 11 90000-0105"] {
        assert_eq!(read(number, "ana@example.com"), Ok(number.to_owned()), "{number}");
    }
    let refused = Refused::Phone("90000-2708".to_owned(), InvalidPhone::National);
    assert_eq!(read("90000-2708", "ana@example.com"), Err(refused));
}

#[test]
fn an_id_of_whatsapp_that_a_spreadsheet_rounded_is_refused() {
    let refused = read(OWN, "Ana,,,5511900002801,1.23457E+14,,").unwrap_err();
    assert_eq!(refused, Refused::RoundedLid("1.23457E+14".to_owned()));
    let given = Person { phone_number_lid: Some("1.23457E+14".to_owned()), ..Person::default() };
    assert!(check_contact(&given).unwrap_err().contains("phone_number_lid"));
    assert!(read(OWN, "Ana,,,5511900002801,123456789012345@lid,,").is_ok());
}

#[test]
fn a_wrong_byte_refuses_a_row_only_in_a_field_of_the_contact() {
    let row = |name: &str, note: &str| format!("{name},,,5511988887777,,,{note}");
    let refused = read(PLAIN, &row("Jo\u{fdd0}o", "")).unwrap_err();
    assert_eq!(refused, Refused::WrongByte { field: "first_name" });
    assert!(read(PLAIN, &row("Ana", "Jo\u{fdd0}o")).is_ok());
}

#[test]
fn numbers_are_read_by_the_rules_of_the_country_that_a_person_chose() {
    let layout = Layout::new(vec!["phone".to_owned(), "mobile".to_owned()], 1, &[]).unwrap();
    let read = |fields: &[&str]| {
        draft(&layout, fields, &[], Country::parse("BR")).map(|row| row.draft.person.phone_number)
    };
    assert_eq!(read(&["(11) 90000-2701"]), Ok("+5511900002701".to_owned()));
    assert_eq!(read(&["(011) 90000-2702"]), Ok("+5511900002702".to_owned()));
    assert_eq!(read(&["0055 11 90000-2703"]), Ok("+5511900002703".to_owned()));
    assert_eq!(read(&["+1 212 555 0101"]), Ok("+1 212 555 0101".to_owned()));
    assert_eq!(read(&["11 3000-0201", "90000-2701"]), Ok("+551130000201".to_owned()));
    assert_eq!(
        read(&["90000-2701"]),
        Err(Refused::Phone("90000-2701".to_owned(), InvalidPhone::National)),
        "the area code is missing, and +900002701 is a stranger"
    );
}
