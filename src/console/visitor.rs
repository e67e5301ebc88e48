//! The reader of a page: any visitor, a person who is signed in, or a person in a company.
//!
//! The gate determines the reader before a handler runs, by the access in the table of routes. A handler
//! takes what it needs in its signature.

use std::ops::Deref;

use actix_web::http::header::{HeaderMap, USER_AGENT};
use actix_web::{HttpMessage as _, HttpRequest};
use uuid::Uuid;

use super::cookie;
use super::error::{Error, Result};
use super::language::{self, Language};
use super::text::Text;
use super::zone::Zone;
use crate::accounts::{Look, Origin, Role, Session};
use crate::clock::Timestamp;
use crate::engine::Who;
use crate::surface::Client;
use crate::surface::body::{Peer, Sender};
use crate::surface::paths::argument;

/// The longest name of a time zone, in bytes: the longest one of the database has half as many.
const LONGEST_ZONE: usize = 64;

/// The sender of a request, signed in or not, with the language of the page.
#[derive(Debug, Clone)]
pub(super) struct Visitor {
    /// The texts in their language.
    pub(super) text: Text,
    /// The person, if the visitor is signed in.
    pub(super) person: Option<Person>,
    /// The origin of the request.
    pub(super) origin: Origin,
    /// Whether the browser reaches the service over https.
    pub(super) is_https: bool,
}

/// A person who is signed in.
#[derive(Debug, Clone)]
pub(super) struct Person {
    /// The session, for requests to accounts.
    pub(super) signed_in: Session,
    pub(super) session: Uuid,
    /// The texts in their language.
    pub(super) text: Text,
    /// The person's time zone.
    pub(super) zone: Zone,
    /// The company that they have chosen.
    pub(super) company: Option<Company>,
    /// Where the request comes from.
    pub(super) origin: Origin,
    /// Conversations with something unread; `None` when the number is not known. The gate counts them.
    pub(super) unread: Option<u64>,
}

/// The company that a person has chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Company {
    pub(super) id: Uuid,
    pub(super) name: String,
    /// The person's role in it.
    pub(super) role: Role,
    /// What its owners chose for its pages.
    pub(super) look: Look,
}

/// A person in the company that they have chosen. The table of routes has checked their role.
#[derive(Debug, Clone)]
pub(super) struct Viewer {
    person: Person,
    pub(super) company: Company,
}

impl Visitor {
    /// The sender of the request's body.
    pub(super) fn sender(&self) -> Sender {
        match &self.person {
            Some(person) => {
                let user = person.signed_in.user.id;
                let company = person.company.as_ref().map_or(user, |company| company.id);
                Sender::Person { company, user }
            }
            None => Sender::Visitor(Peer::new(Some(self.origin.address))),
        }
    }

    /// The reader that the gate found.
    pub(super) fn of(request: &HttpRequest) -> Result<Self> {
        request.extensions().get::<Self>().cloned().ok_or(Error::Internal)
    }

    /// The visitor with these headers, this address, and the session of the cookie.
    pub(super) fn new(headers: &HeaderMap, client: Client, session: Option<Session>) -> Self {
        let Client { address, is_https } = client;
        let browser = headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default();
        let in_zone = cookie::value(headers, cookie::ZONE)
            .filter(|name| name.len() <= LONGEST_ZONE && Zone::is_known(name));
        let origin =
            Origin::new(address, browser).on_device(cookie::device(headers, is_https)).in_zone(in_zone);
        let own = session.as_ref().and_then(|session| session.user.language);
        let chosen = || cookie::value(headers, cookie::LANGUAGE).and_then(Language::of_tag);
        let language = own.or_else(chosen).unwrap_or_else(|| language::accepted(headers));
        let zone = zone(headers, session.as_ref());
        let text = Text(language);
        let person = session.map(|signed_in| Person {
            session: signed_in.id,
            text,
            zone,
            company: signed_in.company.as_ref().map(|membership| Company {
                id: membership.company_id,
                name: membership.company_name.clone(),
                role: membership.role,
                look: signed_in.look.clone(),
            }),
            origin: origin.clone(),
            unread: None,
            signed_in,
        });
        Self { text, person, origin, is_https }
    }
}

