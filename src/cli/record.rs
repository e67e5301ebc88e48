//! The commands that open the database, do one thing, and end: their tree, and what each calls.

use clap::Subcommand;

use super::session::Session;
use super::{
    argument, channel, channel_webhook, cluster, company, contacts, key, operator, pairing, plan, prices,
    secrets, suppression, template, tier, user, webhook,
};
use crate::app::Secrecy;

/// The commands that open the database, do one thing, and end.
#[derive(Debug, Subcommand)]
pub(super) enum Record {
    /// Companies, to which everything belongs
    #[command(subcommand)]
    Company(Company),
    /// API keys of a company
    #[command(subcommand)]
    Key(Key),
    /// Channels: business accounts and web sessions
    #[command(subcommand)]
    Channel(Channel),
    /// Message templates of a business account
    #[command(subcommand)]
    Template(Template),
    /// Contacts of a company, from and to files
    #[command(subcommand)]
    Contacts(Contacts),
    /// Suppressions: numbers that a company's sends skip
    #[command(subcommand)]
    Suppression(Suppression),
    /// Webhook endpoints: addresses to which the events of a company are sent
    #[command(subcommand)]
    Webhook(Webhook),
    /// Tiers: named sets of rates and quotas
    #[command(subcommand)]
    Tier(Tier),
    /// Predict a send and its duration under each tier, or active sends under changed tiers, without sending
    Plan(plan::Plan),
    /// Prices: the provider's published rate cards, by which costs are estimated
    #[command(subcommand)]
    Prices(Prices),
    /// Operators, who may change tiers and channels over HTTP
    #[command(subcommand)]
    Operator(Operator),
    /// Users: people who sign in to the console
    #[command(subcommand)]
    User(User),
    /// Keys that seal tokens and other secrets in the database
    #[command(subcommand)]
    Secrets(Secrets),
    /// Nodes: services that share the work on one PostgreSQL database
    #[command(subcommand)]
    Cluster(cluster::Command),
}

impl Record {
    /// Whether the command seals or opens secrets.
    pub(super) const fn secrecy(&self) -> Secrecy {
        match self {
            Self::Channel(Channel::AddBusiness(_) | Channel::Reconnect(_) | Channel::Webhook(_))
            | Self::Template(Template::Sync(_))
            | Self::Webhook(Webhook::Add(_) | Webhook::Change(_) | Webhook::RotateSecret(_))
            | Self::Secrets(_) => Secrecy::Keys,
            Self::Channel(
                Channel::AddWeb(_)
                | Channel::List(_)
                | Channel::Show(_)
                | Channel::Pair(_)
                | Channel::Unlink(_)
                | Channel::SetTier(_),
            )
            | Self::Template(Template::List(_))
            | Self::Company(_)
            | Self::Key(_)
            | Self::Contacts(_)
            | Self::Suppression(_)
            | Self::Webhook(
                Webhook::List(_)
                | Webhook::Show(_)
                | Webhook::Enable(_)
                | Webhook::Disable(_)
                | Webhook::Delete(_)
                | Webhook::SendAgain(_)
                | Webhook::Deliveries(_),
            )
            | Self::Tier(_)
            | Self::Plan(_)
            | Self::Prices(_)
            | Self::Operator(_)
            // Only a person's own second factor is sealed, in the console.
            | Self::User(_)
            | Self::Cluster(_) => Secrecy::NoKeys,
        }
    }
}

