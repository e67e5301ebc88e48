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

#[derive(Debug, Subcommand)]
pub(super) enum Company {
    /// Add a company
    Create(company::Create),
    /// List the companies
    List,
    /// Give a company another name
    Rename(company::Rename),
    /// Keep a company's people and programs out, and pause its sends
    Disable(company::Disable),
    /// Set the country in which a company's contacts have their numbers
    SetCountry(company::SetCountry),
    /// Set a company's tier, which its new channels begin with and which limits its API requests; its channels keep theirs
    SetTier(company::SetTier),
}

#[derive(Debug, Subcommand)]
pub(super) enum Key {
    /// Create a key, which is shown only once
    Create(key::Create),
    /// List the keys, without the keys themselves
    List(argument::MaybeOfCompany),
    /// Revoke a key; running services refuse it within `engine.watch_interval`, 250 ms unless set
    Revoke(key::Revoke),
}

#[derive(Debug, Subcommand)]
pub(super) enum Channel {
    /// Add a number of a WhatsApp Business account
    AddBusiness(channel::AddBusiness),
    /// Add a linked device on WhatsApp Web
    AddWeb(channel::AddWeb),
    /// List the channels and their state
    List(argument::MaybeOfCompany),
    /// Show a channel
    Show(channel::Show),
    /// Connect a channel again, with a new access token if the provider refuses the old one
    Reconnect(channel::Reconnect),
    /// Link a web session to a phone, with a QR code or a code to type; needs a running service
    Pair(pairing::Pair),
    /// Unlink a web session's phone and delete its keys; needs a running service
    Unlink(pairing::Unlink),
    /// Put a channel under another tier; a running service applies it within a second
    SetTier(channel::SetTier),
    /// Show what to enter at the provider for webhooks, and set the app secret that signs them
    Webhook(channel_webhook::Webhook),
}

#[derive(Debug, Subcommand)]
pub(super) enum Template {
    /// Fetch the templates of a channel's business account from the provider
    Sync(template::Sync),
    /// List the templates of a company, whatever their status
    List(argument::OfCompany),
}

#[derive(Debug, Subcommand)]
pub(super) enum Contacts {
    /// Add and update contacts from a CSV or Excel file
    Import(contacts::Import),
    /// Write all contacts as CSV, in a form that can be imported again
    Export(contacts::Export),
}

#[derive(Debug, Subcommand)]
pub(super) enum Suppression {
    /// List the suppressed numbers, and those whose marketing messages are held for a while
    List(argument::OfCompany),
    /// Suppress marketing to a number; a running service applies it within a second
    Add(suppression::Add),
    /// Remove the suppression of a number, so that it gets messages again
    Lift(suppression::Lift),
}

#[derive(Debug, Subcommand)]
pub(super) enum Webhook {
    /// List the endpoints and their state
    List(argument::MaybeOfCompany),
    /// Show an endpoint
    Show(webhook::Show),
    /// Add an endpoint; its secret is shown only once
    Add(webhook::Add),
    /// Change settings of an endpoint; a running service applies them within a second
    Change(webhook::Change),
    /// Send events to an endpoint again, those that waited first
    Enable(webhook::Enable),
    /// Send no events to an endpoint until it is enabled; they wait in the log
    Disable(webhook::Disable),
    /// Replace the secret of an endpoint; the new one is shown only once
    RotateSecret(webhook::RotateSecret),
    /// Delete an endpoint, with the log of its deliveries
    Delete(webhook::Delete),
    /// Send events of the log to an endpoint once more: those of some time, of some types, or those that failed
    SendAgain(webhook::SendAgain),
    /// List the last requests to an endpoint, with what went wrong
    Deliveries(webhook::Deliveries),
}

