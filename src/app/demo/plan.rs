//! The companies and people of a demonstration, and the accounts that the simulated provider has for them.

use std::time::Duration;

use serde_json::{Value, json};

use super::people::{self, Sort};
use crate::domain::channel::Kind;
use simulator::{Account, Number, Seed, Template, WrittenContent, default_templates};

/// A token that the simulator refuses as expired.
const REFUSED_TOKEN: &str = "EXPIRED-demo-token";

/// A company to create.
pub(super) struct PlannedCompany {
    pub(super) name: &'static str,
    pub(super) waba_id: &'static str,
    /// The token that the simulator accepts for this account.
    pub(super) token: &'static str,
    pub(super) channels: &'static [PlannedChannel],
    /// The digits after the country code 999, which no country has, in the numbers of its contacts.
    pub(super) prefix: u8,
    /// Contacts without valid number, and contacts with the tag `vip`, before all others.
    pub(super) without_number: u32,
    pub(super) vip: u32,
    /// Contacts in all; `None` lets the caller choose.
    pub(super) contacts: Option<u32>,
}

/// A channel to create.
pub(super) struct PlannedChannel {
    pub(super) name: &'static str,
    pub(super) tier: &'static str,
    pub(super) number: Option<BusinessNumber>,
}

/// The fields that only business accounts have.
pub(super) struct BusinessNumber {
    pub(super) phone_number: &'static str,
    pub(super) phone_number_id: &'static str,
    pub(super) token: &'static str,
}

impl PlannedChannel {
    pub(super) const fn kind(&self) -> Kind {
        if self.number.is_some() { Kind::BusinessAccount } else { Kind::WebSession }
    }
}

/// A person who can sign in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Person {
    pub(super) email: &'static str,
    pub(super) name: &'static str,
}

/// The owner of the first company.
pub(super) const OWNER: Person = Person { email: "olga@acme.example", name: "Olga Owner" };
/// The operator.
pub(super) const OPERATOR: Person = Person { email: "otto@pombo.example", name: "Otto Operator" };

/// The token that the simulator accepts for the first company's numbers.
pub const GOOD_TOKEN: &str = "demo-token-of-acme";
const GLOBEX_TOKEN: &str = "demo-token-of-globex";
/// Numbers of nobody in the contacts, who write to every number.
const STRANGERS: std::ops::RangeInclusive<u64> = 999_900_000_001..=999_900_000_099;
/// The share of messages that people answer, and how soon.
pub(super) const ANSWERED: f64 = 0.15;
pub(super) const ANSWERED_WITHIN: Duration = Duration::from_secs(6);
/// How long after the start people begin to write, when the receiver of events hears it, too; and the time between two of
/// their messages.
const FIRST_GREETING: Duration = Duration::from_secs(2);
const BETWEEN_GREETINGS: Duration = Duration::from_millis(250);
/// The web session that `pombo demo phone` links.
pub(super) const PHONE: &str = "demo phone";

const fn business(
    name: &'static str,
    tier: &'static str,
    phone_number: &'static str,
    phone_number_id: &'static str,
    token: &'static str,
) -> PlannedChannel {
    PlannedChannel { name, tier, number: Some(BusinessNumber { phone_number, phone_number_id, token }) }
}

/// All companies.
pub(super) const COMPANIES: &[PlannedCompany] = &[
    PlannedCompany {
        name: "Acme",
        waba_id: "200000000000001",
        token: GOOD_TOKEN,
        channels: &[
            business("Sales", "high", "+999 100 000 001", "300000000000001", GOOD_TOKEN),
            business("Support", "standard", "+999 100 000 002", "300000000000002", GOOD_TOKEN),
            business("Old number", "standard", "+999 100 000 003", "300000000000003", REFUSED_TOKEN),
            PlannedChannel { name: "Shop phone", tier: "web-new", number: None },
            PlannedChannel { name: PHONE, tier: "web-warm", number: None },
        ],
        prefix: 1,
        without_number: 5,
        vip: 25,
        contacts: None,
    },
    PlannedCompany {
        name: "Globex",
        waba_id: "200000000000002",
        token: GLOBEX_TOKEN,
        channels: &[business("Main", "standard", "+999 200 000 001", "300000000000004", GLOBEX_TOKEN)],
        prefix: 2,
        without_number: 0,
        vip: 0,
        contacts: Some(12),
    },
];

