//! Every route, for every caller: the table says which callers may pass, and no request from another origin
//! changes anything.

use pombo::accounts::Role;
use pombo::console::{Access, ROUTES, Route};
use reqwest::Method;

use super::browser::Browser;
use super::world::World;

/// A caller of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Caller {
    Nobody,
    Agent,
    Viewer,
    Member,
    Owner,
    /// An owner of another company, who asks about something of this one.
    Outsider,
    /// Without a chosen company.
    Operator,
}

/// The answer to a request that may not pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Passes,
    SignsIn,
    Chooses,
    Refused,
}

fn expected(access: Access, caller: Caller) -> Expected {
    let role = match caller {
        Caller::Agent => 0,
        Caller::Viewer => 1,
        Caller::Member => 2,
        Caller::Owner | Caller::Outsider => 3,
        Caller::Nobody | Caller::Operator => 0,
    };
    let within = |least| match caller {
        Caller::Nobody => Expected::SignsIn,
        Caller::Operator => Expected::Chooses,
        _ if role >= least => Expected::Passes,
        _ => Expected::Refused,
    };
    match access {
        Access::Asset | Access::Public => Expected::Passes,
        Access::SignedIn if caller == Caller::Nobody => Expected::SignsIn,
        Access::SignedIn => Expected::Passes,
        Access::Inbox => within(0),
        // A viewer looks, and answers nobody.
        Access::Agent if caller == Caller::Viewer => Expected::Refused,
        Access::Agent => within(0),
        Access::Viewer => within(1),
        Access::Member => within(2),
        Access::Owner => within(3),
        Access::Operator => match caller {
            Caller::Nobody => Expected::SignsIn,
            Caller::Operator => Expected::Passes,
            _ => Expected::Refused,
        },
    }
}

/// The path with ids that do not exist.
fn path(route: &Route) -> String {
    let segments = route.path.split('/').map(|segment| match segment {
        "{ordinal}" => "1",
        "{name}" => "standard",
        "{rest:.*}" => "nothing",
        variable if variable.starts_with('{') => "01890a5d-ac96-774b-bcce-b302099a8057",
        fixed => fixed,
    });
    segments.collect::<Vec<_>>().join("/")
}

fn request(browser: &Browser<'_>, route: &Route) -> reqwest::RequestBuilder {
    let method = Method::from_bytes(route.method.as_bytes()).unwrap();
    let request = browser.request(method, &path(route));
    if route.method == "GET" {
        return request;
    }
    request.header("content-type", "application/x-www-form-urlencoded").body("")
}

fn judge(status: u16, place: &str) -> Expected {
    match status {
        303 if place.starts_with("/console/sign-in?next=") => Expected::SignsIn,
        303 if place.starts_with("/console/companies?next=") => Expected::Chooses,
        403 => Expected::Refused,
        _ => Expected::Passes,
    }
}

#[tokio::test]
async fn every_route_lets_in_those_that_the_table_names_and_nobody_else() {
    let world = World::new().await;
    let callers = [
        (Caller::Nobody, Browser::new(&world.service)),
        (Caller::Agent, world.signed_in(Role::Agent).await),
        (Caller::Viewer, world.signed_in(Role::Viewer).await),
        (Caller::Member, world.signed_in(Role::Member).await),
        (Caller::Owner, world.signed_in(Role::Owner).await),
        (Caller::Outsider, world.outsider().await),
        (Caller::Operator, world.operator().await),
    ];
    for (caller, browser) in &callers {
        // Routes that end the session come last.
        let is_last = |route: &&Route| route.path == "/console/sign-out";
        let routes = ROUTES.iter().filter(|route| !is_last(route)).chain(ROUTES.iter().filter(is_last));
        for route in routes {
            let asked = request(browser, route).header("origin", browser.origin());
            let (status, place) = browser.head(asked).await;
            let shown = judge(status, &place);
            // An agent who signs in is led to the only page for agents.
            if *caller == Caller::Agent && (route.method, route.path) == ("GET", "/console") {
                assert_eq!((status, place.as_str()), (303, "/console/inbox"));
                continue;
            }
            assert_eq!(shown, expected(route.access, *caller), "{caller:?} {route:?}: {status} {place}");
            assert_ne!(status, 500, "{caller:?} {route:?}");
        }
    }
}

