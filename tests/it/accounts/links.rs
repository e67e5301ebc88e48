//! Links that are valid once: invitations, resets, sign-ins.

use std::time::Duration;

use pombo::accounts::{Accept, Error, Invite, Language, NewLink, Purpose, Role};
use pombo::clock::Timestamp;
use pombo::store::changes::{What, Who};
use serde_json::json;

use super::{EMAIL, PASSWORD, World, create, origin, session};
use crate::database::{Universe, stores};

stores!(
    an_invitation_makes_one_member_with_its_role,
    a_reset_replaces_the_password_once_and_ends_all_sessions,
    a_link_signs_in_once,
    a_link_ends_after_a_day,
    an_owner_s_link_opens_that_company_alone,
);

fn ana() -> Who {
    origin().who(EMAIL)
}

fn accept<'a>(
    link: &'a NewLink,
    name: &'a str,
    password: &'a str,
    from: &'a pombo::accounts::Origin,
) -> Accept<'a> {
    Accept { token: link.token.expose(), name, password, language: Some(Language::Portuguese), origin: from }
}

async fn an_invitation_makes_one_member_with_its_role(universe: &Universe) {
    let world = World::new(universe).await;
    let (accounts, from) = (&world.accounts, origin());
    let invite =
        |email| Invite { email, name: "", company: Some((world.acme, Role::Viewer)), is_operator: false };
    assert!(matches!(
        accounts.invite(&ana(), invite("bea")).await,
        Err(Error::Invalid { field: "email", .. })
    ));
    let first = accounts.invite(&ana(), invite("Bea@example.com")).await.unwrap();
    let second = accounts.invite(&ana(), invite("bea@example.com")).await.unwrap();
    assert_eq!(accounts.link(first.token.expose()).await.unwrap(), None, "the later one replaces it");
    let info = accounts.link(second.token.expose()).await.unwrap().unwrap();
    assert_eq!((info.purpose, info.email.as_str()), (Purpose::Invitation, "bea@example.com"));
    let open = accounts.invitations(Some(world.acme)).await.unwrap();
    assert_eq!((open.len(), open[0].made_by.clone()), (1, format!("user:{EMAIL}")));
    assert_eq!(accounts.invitations(Some(world.globex)).await.unwrap(), []);

    // The person can correct the input: the link stays valid.
    for (name, password, field) in [("", PASSWORD, "name"), ("Bea", "short", "password")] {
        match accounts.accept(accept(&second, name, password, &from)).await {
            Err(Error::Invalid { field: named, .. }) => assert_eq!(named, field),
            other => panic!("{other:?}"),
        }
    }
    let bea = session(accounts.accept(accept(&second, "Bea", PASSWORD, &from)).await.unwrap()).session;
    assert_eq!((bea.user.name.as_str(), bea.user.language), ("Bea", Some(Language::Portuguese)));
    assert_eq!(
        bea.company.map(|company| (company.company_id, company.role)),
        Some((world.acme, Role::Viewer))
    );
    let again = accounts.accept(accept(&second, "Bea", PASSWORD, &from)).await;
    assert!(matches!(again, Err(Error::LinkGone)), "{again:?}");
    world.session("bea@example.com").await;

    let third = accounts.invite(&ana(), invite("carl@example.com")).await.unwrap();
    let id = accounts.invitations(None).await.unwrap()[0].id;
    let other = accounts.withdraw_invitation(&ana(), Some(world.globex), id).await;
    assert!(matches!(other, Err(Error::NotFound)), "another company's");
    accounts.withdraw_invitation(&ana(), Some(world.acme), id).await.unwrap();
    assert_eq!(accounts.link(third.token.expose()).await.unwrap(), None);
    let text = format!("{:?}", world.changes(What::Link).await);
    assert!(text.contains("withdrawn") && !text.contains(third.token.expose()), "{text}");
}

async fn a_reset_replaces_the_password_once_and_ends_all_sessions(universe: &Universe) {
    let world = World::new(universe).await;
    let (accounts, from, new) = (&world.accounts, origin(), "another password");
    let inside = world.session(EMAIL).await;
    let link = accounts.reset(&Who::Operator("ops".to_owned()), &world.ana).await.unwrap();
    assert!(link.path().ends_with(link.token.expose()));
    world.session(EMAIL).await;
    assert!(world.counts(&inside).await, "nothing changes before it is used");
    let reset = session(accounts.accept(accept(&link, "", new, &from)).await.unwrap());
    assert!(!world.counts(&inside).await && world.counts(&reset).await);
    assert_eq!(reset.session.user.name, "Ana Souza");
    assert!(matches!(world.try_sign_in(EMAIL, PASSWORD, None).await, Err(Error::Refused)));
    session(world.try_sign_in(EMAIL, new, None).await.unwrap());
    assert!(matches!(accounts.accept(accept(&link, "", PASSWORD, &from)).await, Err(Error::LinkGone)));
    let easy = accounts.reset(&Who::Pombo, &world.ana).await.unwrap();
    let refused = accounts.accept(accept(&easy, "", "acme2024", &from)).await;
    assert!(matches!(refused, Err(Error::CommonPassword)), "the company's name is no password: {refused:?}");
    let changes = world.changes(What::UserPassword).await;
    assert_eq!(
        changes.iter().map(|change| change.who.clone()).collect::<Vec<_>>(),
        [format!("user:{EMAIL}")]
    );
}

