//! Operators see and change the suppressions of a company.

use serde_json::json;

use crate::program::Place;

#[test]
fn a_suppression_is_added_listed_and_lifted() {
    let place = Place::new();
    for company in ["Acme", "Globex"] {
        place.json(&format!("company create {company}"));
    }
    let empty = place.run("suppression list --company Acme");
    assert_eq!((empty.code, empty.stdout.trim()), (Some(0), "there are no suppressions"));

    let added = place.json("suppression add +55~11~98888-7777 --company Acme");
    assert_eq!((&added["left_out_of"], &added["added"]), (&json!("marketing"), &json!(true)), "{added}");
    let again = place.json("suppression add 5511988887777 --company Acme");
    assert_eq!(again["added"], false);
    place.json("suppression add 5511988887777 --company Acme --everything");

    let listed = place.json("suppression list --company Acme");
    let scopes: Vec<_> = listed.as_array().unwrap().iter().map(|record| &record["left_out_of"]).collect();
    assert_eq!(scopes, ["marketing", "everything"]);
    assert_eq!(listed[0]["phone_number"], "+5511988887777");
    assert_eq!((&listed[0]["until"], &listed[0]["provider_code"]), (&json!(null), &json!(null)));
    assert_eq!(place.json("suppression list --company Globex"), json!([]), "it is Acme's alone");
    let shown = place.run("suppression list --company Acme").stdout;
    assert!(shown.contains("+5511988887777") && shown.contains("everything"), "{shown}");

    let foreign = place.run("suppression lift +5511988887777 --company Globex");
    assert_eq!(foreign.code, Some(1));
    assert!(foreign.stderr.contains("is not suppressed by Globex"), "{}", foreign.stderr);
    let lifted = place.json("suppression lift +5511988887777 --company Acme");
    assert_eq!(lifted["lifted"], json!(["marketing", "everything"]));
    assert_eq!(place.json("suppression list --company Acme"), json!([]));
    assert_eq!(place.run("suppression lift +5511988887777 --company Acme").code, Some(1));
}

#[test]
fn an_invalid_number_and_an_unknown_company_are_refused_with_a_remedy() {
    let place = Place::new();
    place.json("company create Acme");
    let number = place.run("suppression add 0800 --company Acme");
    assert_eq!(number.code, Some(2));
    assert!(number.stderr.contains("international form"), "{}", number.stderr);
    let company = place.run("suppression add +5511988887777 --company Acmee");
    assert_eq!(company.code, Some(1));
    assert!(company.stderr.contains("did you mean `Acme`?"), "{}", company.stderr);
}
