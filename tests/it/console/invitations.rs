//! The page of an invitation: what it tells, what it asks, and when it is gone. And passwords that nobody may choose.

use pombo::accounts::Role;
use pombo::store::changes::Who;
use totp_rs::{Builder, Secret};

use super::browser::{Browser, value_of};
use super::world::{PASSWORD, World};

const BEN: &str = "ben@globex.example";

/// The link of an invitation that this person makes.
async fn invite(inviter: &Browser<'_>, email: &str, role: &str) -> String {
    let page = inviter.submit("/console/company/invitations", &[("email", email), ("role", role)]).await;
    let place = page.find("/console/link/").unwrap();
    page[place..].split(['"', '<']).next().unwrap().to_owned()
}

fn fields<'a>(name: &'a str, password: &'a str) -> [(&'a str, &'a str); 3] {
    [("name", name), ("password", password), ("again", password)]
}

/// A page without what differs between two invitations in any case.
fn plain(page: &str, email: &str, link: &str) -> String {
    let once = value_of(page, "once").unwrap();
    page.replace(&once, "").replace(email, "").replace(link, "")
}

#[tokio::test]
async fn the_page_and_its_answers_do_not_tell_who_has_an_account() {
    let world = World::new().await;
    world.person(BEN, Some((world.globex.id, Role::Owner)), false).await;
    let owner = world.signed_in(Role::Owner).await;
    let mut told = Vec::new();
    for email in [BEN, "nobody@globex.example"] {
        let link = invite(&owner, email, "viewer").await;
        let visitor = Browser::new(&world.service);
        let mut pages = vec![plain(&visitor.page(&link).await, email, &link)];
        // The inviter looks too, signed in as themselves.
        pages.push(plain(&owner.page(&link).await, email, &link));
        for wrong in [
            fields("", PASSWORD),
            fields("Ben", "short"),
            fields("Ben", "password1"),
            fields("Ben", "Globex2026"),
            [("name", "Ben"), ("password", PASSWORD), ("again", "another one")],
        ] {
            let answer = visitor.post(&link, &wrong).await;
            assert_eq!(answer.status, 422, "{wrong:?}: {}", answer.body);
            pages.push(plain(&answer.body, email, &link));
        }
        told.push(pages);
    }
    assert_eq!(told[0], told[1]);
}

#[tokio::test]
async fn an_account_joins_with_its_password_signed_in_or_not() {
    let world = World::new().await;
    world.person(BEN, Some((world.globex.id, Role::Owner)), false).await;
    let owner = world.signed_in(Role::Owner).await;
    let ben = Browser::new(&world.service);
    let link = invite(&owner, BEN, "viewer").await;
    let wrong = ben.post(&link, &fields("Eve", "eve's own password")).await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.body.contains("This password does not fit."), "{}", wrong.body);
    let entered = ben.submit(&link, &fields("Benjamin", PASSWORD)).await;
    assert!(entered.contains("<h1>Overview</h1>") && entered.contains("acme"), "{entered}");
    assert!(ben.page("/console/companies").await.contains("globex"), "the account is the same as before");
    assert_eq!(value_of(&ben.page("/console/account").await, "name").as_deref(), Some("ben"));
    assert_eq!(Browser::new(&world.service).get(&link).await.status, 404);

    // Signed in, the password is all that is asked; a session alone raises no role.
    let link = invite(&owner, BEN, "owner").await;
    let page = ben.page(&link).await;
    assert!(page.contains("The password of your account.") && !page.contains("name=\"again\""), "{page}");
    for wrong in ["", "eve's own password"] {
        assert_eq!(ben.post(&link, &[("password", wrong)]).await.status, 422, "{wrong}");
    }
    assert_eq!(ben.get("/console/keys").await.status, 403);
    ben.submit(&link, &[("password", PASSWORD)]).await;
    assert_eq!(ben.get("/console/keys").await.status, 200, "Ben is an owner now");
}