/// The people who wrote to the company today, so that it may send them texts: everybody with the tag `vip`, and strangers
/// to try with.
fn writers(company: &PlannedCompany) -> impl Iterator<Item = String> {
    let vips = company.without_number..company.without_number + company.vip;
    let vips = vips.filter_map(|index| people::person(company.prefix, index, Sort::Vip).phone());
    vips.map(|number| number.to_string()).chain(STRANGERS.map(|number| number.to_string()))
}

/// What people answer: all sorts of things, but nobody opts out by chance.
pub(super) fn answers() -> Vec<WrittenContent> {
    let stop = WrittenContent::Text("Stop".to_owned());
    WrittenContent::varied().into_iter().filter(|content| *content != stop).collect()
}

/// What people write at the start, so that the service knows, too, that it may send them texts: the first of the strangers to
/// every number, and of the first `contacts` contacts those with the tag `vip` to the first number of their company.
pub(super) fn greetings(contacts: u32) -> Value {
    let said = [
        json!({ "text": "Hello, do you open on Sunday?" }),
        json!({ "image": { "caption": "Do you have this one in blue?" } }),
        json!({ "text": "Oi! Vocês entregam em casa?" }),
        json!({ "location": { "latitude": -23.5614, "longitude": -46.6559, "name": "Padaria Sol" } }),
        json!({ "text": "¿Cuánto cuesta el envío?" }),
        json!({ "voice": {} }),
        json!({ "text": "I will take two. How can I pay?" }),
    ];
    let mut all = Vec::new();
    let mut write = |number: &BusinessNumber, from: String, name: Option<String>| {
        let after = FIRST_GREETING + BETWEEN_GREETINGS * u32::try_from(all.len()).unwrap_or(0);
        let mut inbound = said[all.len() % said.len()].clone();
        inbound["phone_number_id"] = number.phone_number_id.into();
        inbound["from"] = from.into();
        inbound["name"] = name.into();
        let after = format!("{}ms", after.as_millis());
        all.push(json!({ "webhook": { "inbound": inbound, "after": after } }));
    };
    for company in COMPANIES {
        let numbers: Vec<_> = company.channels.iter().filter_map(|channel| channel.number.as_ref()).collect();
        for number in numbers.iter().copied() {
            write(number, STRANGERS.start().to_string(), None);
        }
        let own = company.contacts.unwrap_or(contacts);
        let vips = company.without_number..(company.without_number + company.vip).min(own);
        let vips = vips.map(|index| people::person(company.prefix, index, Sort::Vip));
        let written = vips.filter_map(|person| Some((person.phone()?, person.first_name)));
        for ((phone, name), number) in written.zip(numbers.first().copied().into_iter().cycle()) {
            write(number, phone.to_string(), Some(name));
        }
    }
    all.into()
}

/// The same companies at the simulated provider: Acme's templates in every state, and one template of Globex.
pub(super) fn simulator_seed() -> Seed {
    let accounts = COMPANIES.iter().map(|company| Account {
        waba_id: company.waba_id.to_owned(),
        tokens: vec![company.token.to_owned()],
        numbers: company
            .channels
            .iter()
            .filter_map(|channel| channel.number.as_ref())
            .map(|number| Number {
                written_by: writers(company).collect(),
                ..Number::new(number.phone_number_id, number.phone_number)
            })
            .collect(),
        templates: if company.contacts.is_none() {
            default_templates()
        } else {
            let body = json!([{ "type": "BODY", "text": "Welcome to Globex." }]);
            vec![Template::new("globex_welcome", "en_US", body)]
        },
    });
    Seed { accounts: accounts.collect() }
}
