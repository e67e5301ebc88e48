//! Sign-ins that succeed, fail or have to wait, and their record.

use pombo::accounts::{Create, Error, Origin, Role, SignIn};
use pombo::store::changes::{What, Who};
use serde_json::json;

use super::{ADDRESS, EMAIL, PASSWORD, World, create, origin, session};
use crate::database::{Universe, stores};

stores!(
    the_right_password_signs_in_and_every_attempt_is_recorded,
    failures_that_come_in_masses_are_one_entry_with_their_number,
    too_many_wrong_passwords_make_an_account_wait_and_no_other,
    a_disabled_user_is_signed_out_at_once_and_reads_the_usual_refusal,
    an_e_mail_belongs_to_one_user_however_it_is_spelled,
);

async fn the_right_password_signs_in_and_every_attempt_is_recorded(universe: &Universe) {
    let world = World::new(universe).await;
    for (email, password) in [(EMAIL, "wrong password"), ("hunter2", PASSWORD), ("bea@example.com", PASSWORD)]
    {
        let refused = world.try_sign_in(email, password, None).await;
        assert!(matches!(refused, Err(Error::Refused)), "{email}: {refused:?}");
    }
    let found = session(world.try_sign_in(" ANA@example.com", PASSWORD, None).await.unwrap()).session;
    assert_eq!((found.user.id, found.user.has_totp), (world.ana.id, false));
    let company = found.company.unwrap();
    assert_eq!((company.company_id, company.company_name.as_str()), (world.acme, "Acme"));
    assert_eq!((company.role, found.address.as_str()), (Role::Owner, ADDRESS));

    let changes = world.changes(What::SignIn).await;
    let told: Vec<_> = changes
        .iter()
        .map(|change| (change.who.as_str(), change.subject.as_str(), change.after["status"].clone()))
        .collect();
    let by_ana = format!("user:{EMAIL}");
    assert_eq!(
        told,
        [
            (by_ana.as_str(), EMAIL, json!("signed in")),
            ("user:", "", json!("refused")),
            ("user:", "", json!("refused")),
            ("user:", EMAIL, json!("refused")),
        ]
    );
    assert!(changes.iter().all(|change| change.address.as_deref() == Some(ADDRESS)), "{changes:?}");
    let text = format!("{changes:?}");
    assert!(!text.contains("hunter2") && !text.contains(PASSWORD), "{text}");
}

async fn failures_that_come_in_masses_are_one_entry_with_their_number(universe: &Universe) {
    let world = World::new(universe).await;
    for attempt in 0..20 {
        let refused = world.try_sign_in(&format!("{attempt}@example.com"), "wrong password", None).await;
        assert!(matches!(refused, Err(Error::Refused)), "{attempt}: {refused:?}");
    }
    let changes = world.changes(What::SignIn).await;
    let (many, own): (Vec<_>, Vec<_>) = changes.iter().partition(|change| change.after["reason"] == "many");
    let times: u64 = many.iter().map(|change| change.after["times"].as_u64().unwrap()).sum();
    assert_eq!(own.len() as u64 + times, 20, "{changes:?}");
    // A minute may end in between.
    assert!((1..=2).contains(&many.len()) && own.len() <= 10, "{changes:?}");
    for change in &changes {
        assert_eq!((change.who.as_str(), change.subject.as_str()), ("user:", ""));
        assert_eq!(change.address.as_deref(), Some(ADDRESS));
    }
}

async fn too_many_wrong_passwords_make_an_account_wait_and_no_other(universe: &Universe) {
    let world = World::new(universe).await;
    create(&world.accounts, "bea@example.com", Some((world.acme, Role::Viewer))).await;
    // An unknown account waits as long as a known one.
    for email in [EMAIL, "nobody@example.com"] {
        for attempt in 0..5 {
            let refused = world.try_sign_in(email, "wrong password", None).await;
            assert!(matches!(refused, Err(Error::Refused)), "{email} {attempt}: {refused:?}");
        }
        let waits = world.try_sign_in(email, PASSWORD, None).await;
        assert!(matches!(waits, Err(Error::TooMany { .. })), "{email}: {waits:?}");
        let elsewhere = Origin::new("2001:db8::1".parse().unwrap(), "");
        let attempt = SignIn { email, password: PASSWORD, code: None, origin: &elsewhere };
        assert!(matches!(world.accounts.sign_in(attempt).await, Err(Error::TooMany { .. })));
    }
    world.session("bea@example.com").await;
    let changes = world.changes(What::SignIn).await;
    let attempts: u64 = changes.iter().map(|change| change.after["times"].as_u64().unwrap_or(1)).sum();
    assert_eq!(attempts, 11, "refused attempts during the wait are not recorded");
}

async fn a_disabled_user_is_signed_out_at_once_and_reads_the_usual_refusal(universe: &Universe) {
    let world = World::new(universe).await;
    let (inside, who) = (world.session(EMAIL).await, Who::Operator("ops".to_owned()));
    let token = world.accounts.new_api_token(&inside.session, &origin()).await.unwrap();
    let link = world.accounts.reset(&who, &world.ana).await.unwrap();
    assert!(world.accounts.set_disabled(&who, &world.ana, true).await.unwrap());
    assert!(!world.accounts.set_disabled(&who, &world.ana, true).await.unwrap(), "once");
    assert!(!world.counts(&inside).await);
    assert_eq!(world.accounts.bearer(token.expose()).await.unwrap(), None);
    assert_eq!(world.accounts.link(link.token.expose()).await.unwrap(), None);
    assert!(matches!(world.try_sign_in(EMAIL, PASSWORD, None).await, Err(Error::Refused)));
    assert!(world.accounts.set_disabled(&who, &world.ana, false).await.unwrap());
    world.session(EMAIL).await;
    let words: Vec<_> = world.changes(What::User).await.into_iter().map(|change| change.after).collect();
    assert_eq!(words[..2], [json!("enabled"), json!("disabled")]);
}

async fn an_e_mail_belongs_to_one_user_however_it_is_spelled(universe: &Universe) {
    let world = World::new(universe).await;
    let again = |email| Create { email, name: "A", password: None, company: None, is_operator: true };
    let taken = world.accounts.create(&Who::Pombo, again("ANA@EXAMPLE.COM")).await;
    assert!(matches!(taken, Err(Error::Exists)), "{taken:?}");
    for (email, name, password) in [("ana", "A", None), ("a@b", " ", None), ("a@b", "A", Some("short"))] {
        let create = Create { email, name, password, company: None, is_operator: true };
        let refused = world.accounts.create(&Who::Pombo, create).await;
        assert!(matches!(refused, Err(Error::Invalid { .. })), "{email}: {refused:?}");
    }
    // A person without a password cannot sign in, not even with an empty one.
    world.accounts.create(&Who::Pombo, again("new@example.com")).await.unwrap();
    assert!(matches!(world.try_sign_in("new@example.com", "", None).await, Err(Error::Refused)));
}
