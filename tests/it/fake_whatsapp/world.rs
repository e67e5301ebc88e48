//! The people on WhatsApp, and the events there.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use whatsapp_rust::wacore_binary::{Jid, Node, Server};

use super::companion::{Companion, Line};
use super::message::SentMessage;
use super::pairing::{CodeLink, Engagement};
use super::passkey::{Gate, Passkey};
use super::refusal::Refusal;
use super::signal::SignalPhone;

/// The whole state of the server. It changes only under the lock of [`super::server::Server`].
#[derive(Default)]
pub(super) struct World {
    /// By number.
    pub(super) accounts: BTreeMap<String, Account>,
    /// People on WhatsApp whose phones no test controls.
    pub(super) people: Vec<Person>,
    /// The numbers of each group's members, by its id.
    pub(super) groups: HashMap<String, Vec<String>>,
    /// The codes that were offered as QR, and their devices' connections.
    pub(super) offered: HashMap<String, Line>,
    /// Devices that wait until a person types a pairing code, by number.
    pub(super) code_links: HashMap<String, CodeLink>,
    /// Devices that have to show an account's passkey, by the account's number.
    pub(super) gates: HashMap<String, Gate>,
    /// Devices that a phone has accepted and that have not signed yet, by connection.
    pub(super) engagements: HashMap<u64, Engagement>,
    pub(super) sent: Vec<SentMessage>,
    pub(super) receipts: Vec<HeardReceipt>,
    /// The numbers of the accounts whose devices showed that somebody types.
    pub(super) typing: Vec<String>,
    /// The numbers of all lookups, each time.
    pub(super) looked_up: Vec<String>,
    /// All connections that are up.
    pub(super) lines: HashMap<u64, Line>,
    /// Devices that log in are refused.
    pub(super) refusal: Option<Refusal>,
    /// Requests for a pairing code are refused with this code and text.
    pub(super) code_refusal: Option<(u16, &'static str)>,
    /// No client gets any answer.
    pub(super) is_silent: bool,
    /// The requests so far, in short.
    pub(super) queries: Vec<String>,
    /// Stanzas that the server did not understand, or could not read.
    pub(super) faults: Vec<String>,
}

/// A person with a number.
#[derive(Clone)]
pub(super) struct Person {
    pub(super) number: String,
    /// The address that hides the number, without its server.
    pub(super) lid: String,
    pub(super) phone: SignalPhone,
    /// Another way to write the number, under which it is found too.
    pub(super) alias: Option<String>,
}

impl Person {
    pub(super) fn new(number: &str) -> Self {
        let lid = format!("1{number:0>14}");
        Self { number: number.to_owned(), lid, phone: SignalPhone::new(), alias: None }
    }

    fn is(&self, jid: &Jid) -> bool {
        let user = jid.user.as_str();
        if jid.server == Server::Lid { self.lid == user } else { self.number == user }
    }
}

/// A person whose phone a test controls, with its linked devices.
pub(super) struct Account {
    pub(super) person: Person,
    /// By the number of the device.
    pub(super) devices: BTreeMap<u16, Companion>,
    /// The number of the newest device.
    pub(super) last_device: u16,
    /// The passkey that protects it beside the code, if any.
    pub(super) passkey: Option<Passkey>,
    /// Whether it is a business with hosted devices, whose signatures differ.
    pub(super) is_hosted: bool,
    /// Its devices are refused when they log in.
    pub(super) refusal: Option<Refusal>,
    /// Its next messages are refused with these codes.
    pub(super) nacks: VecDeque<u16>,
    /// Its messages get no answer.
    pub(super) withholds_acks: bool,
    /// The withheld answers to its messages, with their connections.
    pub(super) withheld: Vec<(Line, Node)>,
    /// Pairing codes were typed that the device had not shown.
    pub(super) wrong_codes: u32,
}

impl Account {
    pub(super) fn new(number: &str) -> Self {
        Self {
            person: Person::new(number),
            devices: BTreeMap::new(),
            last_device: 0,
            passkey: None,
            is_hosted: false,
            refusal: None,
            nacks: VecDeque::new(),
            withholds_acks: false,
            withheld: Vec::new(),
            wrong_codes: 0,
        }
    }

