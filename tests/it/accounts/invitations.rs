//! Invitations: who may make them, when they end, and what their pages and answers do not tell.

use pombo::accounts::{Accept, Error, Invite, NewLink, Origin, Role, SignedIn, User};
use pombo::store::changes::{What, Who};
use serde_json::json;
use uuid::Uuid;

use super::second_factor::set_up;
use super::{EMAIL, PASSWORD, World, create, origin, session};
use crate::database::{Universe, stores};

stores!(
    an_invitation_ends_with_its_inviter_s_rights,
    a_removed_owner_does_not_come_back_by_a_link_from_before,
    a_demoted_member_is_not_raised_by_a_link_from_before,
    an_invitation_ends_with_the_operator_who_made_it,
    a_person_invites_only_where_they_may,
    an_account_joins_only_with_its_password,
    an_account_with_a_second_factor_signs_in_before_it_joins,
    an_invitation_does_not_tell_who_has_an_account,
    guesses_at_an_invitation_have_to_wait,
    a_company_vouches_for_a_person_until_an_operator_does,
);

const BEA: &str = "bea@example.com";

impl World<'_> {
    async fn invite(&self, who: &Who, email: &str, company: Uuid, role: Role) -> NewLink {
        let invite = Invite { email, name: "", company: Some((company, role)), is_operator: false };
        self.accounts.invite(who, invite).await.unwrap()
    }

    async fn accept(&self, link: &NewLink, password: &str) -> Result<SignedIn, Error> {
        let from = origin();
        let accept =
            Accept { token: link.token.expose(), name: "Eve", password, language: None, origin: &from };
        self.accounts.accept(accept).await
    }

    /// Whether a link is gone, for who looks at it and for who uses it.
    async fn is_gone(&self, link: &NewLink) -> bool {
        let is_shown = self.accounts.link(link.token.expose()).await.unwrap().is_some();
        let used = self.accept(link, "correct horse staple").await;
        assert_eq!(is_shown, !matches!(used, Err(Error::LinkGone)), "{used:?}");
        !is_shown
    }

    async fn role_of(&self, email: &str, company: Uuid) -> Option<Role> {
        let members = self.accounts.members(company).await.unwrap();
        members.into_iter().find(|member| member.email == email).map(|member| member.role)
    }
}

fn as_user(user: &User) -> Who {
    origin().who(&user.email)
}

async fn an_invitation_ends_with_its_inviter_s_rights(universe: &Universe) {
    let world = World::new(universe).await;
    let (accounts, acme) = (&world.accounts, world.acme);
    let root = Who::CommandLine("root".to_owned());
    let bea = create(accounts, BEA, Some((acme, Role::Owner))).await;
    for end in ["removed", "demoted", "disabled"] {
        let by_bea = world.invite(&as_user(&bea), "eve@example.com", acme, Role::Owner).await;
        let by_ana =
            world.invite(&as_user(&world.ana), &format!("{end}.ana@example.com"), acme, Role::Viewer).await;
        let by_root = world.invite(&root, &format!("{end}.root@example.com"), acme, Role::Viewer).await;
        assert_eq!(accounts.invitations(Some(acme)).await.unwrap().len(), 3);
        match end {
            "removed" => accounts.remove_member(&root, acme, bea.id).await.unwrap(),
            "demoted" => accounts.set_role(&root, acme, bea.id, Role::Member).await.unwrap(),
            _ => assert!(accounts.set_disabled(&root, &bea, true).await.unwrap()),
        }
        assert_eq!(accounts.invitations(Some(acme)).await.unwrap().len(), 2, "{end}");
        // The rights come back, and the invitation does not.
        match end {
            "removed" => {
                let back = world.invite(&root, BEA, acme, Role::Owner).await;
                session(world.accept(&back, PASSWORD).await.unwrap());
            }
            "demoted" => accounts.set_role(&root, acme, bea.id, Role::Owner).await.unwrap(),
            _ => assert!(accounts.set_disabled(&root, &bea, false).await.unwrap()),
        }
        assert!(world.is_gone(&by_bea).await, "{end}");
        assert!(
            !world.is_gone(&by_ana).await && !world.is_gone(&by_root).await,
            "{end}: others' invitations stay"
        );
    }
    // Rights that end in another way, such as an operator's in the database.
    let ops = create(accounts, "ops@example.com", None).await;
    let link = world.invite(&as_user(&ops), "eve@example.com", world.globex, Role::Owner).await;
    world.execute("UPDATE user_account SET is_operator = 0 WHERE email = 'ops@example.com'").await;
    assert!(world.is_gone(&link).await);
    assert_eq!(world.role_of("eve@example.com", world.globex).await, None);
}

