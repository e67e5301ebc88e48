//! `pombo explain`: codes and words of answers, for people and for programs.

use serde_json::json;

use crate::program::Place;

#[test]
fn a_word_is_explained_with_what_to_do() {
    let said = Place::new().run("explain template_quota invalid_api_key").stdout;
    for part in [
        "WHY A SEND WAITS",
        "template_quota\n  The tier's `template_quota` of people in 24 hours is used up.",
        "What to do: Nothing",
        "invalid_api_key (HTTP 401)",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn a_code_of_the_provider_is_found_in_its_span() {
    let place = Place::new();
    assert_eq!(
        place.json("explain 210"),
        json!([{
            "section": "provider_code",
            "word": "200 to 299",
            "meaning": "A permission is missing.",
            "remedy": "The channel becomes `disconnected`; its queue is kept.",
        }])
    );
    assert_eq!(place.json("explain -1")[0]["section"], "own_code");
    let unknown = place.run("explain 999999");
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("is not in the table"), "{unknown:?}");
}

#[test]
fn a_word_in_two_tables_is_explained_twice_and_a_mistyped_one_gets_a_suggestion() {
    let place = Place::new();
    let sections = place.json("explain expired");
    let sections: Vec<_> =
        sections.as_array().unwrap().iter().map(|entry| entry["section"].clone()).collect();
    assert_eq!(sections, [json!("send"), json!("message")]);
    let mistyped = place.run("explain tempalte_quota");
    assert_eq!(mistyped.code, Some(2));
    assert!(mistyped.stderr.contains("did you mean `template_quota`?"), "{mistyped:?}");
}