/// Writes the commands of each noun, and the function that carries out a command.
macro_rules! commands {
    ($($noun:ident {$(
        $(#[$about:meta])+
        $command:ident $(($arguments:ident: $module:ident::$kind:ident))? => $room:ident::$carry_out:ident;
    )+})+) => {
        $(
            #[derive(Debug, Subcommand)]
            pub(super) enum $noun {$(
                $(#[$about])+
                $command $(($module::$kind))?,
            )+}
        )+

        /// Carries out the command.
        pub(super) async fn run(session: &Session, command: Record) -> anyhow::Result<()> {
            match command {
                $($(
                    Record::$noun($noun::$command $(($arguments))?) =>
                        $room::$carry_out(session $(, $arguments)?).await,
                )+)+
                Record::Plan(arguments) => plan::run(session, arguments).await,
                Record::Cluster(command) => cluster::run(session, command).await,
            }
        }
    };
}

commands! {
    Company {
        /// Add a company
        Create(arguments: company::Create) => company::create;
        /// List the companies
        List => company::list;
        /// Give a company another name
        Rename(arguments: company::Rename) => company::rename;
        /// Keep a company's people and programs out, and pause its sends
        Disable(arguments: company::Disable) => company::disable;
        /// Set the country in which a company's contacts have their numbers
        SetCountry(arguments: company::SetCountry) => company::set_country;
        /// Set a company's tier, which its new channels begin with and which limits its API requests; its channels keep theirs
        SetTier(arguments: company::SetTier) => company::set_tier;
    }

    Key {
        /// Create a key, which is shown only once
        Create(arguments: key::Create) => key::create;
        /// List the keys, without the keys themselves
        List(arguments: argument::MaybeOfCompany) => key::list;
        /// Revoke a key; running services refuse it within `engine.watch_interval`, 250 ms unless set
        Revoke(arguments: key::Revoke) => key::revoke;
    }

    Channel {
        /// Add a number of a WhatsApp Business account
        AddBusiness(arguments: channel::AddBusiness) => channel::add_business;
        /// Add a linked device on WhatsApp Web
        AddWeb(arguments: channel::AddWeb) => channel::add_web;
        /// List the channels and their state
        List(arguments: argument::MaybeOfCompany) => channel::list;
        /// Show a channel
        Show(arguments: channel::Show) => channel::show;
        /// Connect a channel again, with a new access token if the provider refuses the old one
        Reconnect(arguments: channel::Reconnect) => channel::reconnect;
        /// Link a web session to a phone, with a QR code or a code to type; needs a running service
        Pair(arguments: pairing::Pair) => pairing::pair;
        /// Unlink a web session's phone and delete its keys; needs a running service
        Unlink(arguments: pairing::Unlink) => pairing::unlink;
        /// Put a channel under another tier; a running service applies it within a second
        SetTier(arguments: channel::SetTier) => channel::set_tier;
        /// Show what to enter at the provider for webhooks, and set the app secret that signs them
        Webhook(arguments: channel_webhook::Webhook) => channel_webhook::show;
    }

    Template {
        /// Fetch the templates of a channel's business account from the provider
        Sync(arguments: template::Sync) => template::sync;
        /// List the templates of a company, whatever their status
        List(arguments: argument::OfCompany) => template::list;
    }

    Contacts {
        /// Add and update contacts from a CSV or Excel file
        Import(arguments: contacts::Import) => contacts::import;
        /// Write all contacts as CSV, in a form that can be imported again
        Export(arguments: contacts::Export) => contacts::export;
    }

    Suppression {
        /// List the suppressed numbers, and those whose marketing messages are held for a while
        List(arguments: argument::OfCompany) => suppression::list;
        /// Suppress marketing to a number; a running service applies it within a second
        Add(arguments: suppression::Add) => suppression::add;
        /// Remove the suppression of a number, so that it gets messages again
        Lift(arguments: suppression::Lift) => suppression::lift;
    }

    Webhook {
        /// List the endpoints and their state
        List(arguments: argument::MaybeOfCompany) => webhook::list;
        /// Show an endpoint
        Show(arguments: webhook::Show) => webhook::show;
        /// Add an endpoint; its secret is shown only once
        Add(arguments: webhook::Add) => webhook::add;
        /// Change settings of an endpoint; a running service applies them within a second
        Change(arguments: webhook::Change) => webhook::change;
        /// Send events to an endpoint again, those that waited first
        Enable(arguments: webhook::Enable) => webhook::enable;
        /// Send no events to an endpoint until it is enabled; they wait in the log
        Disable(arguments: webhook::Disable) => webhook::disable;
        /// Replace the secret of an endpoint; the new one is shown only once
        RotateSecret(arguments: webhook::RotateSecret) => webhook::rotate_secret;
        /// Delete an endpoint, with the log of its deliveries
        Delete(arguments: webhook::Delete) => webhook::delete;
        /// Send events of the log to an endpoint once more: those of some time, of some types, or those that failed
        SendAgain(arguments: webhook::SendAgain) => webhook::send_again;
        /// List the last requests to an endpoint, with what went wrong
        Deliveries(arguments: webhook::Deliveries) => webhook::deliveries;
    }

    Tier {
        /// List the tiers
        List => tier::list;
        /// Show a tier, option by option
        Show(arguments: tier::Show) => tier::show;
        /// Add and replace tiers from a file; running channels apply them within a second
        Apply(arguments: tier::Apply) => tier::apply;
        /// Set options of a tier and leave the others; running channels apply them within a second
        Set(arguments: tier::Set) => tier::set;
        /// Change a tier in your editor (VISUAL, EDITOR)
        Edit(arguments: tier::Edit) => tier::edit;
        /// Give a tier another name; channels and companies follow
        Rename(arguments: tier::Rename) => tier::rename;
        /// Delete a tier that no channel and no company uses
        Delete(arguments: tier::Delete) => tier::delete;
        /// Show the changes of tiers: person, time, before and after
        History(arguments: tier::History) => tier::history;
        /// Give a tier the options of an entry of its history
        Rollback(arguments: tier::Rollback) => tier::rollback;
    }

    Prices {
        /// List the rate cards
        List => prices::list;
        /// Print a rate card as a file that can be changed and applied
        Show(arguments: prices::Show) => prices::show;
        /// Add a rate card from a file, or replace the uploaded one of its date
        Apply(arguments: prices::Apply) => prices::apply;
        /// Remove an uploaded rate card
        Remove(arguments: prices::Remove) => prices::remove;
    }

    Operator {
        /// Create an operator's key, which is shown only once
        Create(arguments: operator::Create) => operator::create;
        /// List the operators, without their keys
        List => operator::list;
        /// Revoke an operator's key immediately
        Revoke(arguments: operator::Revoke) => operator::revoke;
    }

    User {
        /// Add a user, with a password or with a link to choose one
        Create(arguments: user::Create) => user::create;
        /// Create a link with which a person becomes a user; valid once, for a day
        Invite(arguments: user::Invite) => user::invite;
        /// List the users
        List => user::list;
        /// Keep a user from signing in, and end their sessions
        Disable(arguments: user::Disable) => user::disable;
        /// Create a link with which a user chooses a new password; valid once, for a day
        Reset(arguments: user::Reset) => user::reset;
        /// Create a link that signs a user in without a password; valid once, for a day
        SignIn(arguments: user::SignIn) => user::sign_in;
    }

    Secrets {
        /// List the sealing keys, without the keys themselves, and how much is sealed with each
        List => secrets::list;
        /// Seal everything with a new key while the service runs; the old key stays for older copies of the database
        Rotate => secrets::rotate;
        /// Remove former keys, with which nothing is sealed, from the key file
        Discard(arguments: secrets::Discard) => secrets::discard;
        /// Declare a key lost, so that the service starts without it
        Forget(arguments: secrets::Forget) => secrets::forget;
    }
}