    /// The addresses of a device: the one with the number, and the one that hides it.
    pub(super) fn addresses(&self, device: u16) -> (Jid, Jid) {
        let Person { number, lid, .. } = &self.person;
        (Jid::pn_device(number.as_str(), device), Jid::lid_device(lid.as_str(), device))
    }
}

/// A linked device: the account's number and its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DeviceName {
    pub(super) number: String,
    pub(super) device: u16,
}

impl DeviceName {
    /// The address under which everyone keeps their session with it, however it was addressed.
    pub(super) fn address(&self) -> Jid {
        Jid::pn_device(self.number.as_str(), self.device)
    }
}

/// A receipt that a device sent for a message that it got.
pub(super) struct HeardReceipt {
    pub(super) number: String,
    pub(super) id: String,
    /// Whether it says that the message was read.
    pub(super) is_read: bool,
}

impl World {
    /// The person behind an address, whether it hides the number or not.
    pub(super) fn person(&self, jid: &Jid) -> Option<&Person> {
        let accounts = self.accounts.values().map(|account| &account.person);
        accounts.chain(&self.people).find(|person| person.is(jid))
    }

    /// The person whom a lookup finds by a number.
    pub(super) fn find(&self, number: &str) -> Option<&Person> {
        let alias = self.people.iter().find(|person| person.alias.as_deref() == Some(number));
        alias.or_else(|| self.person(&Jid::pn(number)))
    }

    pub(super) fn account(&mut self, number: &str) -> &mut Account {
        self.accounts.get_mut(number).unwrap_or_else(|| panic!("no phone has the number {number}"))
    }

    pub(super) fn companion(&mut self, name: &DeviceName) -> Option<&mut Companion> {
        self.accounts.get_mut(&name.number)?.devices.get_mut(&name.device)
    }

    /// Sends something to all devices of an account.
    pub(super) fn deliver(&mut self, number: &str, stanza: &Node) {
        for companion in self.account(number).devices.values_mut() {
            companion.deliver(stanza.clone());
        }
    }

    /// The connections of an account's devices.
    pub(super) fn lines_of(&self, number: &str) -> Vec<Line> {
        let devices = self.accounts.get(number).into_iter().flat_map(|account| account.devices.values());
        devices.filter_map(|companion| companion.line.clone()).collect()
    }

    /// Removes a connection that ended.
    pub(super) fn forget(&mut self, id: u64) {
        self.lines.remove(&id);
        self.offered.retain(|_, line| line.id != id);
        self.code_links.retain(|_, link| link.line.id != id);
        self.gates.retain(|_, gate| gate.line.id != id);
        self.engagements.remove(&id);
        for companion in self.accounts.values_mut().flat_map(|account| account.devices.values_mut()) {
            if companion.line.as_ref().is_some_and(|line| line.id == id) {
                companion.line = None;
                companion.is_active = false;
                companion.mail.iter_mut().for_each(|mail| mail.is_sent = false);
            }
        }
    }

    /// The events so far, for a test whose wait timed out.
    pub(super) fn summary(&self) -> String {
        let mut numbers = BTreeSet::new();
        let mut seen = HashSet::new();
        for account in self.accounts.values() {
            let devices = account.devices.values();
            let online = devices.filter(|companion| companion.is_active).count();
            numbers.insert(format!(
                "{} ({} devices, {online} online)",
                account.person.number,
                account.devices.len()
            ));
        }
        let messages: Vec<String> =
            self.sent.iter().map(|message| format!("{} to {}", message.id, message.to)).collect();
        let queries: Vec<&String> = self.queries.iter().filter(|query| seen.insert(query.as_str())).collect();
        format!(
            "accounts {numbers:?}, {} connections, messages {messages:?}, queries {queries:?}, faults {:?}",
            self.lines.len(),
            self.faults
        )
    }
}
