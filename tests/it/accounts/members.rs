//! Members of companies, and the companies that people may use.

use pombo::accounts::{Error, OwnProfile, Role};
use pombo::domain::page::PageRequest;
use pombo::store::changes::{What, Who};
use serde_json::json;
use uuid::Uuid;

use super::{EMAIL, World, create, origin, page};
use crate::database::{Universe, stores};

stores!(
    a_company_keeps_an_owner,
    people_find_their_companies_among_many,
    a_person_changes_how_they_are_shown,
);

async fn a_company_keeps_an_owner(universe: &Universe) {
    let world = World::new(universe).await;
    let (accounts, acme, ana) = (&world.accounts, world.acme, world.ana.id);
    let bea = create(accounts, "bea@example.com", Some((acme, Role::Member))).await.id;
    let who = origin().who(EMAIL);
    let demoted = accounts.set_role(&who, acme, ana, Role::Viewer).await;
    assert!(matches!(demoted, Err(Error::LastOwner)), "{demoted:?}");
    assert!(matches!(accounts.remove_member(&who, acme, ana).await, Err(Error::LastOwner)));
    accounts.set_role(&who, acme, ana, Role::Owner).await.unwrap();
    for (company, user) in [(world.globex, ana), (acme, Uuid::now_v7())] {
        assert!(matches!(accounts.set_role(&who, company, user, Role::Owner).await, Err(Error::NotFound)));
        assert!(matches!(accounts.remove_member(&who, company, user).await, Err(Error::NotFound)));
    }
    accounts.set_role(&who, acme, bea, Role::Owner).await.unwrap();
    // Two owners who leave at once: one has to stay.
    let (one, other) = futures_util::future::join(
        accounts.remove_member(&who, acme, ana),
        accounts.remove_member(&who, acme, bea),
    )
    .await;
    let left = accounts.members(acme).await.unwrap();
    assert_eq!((one.is_ok() != other.is_ok(), left.len(), left[0].role), (true, 1, Role::Owner), "{left:?}");
    let changes = world.changes(What::Membership).await;
    assert_eq!(changes[0].after, json!({"company_id": acme, "role": null}));
    assert_eq!(changes[1].before, Some(json!({"company_id": acme, "role": "member"})));
}

async fn people_find_their_companies_among_many(universe: &Universe) {
    let world = World::new(universe).await;
    let accounts = &world.accounts;
    let operator = create(accounts, "ops@example.com", None).await;
    for number in 0..200 {
        let name = format!("Padaria São João {number:03}");
        let id = universe.store.companies().add(&Who::Pombo, &name, "standard").await.unwrap().id;
        if number < 20 {
            universe.store.of(id).members().set_role(&Who::Pombo, &world.ana, Role::Viewer).await.unwrap();
        }
    }
    let names = async |user, number, search| {
        let request = PageRequest { page: number, limit: 5 };
        let found = accounts.companies_of(user, request, search).await.unwrap();
        let names: Vec<_> = found.records.into_iter().map(|company| company.company_name).collect();
        (found.total, names)
    };
    let (total, first) = names(&operator, 1, None).await;
    assert_eq!((total, first[..2].to_vec()), (202, vec!["Acme".to_owned(), "Globex".to_owned()]));
    assert_eq!(names(&operator, 1, Some("SAO joao 19")).await.0, 10);
    assert_eq!(names(&operator, 2, Some("joão 1")).await.1[0], "Padaria São João 105");
    let (total, only) = names(&world.ana, 1, None).await;
    assert_eq!(
        (total, only),
        (1, vec!["Acme".to_owned()]),
        "no company is theirs by a role that is not given"
    );
    assert_eq!(names(&world.ana, 1, Some("padaria")).await, (0, vec![]));
    let found = accounts.users(page(), Some("OPS@")).await.unwrap();
    assert_eq!((found.total, found.records[0].id), (1, operator.id));
    assert_eq!(accounts.users(page(), Some("souza")).await.unwrap().total, 2);
    assert_eq!(accounts.users(page(), Some("%")).await.unwrap().total, 0);
}

async fn a_person_changes_how_they_are_shown(universe: &Universe) {
    let world = World::new(universe).await;
    let (accounts, here) = (&world.accounts, world.session(EMAIL).await);
    let spanish = Some(pombo::accounts::Language::Spanish);
    let zone = Some("America/Sao_Paulo");
    OwnProfile::of(accounts).set(&here.session, " Ana ", spanish, zone, &origin()).await.unwrap();
    let user = accounts.session(here.token.expose()).await.unwrap().unwrap().user;
    assert_eq!((user.name.as_str(), user.language, user.time_zone.as_deref()), ("Ana", spanish, zone));
    for (name, zone) in [("", None), ("Ana", Some("São Paulo"))] {
        let refused = OwnProfile::of(accounts).set(&here.session, name, None, zone, &origin()).await;
        assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
    }
    let change = &world.changes(What::User).await[0];
    assert_eq!(change.after, json!({"name": "Ana", "language": "es", "time_zone": zone}));
}
