//! Endpoints that get Meta's webhooks instead of Pombo's events: what their receivers understand, and which channels and
//! accounts of the company they hear of.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

use crate::event::{Data, Event, Type};
use crate::words::{UnknownWord, words};

/// What has a form among Meta's webhooks.
const META: &[Type] = &[
    Type::MessageSent,
    Type::MessageDelivered,
    Type::MessageRead,
    Type::MessageFailed,
    Type::MessageExpired,
    Type::MessageCanceled,
    Type::MessageSuppressed,
    Type::SendCanceled,
    Type::SendExpired,
    Type::ChannelConnected,
    Type::ChannelDisconnected,
    Type::ChannelBlocked,
    Type::MessageReceived,
    Type::MessageReaction,
    Type::MessageEdited,
    Type::MessageDeleted,
    Type::MessageEcho,
    Type::TemplateApproved,
    Type::TemplateRejected,
    Type::TemplatePaused,
    Type::TemplateDisabled,
    Type::TemplateCategoryChanged,
    Type::TemplateQualityChanged,
    Type::ProviderNotice,
];
/// The statuses and messages that every receiver knows.
const STRICT: &[Type] = &[
    Type::MessageSent,
    Type::MessageDelivered,
    Type::MessageRead,
    Type::MessageFailed,
    Type::MessageExpired,
    Type::MessageCanceled,
    Type::MessageSuppressed,
    Type::SendCanceled,
    Type::SendExpired,
    Type::MessageReceived,
    Type::MessageReaction,
];
/// The same, with what the company wrote elsewhere.
const CHATWOOT: &[Type] = &[
    Type::MessageSent,
    Type::MessageDelivered,
    Type::MessageRead,
    Type::MessageFailed,
    Type::MessageExpired,
    Type::MessageCanceled,
    Type::MessageSuppressed,
    Type::SendCanceled,
    Type::SendExpired,
    Type::MessageReceived,
    Type::MessageReaction,
    Type::MessageEcho,
];
/// The types of messages that every receiver reads. A body with any other is refused by some as a whole.
const STRICT_MESSAGES: &[&str] = &[
    "text",
    "button",
    "interactive",
    "image",
    "video",
    "audio",
    "document",
    "location",
    "reaction",
    "sticker",
    "contacts",
    "unsupported",
];

/// What the receiver of an endpoint of the shape `graph` understands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum WebhookProfile {
    /// Everything that Meta sends.
    #[default]
    Meta,
    /// The types that every receiver knows; any other message is `unsupported`.
    Strict,
    /// The same, with echoes of what the company wrote elsewhere, and reactions as texts.
    Chatwoot,
}

words!(WebhookProfile { Meta = "meta", Strict = "strict", Chatwoot = "chatwoot" });

impl WebhookProfile {
    /// The types of events that have a form for such receivers, in the order of [`Type::ALL`].
    pub const fn types(self) -> &'static [Type] {
        match self {
            Self::Meta => META,
            Self::Strict => STRICT,
            Self::Chatwoot => CHATWOOT,
        }
    }

    /// Whether such receivers know messages of this type, in Meta's words. Any other is told as `unsupported`.
    pub fn knows(self, message: &str) -> bool {
        self == Self::Meta || STRICT_MESSAGES.contains(&message)
    }

    /// Whether a reaction is told as a text that answers the message.
    pub const fn has_reactions_as_texts(self) -> bool {
        matches!(self, Self::Chatwoot)
    }
}

/// For what a program set an endpoint at the door that speaks Graph. A company has at most one for each.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SetFor {
    /// A number: the channel.
    Number(Uuid),
    /// A business account, by its id at the provider; `None` for the web sessions of the company together.
    Account(Option<String>),
    /// All channels of the company.
    App,
}

impl SetFor {
    /// Its word for people: `number`, `account` or `app`.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Number(_) => "number",
            Self::Account(_) => "account",
            Self::App => "app",
        }
    }

    /// Whether nothing is left of what it was set for, when `left` are the channels of the company. `bound` are those to which the
    /// endpoint is bound, all when there are none: for the app as a whole, there need not be any.
    pub fn is_orphan(&self, bound: &[Uuid], left: &[InAccount]) -> bool {
        let is_its = |(id, account): &InAccount| {
            let is_meant = match self {
                Self::Number(channel) => id == channel,
                Self::Account(own) => account == own,
                Self::App => true,
            };
            is_meant && (bound.is_empty() || bound.contains(id))
        };
        let is_of_all = *self == Self::App && bound.is_empty();
        !is_of_all && !left.iter().any(is_its)
    }
}

impl fmt::Display for SetFor {
    /// As it is stored.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(channel) => write!(f, "number:{channel}"),
            Self::Account(account) => write!(f, "account:{}", account.as_deref().unwrap_or_default()),
            Self::App => f.write_str("app"),
        }
    }
}