/// The path with a letter of each fixed segment percent-encoded, one segment at a time.
fn encoded(route: &Route) -> Vec<String> {
    let plain = path(route);
    let mut spellings = Vec::new();
    for (fixed, segment) in route.path.split('/').zip(plain.split('/')).filter(|(fixed, _)| !fixed.is_empty())
    {
        let first = segment.as_bytes()[0];
        if !fixed.starts_with('{') {
            let spelling = format!("/%{first:02x}{}", &segment[1..]);
            spellings.push(plain.replacen(&format!("/{segment}"), &spelling, 1));
        }
    }
    spellings
}

/// The route that a path with an encoded segment belongs to. Such a segment fits no fixed word of the table, only a
/// variable.
fn named_by(path: &str) -> Option<&'static Route> {
    let fits = |route: &&Route| {
        if route.path.contains("{rest") {
            return path.starts_with("/console/");
        }
        let (pattern, words) = (route.path.split('/'), path.split('/'));
        pattern.clone().count() == words.clone().count()
            && pattern.zip(words).all(|(fixed, word)| fixed == word || fixed.starts_with('{'))
    };
    let first = ROUTES.iter().find(fits)?;
    // The table may list the POST of a path before its GET.
    Some(ROUTES.iter().find(|route| route.path == first.path && route.method == "GET").unwrap_or(first))
}

#[tokio::test]
async fn no_route_answers_to_an_encoded_spelling_of_its_path() {
    let world = World::new().await;
    let callers =
        [(Caller::Operator, world.operator().await), (Caller::Owner, world.signed_in(Role::Owner).await)];
    for route in ROUTES.iter().filter(|route| route.method == "GET") {
        for path in encoded(route) {
            let named = named_by(&path);
            for (caller, browser) in &callers {
                let (status, place) = browser.head(browser.request(Method::GET, &path)).await;
                let shown = judge(status, &place);
                let due = named.map_or(Expected::Passes, |named| expected(named.access, *caller));
                assert_eq!(shown, due, "{caller:?} {path}: {status} {place}");
                // What passes finds nothing, because the encoded word is the id of nothing.
                let missing = if named.is_some_and(|named| named.method != "GET") { 405 } else { 404 };
                assert!(shown != Expected::Passes || status == missing, "{caller:?} {path}: {status}");
            }
        }
    }
    let operator = &callers[0].1;
    let form = operator.form("/console/%6fperator", &[("name", "Evil")]).header("origin", operator.origin());
    assert_eq!(operator.ask(form).await.status, 405);
    assert_eq!(world.service.store().companies().all().await.unwrap().len(), 2);
}

#[tokio::test]
async fn no_changing_route_answers_to_a_page_of_another_origin() {
    let world = World::new().await;
    let (owner, operator) = (world.signed_in(Role::Owner).await, world.operator().await);
    let changing: Vec<_> = ROUTES.iter().filter(|route| route.method != "GET").collect();
    assert!(!changing.is_empty());
    for route in changing {
        let browser = if route.access == Access::Operator { &operator } else { &owner };
        let other = ["http://evil.example", "null", "http://127.0.0.1:1"];
        for origin in other {
            let answer = browser.ask(request(browser, route).header("origin", origin)).await;
            assert_eq!(answer.status, 403, "{route:?} from {origin}");
        }
        for site in ["cross-site", "same-site", "none"] {
            let asked =
                request(browser, route).header("origin", browser.origin()).header("sec-fetch-site", site);
            assert_eq!(browser.ask(asked).await.status, 403, "{route:?} from {site}");
        }
        let answer = browser.ask(request(browser, route)).await;
        assert_eq!(answer.status, 403, "{route:?} without a proof");
        assert!(answer.body.contains("This request came from somewhere else"), "{}", answer.body);
    }
    assert_eq!(owner.get("/console").await.status, 200, "the session goes on");
}

#[tokio::test]
async fn reading_from_another_origin_is_harmless_and_allowed() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    let linked = owner.request(Method::GET, "/console").header("sec-fetch-site", "cross-site");
    assert_eq!(owner.ask(linked).await.status, 200, "a link in a mail leads here");
}