async fn a_removed_owner_does_not_come_back_by_a_link_from_before(universe: &Universe) {
    let world = World::new(universe).await;
    let (accounts, acme) = (&world.accounts, world.acme);
    let root = Who::CommandLine("root".to_owned());
    let bea = create(accounts, BEA, Some((acme, Role::Owner))).await;
    let inside = world.session(BEA).await;
    let program = accounts.new_api_token(&inside.session, &origin()).await.unwrap();
    let links = [
        world.invite(&as_user(&bea), "bea.too@example.com", acme, Role::Owner).await,
        world.invite(&root, BEA, acme, Role::Owner).await,
    ];
    accounts.remove_member(&as_user(&world.ana), acme, bea.id).await.unwrap();
    for link in &links {
        assert!(world.is_gone(link).await);
        let joined = accounts.join(&inside.session, link.token.expose(), PASSWORD, &origin()).await;
        assert!(matches!(joined, Err(Error::LinkGone)), "{joined:?}");
    }
    // An invitation to another company is not Acme's to end.
    let elsewhere = world.invite(&root, BEA, world.globex, Role::Viewer).await;
    accounts.join(&inside.session, elsewhere.token.expose(), PASSWORD, &origin()).await.unwrap();
    // Invited again, the person is a member, and the token of before stays useless.
    let again = world.invite(&as_user(&world.ana), BEA, acme, Role::Viewer).await;
    accounts.join(&inside.session, again.token.expose(), PASSWORD, &origin()).await.unwrap();
    assert_eq!(world.role_of(BEA, acme).await, Some(Role::Viewer));
    assert_eq!(accounts.bearer(program.expose()).await.unwrap(), None);
}

async fn a_demoted_member_is_not_raised_by_a_link_from_before(universe: &Universe) {
    let world = World::new(universe).await;
    let (accounts, acme) = (&world.accounts, world.acme);
    let bea = create(accounts, BEA, Some((acme, Role::Owner))).await;
    let link = world.invite(&as_user(&world.ana), BEA, acme, Role::Owner).await;
    accounts.set_role(&as_user(&world.ana), acme, bea.id, Role::Viewer).await.unwrap();
    assert!(matches!(world.accept(&link, PASSWORD).await, Err(Error::LinkGone)));
    assert_eq!(world.role_of(BEA, acme).await, Some(Role::Viewer));
    // A higher role ends nothing.
    let link = world.invite(&as_user(&world.ana), BEA, acme, Role::Owner).await;
    accounts.set_role(&as_user(&world.ana), acme, bea.id, Role::Member).await.unwrap();
    session(world.accept(&link, PASSWORD).await.unwrap());
    assert_eq!(world.role_of(BEA, acme).await, Some(Role::Owner));
}

async fn an_invitation_ends_with_the_operator_who_made_it(universe: &Universe) {
    let world = World::new(universe).await;
    let new = |name| pombo::store::operators::NewOperator {
        name,
        prefix: name,
        hash: [name.len() as u8; 32],
        expires_at: None,
    };
    for name in ["ops", "others"] {
        universe.store.operators().add(&Who::Pombo, new(name)).await.unwrap();
    }
    let of = |name: &str| Who::Operator(name.to_owned());
    let invitation = world.invite(&of("ops"), BEA, world.acme, Role::Owner).await;
    let reset = world.accounts.reset(&of("ops"), &world.ana).await.unwrap();
    let other = world.invite(&of("others"), BEA, world.globex, Role::Viewer).await;
    assert!(universe.store.operators().revoke(&Who::Pombo, "ops").await.unwrap());
    for link in [&invitation, &reset] {
        assert!(world.is_gone(link).await);
    }
    assert!(!world.is_gone(&other).await);
}

