//! The nouns of the store: a value for the rows of each, with a share of the store's connections.
//!
//! A noun of one company comes from [`Store::of`], so that no query can forget whose rows it reads. The nouns of the
//! [`Store`] itself are for work on every company: dispatch, upkeep, operators, sign-in. A noun borrows its store, so it is
//! made where it is used; a task that outlives its caller owns a clone of the store.

use uuid::Uuid;

use crate::Store;

/// The store, for the rows of one company.
#[derive(Clone, Copy, Debug)]
pub struct CompanyStore<'a> {
    pub(crate) store: &'a Store,
    pub(crate) company: Uuid,
}

impl Store {
    /// The same database, for the rows of this company.
    pub const fn of(&self, company: Uuid) -> CompanyStore<'_> {
        CompanyStore { store: self, company }
    }
}

/// Declares the nouns of a company: `door: Type`, with the sentence that describes both.
macro_rules! of_a_company {
    ($($(#[$doc:meta])+ $door:ident: $noun:ident;)+) => {
        $(
            $(#[$doc])+
            #[derive(Clone, Copy, Debug)]
            pub struct $noun<'a> {
                pub(crate) store: &'a Store,
                pub(crate) company: Uuid,
            }
        )+

        impl<'a> CompanyStore<'a> {
            $(
                $(#[$doc])+
                pub const fn $door(self) -> $noun<'a> {
                    $noun { store: self.store, company: self.company }
                }
            )+
        }
    };
}

/// Declares the nouns of every company, and of none.
macro_rules! of_all {
    ($($(#[$doc:meta])+ $door:ident: $noun:ident;)+) => {
        $(
            $(#[$doc])+
            #[derive(Clone, Copy, Debug)]
            pub struct $noun<'a> {
                pub(crate) store: &'a Store,
            }
        )+

        impl Store {
            $(
                $(#[$doc])+
                pub const fn $door(&self) -> $noun<'_> {
                    $noun { store: self }
                }
            )+
        }
    };
}

of_a_company! {
    /// The contacts of a company.
    contacts: Contacts;
    /// The search index of a company's contacts.
    index: ContactIndex;
    /// The tags of a company.
    tags: Tags;
    /// The filters of contacts that a company saved under names.
    segments: Segments;
    /// The notes on a company's contacts.
    contact_notes: ContactNotes;
    /// The own fields of a company's contacts.
    fields: OwnFields;
    /// The imports of a company's contacts.
    imports: Imports;
    /// The files that a company keeps.
    media: MediaFiles;
    /// The API keys of a company.
    keys: Keys;
    /// The channels of a company.
    channels: Channels;
    /// The recipients that a company's sends skip, and what it does with opt-out words.
    suppressions: Suppressions;
    /// What is known of the people behind a company's numbers.
    persons: Persons;
    /// The sends of a company.
    sends: Sends;
    /// The answers to a company's requests that are kept for their idempotency keys.
    answers: Answers;
    /// The templates of a company's business accounts.
    templates: Templates;
    /// The new sends that people of a company are writing.
    drafts: Drafts;
    /// The people who belong to a company.
    members: Members;
    /// The webhook endpoints of a company.
    webhooks: Webhooks;
    /// How many messages of a company arrived, by how the provider bills them.
    costs: Costs;
    /// Who of a company is told of what by e-mail.
    alerts: CompanyAlerts;
    /// How the pages of a company look.
    look: CompanyLook;
    /// The conversations of a company.
    conversations: Conversations;
    /// The files that people send to a company.
    inbound_files: InboundFiles;
    /// What a company answers by itself.
    automatic: CompanyAnswers;
    /// The texts that the people of a company answer with often.
    quick_replies: QuickReplies;
    /// The ids of a company at the door that speaks Graph.
    graph_ids: GraphIds;
    /// The programs that are connected to a company's channels.
    programs: ConnectedPrograms;
}

of_all! {
    /// The messages of a send, read with its [`SendSnapshot`](crate::sends::messages::SendSnapshot), which only its
    /// company gets.
    messages: Messages;
    /// What is done for the contacts of every company.
    contacts: AllContacts;
    /// The imports of every company, as their work goes on.
    imports: AllImports;
    /// The files of every company, as they are fetched and removed.
    media: AllMediaFiles;
    /// The API keys of every company.
    keys: AllKeys;
    /// The record of changes.
    changes: Changes;
    /// The channels of every company.
    channels: AllChannels;
    /// Every company.
    companies: Companies;
    /// The suppressions of every company.
    suppressions: AllSuppressions;
    /// The people behind the numbers of every company.
    persons: AllPersons;
    /// The sends of every company, as their channels carry them out.
    sends: AllSends;
    /// The templates of every company.
    templates: AllTemplates;
    /// The ledger: what was accepted, and the outcome of each message.
    ledger: Ledger;
    /// The lease, under which one process or one cluster sends.
    lease: Leases;
    /// The nodes of a cluster.
    nodes: Nodes;
    /// The notes that nodes leave for one another.
    notes: Notes;
    /// Which node has which channels and accounts.
    shards: Shards;
    /// The keys of operators.
    operators: Operators;
    /// The log of events, and its readers.
    event_log: EventLog;
    /// What is removed because it is old.
    retention: Retention;
    /// The values that are stored sealed.
    sealed: SealedValues;
    /// The proofs of the keys that seal values.
    sealing_keys: SealingKeys;
    /// Every tier.
    tiers: Tiers;
    /// The rate cards that operators uploaded.
    rate_cards: RateCards;
    /// The people who sign in.
    users: Users;
    /// Failed and guessed sign-ins.
    sign_ins: SignIns;
    /// Links that let a person in: invitations, and those that reset a password.
    links: Links;
    /// The sessions of people in the console, and the forms that are kept for them.
    sessions: Sessions;
    /// What channels keep as linked devices.
    web_sessions: WebSessions;
    /// How the pages of every company look.
    looks: Looks;
    /// The webhook endpoints of every company, as events are sent to them.
    webhooks: AllWebhooks;
    /// What people are told by e-mail, of every company.
    alerts: Alerts;
    /// The conversations of every company, as messages come and go.
    conversations: AllConversations;
    /// The files that people send to any company, as they are fetched and leave.
    inbound_files: AllInboundFiles;
    /// What every company answers by itself, as it becomes due.
    automatic: AutomaticAnswers;
}