#[derive(Debug, Subcommand)]
pub(super) enum Tier {
    /// List the tiers
    List,
    /// Show a tier, option by option
    Show(tier::Show),
    /// Add and replace tiers from a file; running channels apply them within a second
    Apply(tier::Apply),
    /// Set options of a tier and leave the others; running channels apply them within a second
    Set(tier::Set),
    /// Change a tier in your editor (VISUAL, EDITOR)
    Edit(tier::Edit),
    /// Give a tier another name; channels and companies follow
    Rename(tier::Rename),
    /// Delete a tier that no channel and no company uses
    Delete(tier::Delete),
    /// Show the changes of tiers: person, time, before and after
    History(tier::History),
    /// Give a tier the options of an entry of its history
    Rollback(tier::Rollback),
}

#[derive(Debug, Subcommand)]
pub(super) enum Prices {
    /// List the rate cards
    List,
    /// Print a rate card as a file that can be changed and applied
    Show(prices::Show),
    /// Add a rate card from a file, or replace the uploaded one of its date
    Apply(prices::Apply),
    /// Remove an uploaded rate card
    Remove(prices::Remove),
}

#[derive(Debug, Subcommand)]
pub(super) enum Operator {
    /// Create an operator's key, which is shown only once
    Create(operator::Create),
    /// List the operators, without their keys
    List,
    /// Revoke an operator's key immediately
    Revoke(operator::Revoke),
}

#[derive(Debug, Subcommand)]
pub(super) enum User {
    /// Add a user, with a password or with a link to choose one
    Create(user::Create),
    /// Create a link with which a person becomes a user; valid once, for a day
    Invite(user::Invite),
    /// List the users
    List,
    /// Keep a user from signing in, and end their sessions
    Disable(user::Disable),
    /// Create a link with which a user chooses a new password; valid once, for a day
    Reset(user::Reset),
    /// Create a link that signs a user in without a password; valid once, for a day
    SignIn(user::SignIn),
}

#[derive(Debug, Subcommand)]
pub(super) enum Secrets {
    /// List the sealing keys, without the keys themselves, and how much is sealed with each
    List,
    /// Seal everything with a new key while the service runs; the old key stays for older copies of the database
    Rotate,
    /// Remove former keys, with which nothing is sealed, from the key file
    Discard(secrets::Discard),
    /// Declare a key lost, so that the service starts without it
    Forget(secrets::Forget),
}