async fn a_person_invites_only_where_they_may(universe: &Universe) {
    let world = World::new(universe).await;
    let bea = create(&world.accounts, BEA, Some((world.acme, Role::Member))).await;
    let company = |id| Some((id, Role::Viewer));
    for (who, company, is_operator) in [
        (as_user(&bea), company(world.acme), false),
        (as_user(&world.ana), company(world.globex), false),
        (as_user(&world.ana), company(world.acme), true),
        (as_user(&world.ana), None, true),
        (origin().who("nobody@example.com"), company(world.acme), false),
    ] {
        let invite = Invite { email: "eve@example.com", name: "", company, is_operator };
        let refused = world.accounts.invite(&who, invite).await;
        assert!(matches!(refused, Err(Error::NotFound)), "{who:?}: {refused:?}");
    }
    assert_eq!(world.accounts.invitations(None).await.unwrap(), []);
}

async fn an_account_joins_only_with_its_password(universe: &Universe) {
    let world = World::new(universe).await;
    let (accounts, from) = (&world.accounts, origin());
    let bea = create(accounts, BEA, Some((world.globex, Role::Owner))).await;
    let link = world.invite(&as_user(&bea), EMAIL, world.globex, Role::Viewer).await;
    let stolen = world.accept(&link, "eve's own password").await;
    assert!(matches!(stolen, Err(Error::Refused)), "{stolen:?}");
    let (ana, bea) = (world.session(EMAIL).await, world.session(BEA).await.session);
    let join = async |session, password| accounts.join(session, link.token.expose(), password, &from).await;
    assert!(matches!(join(&bea, PASSWORD).await, Err(Error::LinkGone)), "not hers");
    for wrong in ["", "eve's own password"] {
        assert!(matches!(join(&ana.session, wrong).await, Err(Error::Refused)), "a session is not enough");
    }
    join(&ana.session, PASSWORD).await.unwrap();
    assert!(matches!(join(&ana.session, PASSWORD).await, Err(Error::LinkGone)));
    let chosen = world.opened(&ana.token).await.company.unwrap();
    assert_eq!((chosen.company_id, chosen.role), (world.globex, Role::Viewer));

    // Without a session: the password signs in and joins.
    let link = world.invite(&as_user(&bea.user), EMAIL, world.globex, Role::Member).await;
    let ana = session(world.accept(&link, PASSWORD).await.unwrap()).session;
    assert_eq!((ana.user.name.as_str(), ana.company.unwrap().role), ("Ana Souza", Role::Member));
    assert!(world.is_gone(&link).await);

    // An invitation removes nothing, and may make the person an operator.
    let invite =
        Invite { email: EMAIL, name: "", company: Some((world.acme, Role::Viewer)), is_operator: true };
    let link = accounts.invite(&Who::Pombo, invite).await.unwrap();
    session(world.accept(&link, PASSWORD).await.unwrap());
    assert_eq!(world.role_of(EMAIL, world.acme).await, Some(Role::Owner));
    assert!(accounts.user_by_email(EMAIL).await.unwrap().is_operator);
    assert_eq!(world.changes(What::User).await[0].after, json!({"is_operator": true}));
}

async fn an_account_with_a_second_factor_signs_in_before_it_joins(universe: &Universe) {
    let world = World::new(universe).await;
    set_up(&world).await;
    let link = world.invite(&Who::Pombo, EMAIL, world.globex, Role::Viewer).await;
    let asked = world.accept(&link, PASSWORD).await.unwrap();
    assert!(matches!(asked, SignedIn::CodeNeeded { .. }), "{asked:?}");
    assert_eq!(world.role_of(EMAIL, world.globex).await, None, "the password alone opens nothing");
    assert!(!world.is_gone(&link).await, "the invitation waits");
}

async fn an_invitation_does_not_tell_who_has_an_account(universe: &Universe) {
    let world = World::new(universe).await;
    create(&world.accounts, BEA, Some((world.globex, Role::Viewer))).await;
    let carl = create(&world.accounts, "carl@example.com", Some((world.globex, Role::Viewer))).await;
    world.accounts.set_disabled(&Who::Pombo, &carl, true).await.unwrap();
    let mut told = Vec::new();
    for email in [BEA, "carl@example.com", "nobody@example.com"] {
        let link = world.invite(&as_user(&world.ana), email, world.acme, Role::Viewer).await;
        let mut shown = world.accounts.link(link.token.expose()).await.unwrap().unwrap();
        assert_eq!(std::mem::take(&mut shown.email), email);
        shown.expires_at = world.ana.created_at;
        let mut answers = vec![format!("{shown:?}")];
        // The last attempts have to wait, too.
        for password in ["short", "12345678", "Passw0rd", "acme1234", "12345678", "12345678", "12345678"] {
            let answer = world.accept(&link, password).await;
            answers.push(match answer {
                Err(Error::TooMany { .. }) => "wait".to_owned(),
                other => format!("{other:?}"),
            });
        }
        assert_eq!(answers.last().unwrap(), "wait", "{answers:?}");
        told.push(answers);
    }
    assert_eq!(told[0], told[2]);
    assert_eq!(told[1], told[2], "nor who is disabled");
}