impl FromStr for SetFor {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let unknown = || UnknownWord(text.to_owned());
        match text.split_once(':') {
            Some(("number", channel)) => Ok(Self::Number(Uuid::try_parse(channel).map_err(|_| unknown())?)),
            Some(("account", "")) => Ok(Self::Account(None)),
            Some(("account", id)) => Ok(Self::Account(Some(id.to_owned()))),
            None if text == "app" => Ok(Self::App),
            _ => Err(unknown()),
        }
    }
}

/// A channel with the account that it is in: the provider's id; `None` for a web session.
pub type InAccount = (Uuid, Option<String>);

/// The channels and accounts whose events an endpoint of the shape `graph` gets. By default it gets all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GraphReach {
    /// Only these channels; all when `None`.
    only: Option<Vec<Uuid>>,
    /// None of these, which have endpoints of their own.
    except: Vec<Uuid>,
    /// Only these accounts; all when `None`.
    accounts: Option<Vec<String>>,
    /// None of these, which have endpoints of their own.
    except_accounts: Vec<String>,
}

impl GraphReach {
    /// The reach of an endpoint that was set for this, or that a person added. `channels` are those to which it is bound, all when
    /// there are none; `all` are those of the company, and `others` are the other enabled endpoints that programs set, each with the
    /// channels to which it is bound.
    ///
    /// One that a program set gives way to one for less: that for an account to those for its numbers, that for the app to
    /// both. One that a person added gives way to none.
    pub fn of(
        set_for: Option<&SetFor>,
        channels: &[Uuid],
        all: &[InAccount],
        others: &[(&SetFor, &[Uuid])],
    ) -> Self {
        let is_bound = !channels.is_empty();
        let is_own = |id: &Uuid| !is_bound || channels.contains(id);
        let bound_to = is_bound.then(|| channels.to_vec());
        let own = || all.iter().filter(move |(id, _)| is_own(id));
        let own_accounts = is_bound.then(|| own().filter_map(|(_, account)| account.clone()).collect());
        let mut except = Vec::new();
        let mut taken = Vec::new();
        for (other, bound) in others {
            match other {
                SetFor::Number(channel) => except.push(*channel),
                SetFor::Account(account) => taken.push((account, *bound)),
                SetFor::App => {}
            }
        }
        // What is bound to some numbers of its account leaves the others to the app.
        let is_taken = |id: &Uuid, of: &Option<String>| {
            taken.iter().any(|(account, bound)| *account == of && (bound.is_empty() || bound.contains(id)))
        };
        match set_for {
            None => Self { only: bound_to, accounts: own_accounts, ..Self::default() },
            Some(SetFor::Number(channel)) => {
                Self { only: Some(vec![*channel]), accounts: Some(Vec::new()), ..Self::default() }
            }
            Some(SetFor::Account(account)) => {
                let only = own().filter(|(_, of)| of == account).map(|(id, _)| *id).collect();
                let accounts = Some(account.iter().cloned().collect());
                Self { only: Some(only), except, accounts, except_accounts: Vec::new() }
            }
            Some(SetFor::App) => {
                except.extend(all.iter().filter(|(id, of)| is_taken(id, of)).map(|(id, _)| *id));
                let except_accounts = taken.iter().filter_map(|(account, _)| (*account).clone()).collect();
                Self { only: bound_to, except, accounts: own_accounts, except_accounts }
            }
        }
    }