#[tokio::test]
async fn a_person_with_a_second_factor_enters_a_code_and_comes_back_to_the_invitation() {
    let world = World::new().await;
    world.person(BEN, Some((world.globex.id, Role::Owner)), false).await;
    let there = Browser::new(&world.service);
    assert_eq!(there.post("/console/sign-in", &[("email", BEN), ("password", PASSWORD)]).await.status, 303);
    let page = there.submit("/console/account/totp", &[("current", PASSWORD)]).await;
    let secret = page.split("aria-label=\"Secret\"").nth(1).unwrap().split('>').nth(2).unwrap();
    let secret = Secret::try_from_base32(secret.split('<').next().unwrap()).unwrap();
    let code = |steps: i64| {
        let seconds = pombo::clock::Timestamp::now().millis() / 1_000 + 30 * steps;
        let totp = Builder::new().with_secret(secret.clone()).build().unwrap();
        totp.generate(seconds.unsigned_abs()).to_string()
    };
    let confirmed = there.submit("/console/account/totp/confirm", &[("code", &code(0))]).await;
    assert!(confirmed.contains("Recovery codes"), "{confirmed}");

    let link = invite(&world.signed_in(Role::Owner).await, BEN, "member").await;
    let ben = Browser::new(&world.service);
    let asked = ben.post(&link, &fields("Ben", PASSWORD)).await;
    assert_eq!((asked.status, value_of(&asked.body, "next").as_deref()), (200, Some(link.as_str())));
    let ticket = value_of(&asked.body, "ticket").unwrap();
    let form = [("ticket", ticket.as_str()), ("code", &code(1)), ("next", link.as_str())];
    let back = ben.submit("/console/sign-in", &form).await;
    assert!(back.contains("You are invited"), "{back}");
    let entered = ben.submit(&link, &[("password", PASSWORD)]).await;
    assert!(entered.contains("<h1>Overview</h1>") && entered.contains("acme"), "{entered}");
}

#[tokio::test]
async fn a_removed_owner_s_invitations_are_gone() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    let other = world.member_of(world.acme.id, Role::Owner, "other@acme.example").await;
    let links = [
        invite(&other, "other.again@acme.example", "owner").await,
        invite(&owner, "other@acme.example", "owner").await,
    ];
    assert!(owner.page("/console/company").await.contains("other.again@acme.example"));
    let members = world.service.accounts().members(world.acme.id).await.unwrap();
    let id = members.iter().find(|member| member.email == "other@acme.example").unwrap().user_id;
    let page = owner.submit(&format!("/console/company/members/{id}/remove"), &[]).await;
    assert!(!page.contains("again@acme.example") && !page.contains("other@acme.example"), "{page}");
    for link in links {
        for browser in [&other, &Browser::new(&world.service)] {
            assert_eq!(browser.get(&link).await.status, 404);
            assert_eq!(browser.post(&link, &fields("Back", PASSWORD)).await.status, 404);
        }
    }
    assert_eq!(other.get("/console/company").await.status, 303, "the person has no company");
}

#[tokio::test]
async fn an_easy_password_is_refused_in_every_language_wherever_one_is_chosen() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    let id = world.person(BEN, Some((world.acme.id, Role::Owner)), false).await;
    let user = world.service.accounts().user(id).await.unwrap();
    for (language, sentence) in [
        ("en", "This password is easy to guess"),
        ("pt-BR", "Esta senha é fácil de adivinhar"),
        ("es", "Esta contraseña es fácil de adivinar"),
    ] {
        let person = Browser::new(&world.service).reading(language);
        let invitation = invite(&owner, &format!("new.{language}@acme.example"), "viewer").await;
        let reset = world.service.accounts().reset(&Who::Pombo, &user).await.unwrap().path();
        for (link, password) in [(&invitation, "password1"), (&invitation, "Acme2024"), (&reset, "ben12345")]
        {
            let refused = person.post(link, &fields("Ana", password)).await;
            assert_eq!(refused.status, 422, "{language} {password}: {}", refused.body);
            assert!(refused.body.contains(sentence), "{language} {password}: {}", refused.body);
        }
        let fields = [("email", BEN), ("password", PASSWORD)];
        assert_eq!(person.post("/console/sign-in", &fields).await.status, 303);
        let change = [("current", PASSWORD), ("password", "12345678"), ("again", "12345678")];
        let refused = person.post("/console/account/password", &change).await;
        assert_eq!(refused.status, 422, "{language}: {}", refused.body);
        assert!(refused.body.contains(sentence), "{language}: {}", refused.body);
    }
}