async fn guesses_at_an_invitation_have_to_wait(universe: &Universe) {
    let world = World::new(universe).await;
    create(&world.accounts, BEA, Some((world.globex, Role::Viewer))).await;
    let link = world.invite(&as_user(&world.ana), BEA, world.acme, Role::Viewer).await;
    for guess in 0..5 {
        let refused = world.accept(&link, &format!("quite another horse {guess}")).await;
        assert!(matches!(refused, Err(Error::Refused)), "{guess}: {refused:?}");
    }
    assert!(matches!(world.accept(&link, PASSWORD).await, Err(Error::TooMany { .. })));
    let waits = world.try_sign_in(BEA, PASSWORD, None).await;
    assert!(matches!(waits, Err(Error::TooMany { .. })), "they are guesses like those at sign-in: {waits:?}");
    let refused = world.changes(What::SignIn).await;
    assert_eq!(refused.len(), 5, "and they are in the record: {refused:?}");
}

async fn a_company_vouches_for_a_person_until_an_operator_does(universe: &Universe) {
    let world = World::new(universe).await;
    let accounts = &world.accounts;
    let ops = create(accounts, "ops@example.com", None).await;
    for (who, vouched_by) in [
        (as_user(&world.ana), Some(world.acme)),
        (as_user(&ops), None),
        (Who::Operator("ops".to_owned()), None),
        (Who::CommandLine("root".to_owned()), None),
    ] {
        let email = format!("{}@example.com", Uuid::now_v7());
        let link = world.invite(&who, &email, world.acme, Role::Viewer).await;
        session(world.accept(&link, PASSWORD).await.unwrap());
        let user = accounts.user_by_email(&email).await.unwrap();
        assert_eq!(user.vouched_by, vouched_by, "{who:?}");
    }
    // Eve's employer took an account in Bea's address, and knows its password.
    let link = world.invite(&as_user(&world.ana), BEA, world.acme, Role::Viewer).await;
    let taken = session(world.accept(&link, PASSWORD).await.unwrap());
    let owner = create(accounts, "owner@globex.example", Some((world.globex, Role::Owner))).await;
    let invited = world.invite(&as_user(&owner), BEA, world.globex, Role::Owner).await;
    // Bea gets in by an operator's link, and does not hand her invitation to the account as it is.
    let bea = accounts.user_by_email(BEA).await.unwrap();
    let entry = accounts.sign_in_link(&Who::Pombo, &bea).await.unwrap();
    let entered = session(accounts.use_sign_in_link(entry.token.expose(), &origin()).await.unwrap()).session;
    let joined = accounts.join(&entered, invited.token.expose(), "bea's own password", &origin()).await;
    assert!(matches!(joined, Err(Error::Refused)), "{joined:?}");
    assert_eq!(world.role_of(BEA, world.globex).await, None);
    // A reset makes the account hers alone.
    let reset = accounts.reset(&Who::Pombo, &bea).await.unwrap();
    session(world.accept(&reset, "bea's own password").await.unwrap());
    assert!(!world.counts(&taken).await);
    assert_eq!(accounts.user_by_email(BEA).await.unwrap().vouched_by, None);
    session(world.accept(&invited, "bea's own password").await.unwrap());
    assert_eq!(world.role_of(BEA, world.globex).await, Some(Role::Owner));
    let elsewhere = Origin::new("2001:db8::1".parse().unwrap(), "");
    let attempt = pombo::accounts::SignIn { email: BEA, password: PASSWORD, code: None, origin: &elsewhere };
    assert!(
        matches!(accounts.sign_in(attempt).await, Err(Error::Refused)),
        "the other password opens nothing"
    );
}
