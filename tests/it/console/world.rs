//! A company with a person of each role, another company, and an operator.

use pombo::accounts::{Create, Role, SignedIn, User};
use pombo::store::changes::Who;
use uuid::Uuid;

use super::browser::Browser;
use crate::harness::{Company, Service};

/// The password of everybody.
pub(crate) const PASSWORD: &str = "correct horse battery";

pub(crate) struct World {
    pub(crate) service: Service,
    /// The company of most people.
    pub(crate) acme: Company,
    /// The other company.
    pub(crate) globex: Company,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::on(Service::start().await).await
    }

    /// In a service that a test started in its own way.
    pub(crate) async fn on(service: Service) -> Self {
        let (acme, globex) = (service.company("acme").await, service.company("globex").await);
        Self { service, acme, globex }
    }

    /// A person with [`PASSWORD`], who does not sign in; the id.
    pub(crate) async fn person(&self, email: &str, company: Option<(Uuid, Role)>, is_operator: bool) -> Uuid {
        let name = email.split('@').next().unwrap();
        let create = Create { email, name, password: Some(PASSWORD), company, is_operator };
        self.service.accounts().create(&Who::Pombo, create).await.unwrap().id
    }

    /// Somebody with this role in acme, signed in.
    pub(crate) async fn signed_in(&self, role: Role) -> Browser<'_> {
        self.member_of(self.acme.id, role, &format!("{}@acme.example", role.as_str())).await
    }

    /// Somebody who owns the other company, signed in.
    pub(crate) async fn outsider(&self) -> Browser<'_> {
        self.member_of(self.globex.id, Role::Owner, "outsider@globex.example").await
    }

    /// An operator without a company, signed in.
    pub(crate) async fn operator(&self) -> Browser<'_> {
        self.enter("operator@pombo.example", None, true).await
    }

    /// Somebody with this role in a company, signed in.
    pub(crate) async fn member_of(&self, company: Uuid, role: Role, email: &str) -> Browser<'_> {
        self.enter(email, Some((company, role)), false).await
    }

    /// Somebody whom the test signed in before, with another session.
    pub(crate) async fn again(&self, email: &str) -> Browser<'_> {
        let user = self.service.accounts().user_by_email(email).await.unwrap();
        self.sign_in(&user).await
    }

    async fn enter(&self, email: &str, company: Option<(Uuid, Role)>, is_operator: bool) -> Browser<'_> {
        let create = Create { email, name: "Ana Müller", password: None, company, is_operator };
        let user = self.service.accounts().create(&Who::Pombo, create).await.unwrap();
        self.sign_in(&user).await
    }

    /// Signs in by a link, which costs no hash of a password.
    async fn sign_in(&self, user: &User) -> Browser<'_> {
        let accounts = self.service.accounts();
        let link = accounts.sign_in_link(&Who::Pombo, user).await.unwrap();
        let origin = pombo::accounts::Origin::new([127, 0, 0, 1].into(), "test");
        let SignedIn::Session(session) =
            accounts.use_sign_in_link(link.token.expose(), &origin).await.unwrap()
        else {
            panic!("nobody here has a second factor")
        };
        Browser::with_session(&self.service, session.token.expose())
    }
}