async fn a_link_signs_in_once(universe: &Universe) {
    let world = World::new(universe).await;
    let (accounts, from) = (&world.accounts, origin());
    let link = accounts.sign_in_link(&Who::Pombo, &world.ana).await.unwrap();
    let as_reset = accounts.accept(accept(&link, "", PASSWORD, &from)).await;
    assert!(matches!(as_reset, Err(Error::LinkGone)), "{as_reset:?}");
    let reset = accounts.reset(&Who::Pombo, &world.ana).await.unwrap();
    let as_sign_in = accounts.use_sign_in_link(reset.token.expose(), &from).await;
    assert!(matches!(as_sign_in, Err(Error::LinkGone)), "{as_sign_in:?}");
    let (one, other) = futures_util::future::join(
        accounts.use_sign_in_link(link.token.expose(), &from),
        accounts.use_sign_in_link(link.token.expose(), &from),
    )
    .await;
    assert_eq!([one.is_ok(), other.is_ok()].into_iter().filter(|is| *is).count(), 1, "{one:?} {other:?}");
}

async fn a_link_ends_after_a_day(universe: &Universe) {
    let world = World::new(universe).await;
    let (accounts, from) = (&world.accounts, origin());
    let link = accounts.reset(&Who::Pombo, &world.ana).await.unwrap();
    let day = Duration::from_secs(24 * 3_600);
    let left = link.expires_at.from_now(Timestamp::now());
    assert!(left <= day && left > day - Duration::from_secs(600), "{left:?}");
    let end = Timestamp::now().millis();
    world.execute(&format!("UPDATE link SET expires_at = {end}")).await;
    assert_eq!(accounts.link(link.token.expose()).await.unwrap(), None);
    let late = accounts.accept(accept(&link, "", "another password", &from)).await;
    assert!(matches!(late, Err(Error::LinkGone)), "{late:?}");
    world.session(EMAIL).await;
}

async fn an_owner_s_link_opens_that_company_alone(universe: &Universe) {
    let world = World::new(universe).await;
    let (accounts, from) = (&world.accounts, origin());
    let bea = create(accounts, "bea@example.com", Some((world.acme, Role::Member))).await;
    let carl = create(accounts, "carl@example.com", Some((world.globex, Role::Owner))).await;
    let foreign = accounts.member_link(&ana(), world.acme, carl.id).await;
    assert!(matches!(foreign, Err(Error::NotFound)), "{foreign:?}");
    let by_member = accounts.member_link(&from.who(&bea.email), world.acme, world.ana.id).await;
    assert!(matches!(by_member, Err(Error::OperatorsOnly)), "a member is no owner: {by_member:?}");
    let early = accounts.member_link(&ana(), world.acme, bea.id).await.unwrap();
    assert!(accounts.link(early.token.expose()).await.unwrap().is_some());
    // The person joins another company: the link, made before, would open it.
    let company = Some((world.globex, Role::Viewer));
    let invite = Invite { email: "bea@example.com", name: "", company, is_operator: false };
    let joining = accounts.invite(&Who::Pombo, invite).await.unwrap();
    session(accounts.accept(accept(&joining, "Bea", PASSWORD, &from)).await.unwrap());
    assert_eq!(accounts.link(early.token.expose()).await.unwrap(), None);
    let used = accounts.accept(accept(&early, "", "another password", &from)).await;
    assert!(matches!(used, Err(Error::LinkGone)), "{used:?}");
    let refused = accounts.member_link(&ana(), world.acme, bea.id).await;
    assert!(matches!(refused, Err(Error::OperatorsOnly)), "{refused:?}");
    // Of one company again.
    accounts.remove_member(&Who::Pombo, world.globex, bea.id).await.unwrap();
    let link = accounts.member_link(&ana(), world.acme, bea.id).await.unwrap();
    let signed_in = session(accounts.accept(accept(&link, "", "another password", &from)).await.unwrap());
    assert_eq!(signed_in.session.user.vouched_by, Some(world.acme), "the owner may have used it");
    assert!(signed_in.session.user.last_sign_in_at.is_some());
    session(world.try_sign_in("bea@example.com", "another password", None).await.unwrap());
    assert!(matches!(accounts.accept(accept(&link, "", PASSWORD, &from)).await, Err(Error::LinkGone)));
    let changes = world.changes(What::Link).await;
    let made = changes.iter().find(|change| change.subject == "bea@example.com").unwrap();
    assert_eq!(
        (made.who.as_str(), &made.after["company_id"]),
        (&*format!("user:{EMAIL}"), &json!(world.acme))
    );

    let owner = ana();
    let first = accounts.invite(
        &owner,
        Invite { company: Some((world.acme, Role::Viewer)), email: "new@example.com", ..invite },
    );
    let first = first.await.unwrap();
    let id = accounts.invitations(Some(world.acme)).await.unwrap()[0].id;
    let other = accounts.invite_again(&ana(), world.globex, id).await;
    assert!(matches!(other, Err(Error::NotFound)), "another company's: {other:?}");
    let again = accounts.invite_again(&ana(), world.acme, id).await.unwrap();
    assert_eq!(accounts.link(first.token.expose()).await.unwrap(), None);
    let info = accounts.link(again.token.expose()).await.unwrap().unwrap();
    assert_eq!((info.purpose, info.email.as_str()), (Purpose::Invitation, "new@example.com"));
}
