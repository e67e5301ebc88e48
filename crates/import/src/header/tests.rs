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
    assert_eq!(columns("Nome,Tel.,Celular / WhatsApp,Nº celular", &[], Field::PhoneNumber), [2, 3, 1]);
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
    let error = Layout::lenient(header(130_000), 1, (&mappings(60), &[]), &[]).unwrap_err();
    assert!(matches!(error, Error::TooManyColumns { found: 130_000, .. }), "{error}");
    let error = Layout::lenient(header(1), 1, (&mappings(MOST_MAPPINGS + 1), &[]), &[]).unwrap_err();
    assert!(matches!(error, Error::TooManyMappings { .. }), "{error}");
    assert!(check_length(&vec![b'x'; LONGEST_HEADER], 1).is_ok());
    assert!(check_length(&vec![b'x'; LONGEST_HEADER + 1], 1).is_err());
}

#[test]
fn files_in_portuguese_and_spanish_are_understood() {
    for header in ["Nome,Telefone,E-mail,Etiquetas", "Nombre completo,Teléfono,Correo electrónico,Etiquetas"]
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

#[test]
fn outlooks_phones_are_read_with_the_mobile_one_first_and_its_categories_are_tags() {
    let outlook = "First Name,Middle Name,Last Name,Company,E-mail Address,E-mail 2 Address,Business Phone,Home Phone,\
        Mobile Phone,Primary Phone,Other Phone,Categories";
    assert_eq!(columns(outlook, &[], Field::PhoneNumber), [8, 9, 7, 6, 10]);
    assert_eq!(columns(outlook, &[], Field::Email), [4, 5]);
    assert_eq!(columns(outlook, &[], Field::Tags), [11]);
    assert_eq!(columns(outlook, &[], Field::Organization), [3]);
}

#[test]
fn what_stands_in_parentheses_only_explains_a_name() {
    let layout =
        Layout::new(vec!["Nome".to_owned(), "Telefone (com DDD, sem zero)".to_owned()], 1, &[]).unwrap();
    assert_eq!(layout.columns(Field::PhoneNumber).collect::<Vec<_>>(), [1]);
}

#[test]
fn a_column_is_mapped_by_its_place_or_with_all_of_its_name() {
    assert_eq!(columns("Nome,,Email", &["#2=phone_number"], Field::PhoneNumber), [1]);
    assert_eq!(columns("Nome,Fone 1,Fone 1", &["Fone 1=phone_number"], Field::PhoneNumber), [1, 2]);
    assert_eq!(columns("Nome,Fone 1,Fone 1", &["#3=phone_number"], Field::PhoneNumber), [2]);
    assert_eq!(columns("Nome,Telefone,Telefone", &[], Field::PhoneNumber), [1, 2]);
    for place in ["#0=phone_number", "#4=phone_number", "#x=phone_number"] {
        assert!(matches!(layout("Nome,Email,", &[place]), Err(Error::NoSuchColumn { .. })), "{place}");
    }
    let header = ["Nome", "", "Fone", "Fone"].map(str::to_owned);
    assert_eq!([0, 1, 2, 3].map(|index| column_name(&header, index)), ["Nome", "#2", "#3", "#4"]);
}

#[test]
fn what_was_mapped_before_hides_no_better_column() {
    let recalled = |header: &str, mappings: &[&str], field: Field| {
        let parse = |mapping: &&str| mapping.parse::<Mapping>().unwrap();
        let recalled = ["Telefone=phone_number", "Ramal=phone_number", "Fax=ignored", "Apelido=first_name"];
        let recalled: Vec<_> = recalled.iter().map(parse).collect();
        let mappings: Vec<_> = mappings.iter().map(parse).collect();
        let header = header.split(',').map(str::to_owned).collect();
        let layout = Layout::lenient(header, 1, (&mappings, &recalled), &[]).unwrap();
        layout.columns(field).collect::<Vec<_>>()
    };
    assert_eq!(recalled("Nome,Telefone,WhatsApp", &[], Field::PhoneNumber), [2, 1]);
    assert_eq!(recalled("Ramal,Telefone,Celular", &[], Field::PhoneNumber), [2, 0, 1]);
    assert_eq!(recalled("Ramal,WhatsApp", &["Ramal=phone_number"], Field::PhoneNumber), [0]);
    assert_eq!(recalled("Ramal,WhatsApp", &["WhatsApp=phone_number"], Field::PhoneNumber), [1]);
    assert_eq!(recalled("Apelido,Nome,Email", &[], Field::FirstName), [0]);
}

#[test]
fn an_export_of_our_own_is_recognised_unless_a_person_maps_its_columns() {
    let own = OWN.join(",");
    assert!(layout(&own, &[]).unwrap().is_own);
    assert!(layout(&format!("line,reason,{own}"), &[]).unwrap().is_own);
    assert!(!layout(&own, &["email=ignored"]).is_ok_and(|layout| layout.is_own));
    assert!(!layout("first_name,email,phone_number,tags", &[]).unwrap().is_own);
}

#[test]
fn a_column_that_is_called_like_an_own_field_has_it_unless_every_contact_has_such_a_field() {
    let own = |name: &str, key: &str| OwnField {
        id: uuid::Uuid::nil(),
        key: domain::own_field::FieldKey::parse(key).unwrap(),
        name: name.to_owned(),
        kind: domain::own_field::FieldKind::Text,
    };
    let fields = [own("Data de nascimento", "born"), own("Empresa", "empresa"), own("Fone 2", "telefone")];
    let header = ["Telefone", "DATA-DE-NASCIMENTO", "Empresa", "Born", "x"].map(str::to_owned).to_vec();
    let read = |mappings: &[&str]| {
        let mappings: Vec<Mapping> = mappings.iter().map(|text| text.parse().unwrap()).collect();
        Layout::lenient(header.clone(), 1, (&mappings, &[]), &fields)
    };
    let layout = read(&[]).unwrap();
    let (born, company) = (Field::Own(fields[0].key), Field::Own(fields[1].key));
    assert_eq!(layout.columns(born).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(layout.columns(company).collect::<Vec<_>>(), [2]);
    assert_eq!((layout.field(0), layout.field(4)), (Some(Field::PhoneNumber), None));
    assert_eq!(layout.own.iter().map(|field| field.key).collect::<Vec<_>>(), [fields[0].key, fields[1].key]);
    let mapped = read(&["x=fields.born"]).unwrap();
    assert_eq!(mapped.columns(born).collect::<Vec<_>>(), [4]);
    assert!(matches!(read(&["x=fields.gone"]), Err(Error::NoSuchField { .. })));
    // The first was called "B" once: its key stays, and the column is of the field that is called so now.
    let renamed = [own("C", "b"), own("B", "b_2"), own("C++", "c_2"), own("★", "field")];
    let header = ["B", "C", "C++", "★", "b-2", "☆"].map(str::to_owned).to_vec();
    let layout = Layout::lenient(header, 1, (&[], &[]), &renamed).unwrap();
    let due = [Some(1), Some(0), Some(2), Some(3), Some(1), None];
    let due = due.map(|nth: Option<usize>| nth.map(|nth| Field::Own(renamed[nth].key)));
    assert_eq!([0, 1, 2, 3, 4, 5].map(|index| layout.field(index)), due);
    for name in ["Telefone", "E-mail", "Tags", "first name", "Phone (old)"] {
        assert!(is_taken(name), "{name}");
    }
    assert!(!is_taken("Empresa") && !is_taken("Cidade"));
}

#[test]
fn names_that_shops_give_to_columns_are_understood() {
    for name in [
        "Celular / WhatsApp",
        "Telefone/Celular",
        "Tel.",
        "Cel",
        "Fone 1",
        "Nº do celular",
        "Número de WhatsApp",
        "Whats",
        "Celular do cliente",
        "WhatsApp (com DDD)",
        "Telefone com DDD",
        "Teléfono celular",
        "No. de celular",
        "Tfno.",
        "Número de móvil",
        "Mobile Number",
        "Cell #",
        "Contact Phone",
        "Customer Phone No.",
        "Billing Phone",
    ] {
        assert_eq!(columns(&format!("x,{name},E-mail"), &[], Field::PhoneNumber), [1], "{name}");
    }
    let ranked = "Telefone comercial 2,Tel. residencial,Fone 2,Celular / Fone,Contato WhatsApp";
    assert_eq!(columns(ranked, &[], Field::PhoneNumber), [4, 3, 2, 1, 0]);
    for name in
        ["DDD Celular", "Tipo de telefone", "Phone type", "WhatsApp Opt-in", "Número do cliente", "Fax"]
    {
        assert!(columns(&format!("{name},E-mail"), &[], Field::PhoneNumber).is_empty(), "{name}");
    }
    let found = [Field::Name, Field::Email, Field::Tags]
        .map(|field| columns("Cliente,Correo del cliente,Etiqueta", &[], field));
    assert_eq!(found, [[0], [1], [2]]);
}

#[test]
fn a_mere_number_is_a_phone_number_in_a_file_that_has_no_better_one() {
    for (header, place) in [
        ("Nome,Número", 1),
        ("Numero", 0),
        ("Nº,Nome", 0),
        ("Nome,N°", 1),
        ("Number,E-mail", 0),
        ("Nombre,Contacto", 1),
    ] {
        assert_eq!(columns(header, &[], Field::PhoneNumber), [place], "{header}");
    }
    for header in ["Nº,Nome,E-mail", "E-mail,Rua,Número", "Email,Endereço de entrega,Nº", "Contato,E-mail"]
    {
        assert!(columns(header, &[], Field::PhoneNumber).is_empty(), "{header}");
    }
    assert_eq!(columns("Número,Telefone", &[], Field::PhoneNumber), [1]);
    assert_eq!(columns("Número,Ramal", &["Ramal=phone_number"], Field::PhoneNumber), [1]);
    assert!(columns("Número,E-mail", &["Número=ignored"], Field::PhoneNumber).is_empty());
    assert!(may_identify("Número") && !may_identify("Pedidos"));
}