/// Carries out the command.
pub(super) async fn run(session: &Session, command: Record) -> anyhow::Result<()> {
    match command {
        Record::Company(Company::Create(arguments)) => company::create(session, arguments).await,
        Record::Company(Company::List) => company::list(session).await,
        Record::Company(Company::Rename(arguments)) => company::rename(session, arguments).await,
        Record::Company(Company::Disable(arguments)) => company::disable(session, arguments).await,
        Record::Company(Company::SetCountry(arguments)) => company::set_country(session, arguments).await,
        Record::Company(Company::SetTier(arguments)) => company::set_tier(session, arguments).await,
        Record::Key(Key::Create(arguments)) => key::create(session, arguments).await,
        Record::Key(Key::List(arguments)) => key::list(session, arguments).await,
        Record::Key(Key::Revoke(arguments)) => key::revoke(session, arguments).await,
        Record::Channel(Channel::AddBusiness(arguments)) => channel::add_business(session, arguments).await,
        Record::Channel(Channel::AddWeb(arguments)) => channel::add_web(session, arguments).await,
        Record::Channel(Channel::List(arguments)) => channel::list(session, arguments).await,
        Record::Channel(Channel::Show(arguments)) => channel::show(session, arguments).await,
        Record::Channel(Channel::Reconnect(arguments)) => channel::reconnect(session, arguments).await,
        Record::Channel(Channel::Pair(arguments)) => pairing::pair(session, arguments).await,
        Record::Channel(Channel::Unlink(arguments)) => pairing::unlink(session, arguments).await,
        Record::Channel(Channel::SetTier(arguments)) => channel::set_tier(session, arguments).await,
        Record::Channel(Channel::Webhook(arguments)) => channel_webhook::show(session, arguments).await,
        Record::Template(Template::Sync(arguments)) => template::sync(session, arguments).await,
        Record::Template(Template::List(arguments)) => template::list(session, arguments).await,
        Record::Contacts(Contacts::Import(arguments)) => contacts::import(session, arguments).await,
        Record::Contacts(Contacts::Export(arguments)) => contacts::export(session, arguments).await,
        Record::Suppression(Suppression::List(arguments)) => suppression::list(session, arguments).await,
        Record::Suppression(Suppression::Add(arguments)) => suppression::add(session, arguments).await,
        Record::Suppression(Suppression::Lift(arguments)) => suppression::lift(session, arguments).await,
        Record::Webhook(Webhook::List(arguments)) => webhook::list(session, arguments).await,
        Record::Webhook(Webhook::Show(arguments)) => webhook::show(session, arguments).await,
        Record::Webhook(Webhook::Add(arguments)) => webhook::add(session, arguments).await,
        Record::Webhook(Webhook::Change(arguments)) => webhook::change(session, arguments).await,
        Record::Webhook(Webhook::Enable(arguments)) => webhook::enable(session, arguments).await,
        Record::Webhook(Webhook::Disable(arguments)) => webhook::disable(session, arguments).await,
        Record::Webhook(Webhook::RotateSecret(arguments)) => webhook::rotate_secret(session, arguments).await,
        Record::Webhook(Webhook::Delete(arguments)) => webhook::delete(session, arguments).await,
        Record::Webhook(Webhook::SendAgain(arguments)) => webhook::send_again(session, arguments).await,
        Record::Webhook(Webhook::Deliveries(arguments)) => webhook::deliveries(session, arguments).await,
        Record::Tier(Tier::List) => tier::list(session).await,
        Record::Tier(Tier::Show(arguments)) => tier::show(session, arguments).await,
        Record::Tier(Tier::Apply(arguments)) => tier::apply(session, arguments).await,
        Record::Tier(Tier::Set(arguments)) => tier::set(session, arguments).await,
        Record::Tier(Tier::Edit(arguments)) => tier::edit(session, arguments).await,
        Record::Tier(Tier::Rename(arguments)) => tier::rename(session, arguments).await,
        Record::Tier(Tier::Delete(arguments)) => tier::delete(session, arguments).await,
        Record::Tier(Tier::History(arguments)) => tier::history(session, arguments).await,
        Record::Tier(Tier::Rollback(arguments)) => tier::rollback(session, arguments).await,
        Record::Plan(arguments) => plan::run(session, arguments).await,
        Record::Prices(Prices::List) => prices::list(session).await,
        Record::Prices(Prices::Show(arguments)) => prices::show(session, arguments).await,
        Record::Prices(Prices::Apply(arguments)) => prices::apply(session, arguments).await,
        Record::Prices(Prices::Remove(arguments)) => prices::remove(session, arguments).await,
        Record::Operator(Operator::Create(arguments)) => operator::create(session, arguments).await,
        Record::Operator(Operator::List) => operator::list(session).await,
        Record::Operator(Operator::Revoke(arguments)) => operator::revoke(session, arguments).await,
        Record::User(User::Create(arguments)) => user::create(session, arguments).await,
        Record::User(User::Invite(arguments)) => user::invite(session, arguments).await,
        Record::User(User::List) => user::list(session).await,
        Record::User(User::Disable(arguments)) => user::disable(session, arguments).await,
        Record::User(User::Reset(arguments)) => user::reset(session, arguments).await,
        Record::User(User::SignIn(arguments)) => user::sign_in(session, arguments).await,
        Record::Secrets(Secrets::List) => secrets::list(session).await,
        Record::Secrets(Secrets::Rotate) => secrets::rotate(session).await,
        Record::Secrets(Secrets::Discard(arguments)) => secrets::discard(session, arguments).await,
        Record::Secrets(Secrets::Forget(arguments)) => secrets::forget(session, arguments).await,
        Record::Cluster(command) => cluster::run(session, command).await,
    }
}
