//! Rate cards on the command line.

use serde_json::json;

use crate::program::Place;

const CARD: &str = "# date: 2027-01-01\n# currency: USD\n\
    Market,Countries,Marketing,Utility,Authentication\nBrazil,BR,0.0700,0.0068,0.0068\nOther,*,0.0604,0.0077,0.0077\n";

#[test]
fn prices_are_shown_changed_and_set_back() {
    let place = Place::new();
    place.json("company create Acme");
    let listed = place.json("prices list");
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["date"]), (1, &json!("2026-10-01")), "{listed}");
    place.write("prices.csv", CARD);
    let tried = place.run("prices apply prices.csv --dry-run");
    assert!(tried.stdout.contains("Brazil: marketing 0.0625 → 0.07"), "{tried:?}");
    assert!(tried.stdout.contains("nothing was changed"), "{tried:?}");
    assert_eq!(place.json("prices list"), listed);
    assert_eq!(place.json("prices apply prices.csv")["dry_run"], false);
    let shown = place.run("prices show 2027-01-01");
    assert!(shown.stdout.contains("Brazil,BR,0.07,0.0068,0.0068,n/a,n/a"), "{shown:?}");
    place.json("prices remove 2027-01-01");
    assert_eq!(place.json("prices list"), listed);
    let gone = place.run("prices remove 2027-01-01");
    assert!(
        gone.code == Some(1) && gone.stderr.contains("nobody uploaded a rate card of 2027-01-01"),
        "{gone:?}"
    );
    place.write("prices.csv", &CARD.replace("0.0700", "seven"));
    let wrong = place.run("prices apply prices.csv");
    assert!(wrong.code == Some(2) && wrong.stderr.contains("line 4: `seven` is no price"), "{wrong:?}");
}