    /// Whether this event is within it. A template belongs to an account, everything else to a channel.
    pub fn has(&self, event: &Event) -> bool {
        if let Data::Template(template) = &event.data {
            let is_in = |accounts: &[String]| accounts.contains(&template.waba_id);
            return self.accounts.as_deref().is_none_or(is_in) && !is_in(&self.except_accounts);
        }
        let Some(channel) = event.channel_id else { return false };
        let is_chosen = self.only.as_ref().is_none_or(|only| only.contains(&channel));
        is_chosen && !self.except.contains(&channel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::log::Sequence;
    use crate::event::{ChannelData, TemplateData, VERSION};
    use clock::Timestamp;

    const ONE: Uuid = Uuid::from_u128(1);
    const TWO: Uuid = Uuid::from_u128(2);
    const SESSION: Uuid = Uuid::from_u128(3);

    fn event(channel_id: Option<Uuid>, data: Data) -> Event {
        Event {
            version: VERSION,
            id: "x".to_owned(),
            r#type: Type::ChannelConnected,
            sequence: Sequence::default(),
            at: Timestamp::from_millis(0),
            company_id: Uuid::nil(),
            channel_id,
            data,
        }
    }

    fn of_channel(id: Uuid) -> Event {
        event(Some(id), Data::Channel(ChannelData { reason: None }))
    }

    fn of_account(id: &str) -> Event {
        let template = TemplateData {
            template_id: 1,
            waba_id: id.to_owned(),
            name: "x".to_owned(),
            language: "en".to_owned(),
            old: None,
            new: "APPROVED".to_owned(),
            reason: None,
        };
        event(None, Data::Template(template))
    }

    /// Which of the three channels and of the two accounts an endpoint hears of.
    fn heard(set_for: Option<&SetFor>, channels: &[Uuid], others: &[&SetFor]) -> [bool; 5] {
        let [red, blue] = ["10", "20"].map(|id| Some(id.to_owned()));
        let all = [(ONE, red), (TWO, blue), (SESSION, None)];
        let others: Vec<(&SetFor, &[Uuid])> = others.iter().map(|other| (*other, &[][..])).collect();
        let reach = GraphReach::of(set_for, channels, &all, &others);
        let [one, two, session] = [ONE, TWO, SESSION].map(|id| reach.has(&of_channel(id)));
        [one, two, session, reach.has(&of_account("10")), reach.has(&of_account("20"))]
    }

    #[test]
    fn what_a_program_sets_for_less_goes_before_what_it_sets_for_more() {
        let (number, account) = (SetFor::Number(ONE), SetFor::Account(Some("10".to_owned())));
        let sessions = SetFor::Account(None);
        assert_eq!(heard(Some(&SetFor::App), &[], &[]), [true; 5]);
        assert_eq!(heard(Some(&SetFor::App), &[], &[&account]), [false, true, true, false, true]);
        assert_eq!(heard(Some(&SetFor::App), &[], &[&number, &sessions]), [false, true, false, true, true]);
        assert_eq!(heard(Some(&account), &[], &[&SetFor::App]), [true, false, false, true, false]);
        assert_eq!(heard(Some(&account), &[], &[&number]), [false, false, false, true, false]);
        assert_eq!(heard(Some(&sessions), &[], &[]), [false, false, true, false, false]);
        assert_eq!(heard(Some(&number), &[], &[&account, &SetFor::App]), [true, false, false, false, false]);
    }

    #[test]
    fn what_a_person_adds_gives_way_to_nothing() {
        let others = [&SetFor::Number(ONE), &SetFor::App];
        assert_eq!(heard(None, &[], &others), [true; 5]);
        assert_eq!(heard(None, &[TWO], &others), [false, true, false, false, true]);
    }

    #[test]
    fn what_a_key_of_some_channels_sets_is_bound_to_them() {
        assert_eq!(heard(Some(&SetFor::App), &[TWO], &[]), [false, true, false, false, true]);
        let account = SetFor::Account(Some("10".to_owned()));
        assert_eq!(heard(Some(&account), &[TWO], &[])[..3], [false; 3]);
        let red = Some("10".to_owned());
        let (all, bound) = ([(ONE, red.clone()), (TWO, red)], [TWO]);
        let reach = GraphReach::of(Some(&SetFor::App), &[], &all, &[(&account, &bound[..])]);
        assert_eq!([ONE, TWO].map(|id| reach.has(&of_channel(id))), [true, false], "the other is the app's");
    }

    #[test]
    fn what_was_set_for_channels_is_an_orphan_without_the_last_of_them() {
        let (red, left) = (Some("10".to_owned()), [(TWO, Some("10".to_owned()))]);
        for (set_for, bound, is_orphan) in [
            (SetFor::Number(ONE), &[][..], true),
            (SetFor::Number(TWO), &[], false),
            (SetFor::Account(red.clone()), &[], false),
            (SetFor::Account(red), &[ONE], true),
            (SetFor::Account(None), &[], true),
            (SetFor::App, &[ONE], true),
            (SetFor::App, &[ONE, TWO], false),
        ] {
            assert_eq!(set_for.is_orphan(bound, &left), is_orphan, "{set_for} {bound:?}");
        }
        assert!(!SetFor::App.is_orphan(&[], &[]), "the app is there without channels");
    }

    #[test]
    fn what_an_endpoint_is_set_for_is_read_as_it_is_stored() {
        for set_for in [
            SetFor::Number(ONE),
            SetFor::Account(None),
            SetFor::Account(Some("102290129340398".to_owned())),
            SetFor::App,
        ] {
            assert_eq!(set_for.to_string().parse(), Ok(set_for));
        }
        assert!("number:x".parse::<SetFor>().is_err() && "all".parse::<SetFor>().is_err());
    }

    #[test]
    fn each_profile_has_types_in_their_order_of_which_meta_has_all() {
        for profile in WebhookProfile::ALL {
            let types = profile.types();
            assert!(types.is_sorted() && types.iter().all(|one| META.contains(one)), "{profile}");
            assert!(profile.knows("text") && profile.knows("unsupported"));
        }
        assert!(WebhookProfile::Meta.knows("order") && !WebhookProfile::Strict.knows("order"));
    }
}