/// The zone that a person chose, or else the browser's, or else the one of most people in their company.
fn zone(headers: &HeaderMap, session: Option<&Session>) -> Zone {
    let chosen = session.and_then(|session| session.user.time_zone.as_deref());
    let of_browser = cookie::value(headers, cookie::ZONE);
    let of_company = session.and_then(|session| session.company_zone.as_deref());
    let known = [chosen, of_browser, of_company].into_iter().flatten();
    known.filter(|name| name.len() <= LONGEST_ZONE).find_map(Zone::find).unwrap_or_else(|| Zone::named(""))
}

impl Person {
    fn of(request: &HttpRequest) -> Result<Self> {
        Visitor::of(request)?.person.ok_or(Error::Forbidden)
    }

    /// The person's name in the record of changes.
    pub(super) fn who(&self) -> Who {
        self.origin.who(&self.signed_in.user.email)
    }

    /// Whether the person is an operator, who sees every company.
    pub(super) const fn is_operator(&self) -> bool {
        self.signed_in.user.is_operator
    }

    /// Whether the person sees the conversations of the chosen company and nothing else of it.
    pub(super) fn is_agent(&self) -> bool {
        self.company.as_ref().is_some_and(|company| !company.role.sees_company())
    }

    /// A time to the minute, in the person's zone and language.
    pub(super) fn minute(&self, at: Timestamp) -> String {
        self.zone.minute(at, self.text.0)
    }
}

impl Viewer {
    /// Whether the person may do what members do: sends, contacts, pairing.
    pub(super) fn may_work(&self) -> bool {
        matches!(self.company.role, Role::Owner | Role::Member)
    }

    /// Whether the person answers conversations.
    pub(super) fn may_answer(&self) -> bool {
        self.company.role.answers()
    }

    /// Whether the person may do everything in the company.
    pub(super) fn is_owner(&self) -> bool {
        self.company.role == Role::Owner
    }
}

impl Deref for Viewer {
    type Target = Person;

    fn deref(&self) -> &Person {
        &self.person
    }
}

argument!(Visitor, Error, Visitor::of);

argument!(Person, Error, Person::of);

argument!(Viewer, Error, |request: &HttpRequest| {
    let person = Person::of(request)?;
    let company = person.company.clone().ok_or(Error::Forbidden)?;
    Ok(Self { person, company })
});

#[cfg(test)]
mod example {
    use std::net::{IpAddr, Ipv4Addr};

    use super::{
        Company, Language, Look, Origin, Person, Role, Session, Text, Timestamp, Uuid, Viewer, Zone,
    };
    use crate::accounts::User;

    impl Viewer {
        /// A person with this role in a company, for tests of parts of pages.
        pub(crate) fn example(role: Role) -> Self {
            let (id, at) = (Uuid::nil(), Timestamp::from_millis(0));
            let user = User {
                id,
                email: "ana@example.com".to_owned(),
                name: "Ana".to_owned(),
                language: None,
                time_zone: None,
                is_operator: false,
                has_password: true,
                has_totp: false,
                disabled_at: None,
                created_at: at,
                credentials_version: 1,
                vouched_by: None,
                phone_number: None,
                last_sign_in_at: None,
            };
            let signed_in = Session {
                id,
                user,
                company: None,
                look: Look::default(),
                own_role: None,
                company_zone: None,
                is_curbed: false,
                created_at: at,
                last_used_at: at,
                address: "127.0.0.1".to_owned(),
                browser: String::new(),
                token_company_id: None,
            };
            let company = Company { id, name: "Acme".to_owned(), role, look: Look::default() };
            let person = Person {
                signed_in,
                session: id,
                text: Text(Language::English),
                zone: Zone::named(""),
                company: Some(company.clone()),
                origin: Origin::new(IpAddr::V4(Ipv4Addr::LOCALHOST), ""),
                unread: None,
            };
            Self { person, company }
        }
    }
}
