//! The command line. Each noun has a file; this file has the tree of all commands.
//!
//! Commands read their arguments, call [`crate::app`] and the store, and print. Data goes to standard output,
//! through [`output`] alone; everything else goes to standard error. Secrets come from files or standard input;
//! only a load test also takes its key as an argument. Only `main` calls this module.

mod argument;
mod backup;
mod channel;
mod channel_record;
mod cluster;
mod company;
mod completions;
mod contacts;
#[cfg(feature = "tools")]
mod demo;
mod doctor;
mod explain;
mod failure;
mod health;
mod key;
#[cfg(feature = "tools")]
mod loadtest;
mod machine_user;
mod man;
mod migrate;
mod operator;
mod output;
mod pairing;
mod plan;
mod progress;
mod restore;
mod secret_input;
mod secrets;
mod serve;
mod session;
#[cfg(feature = "tools")]
mod simulator;
mod suppression;
mod template;
mod tier;
mod user;
mod webhook;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory as _, Parser, Subcommand};

use self::session::Session;

const AFTER_HELP: &str = "\
Secrets are read from files or standard input (-); only a load test also takes its key as an argument. The configuration has three layers: \
defaults, --config FILE, environment variables such as POMBO__SERVER__BIND.

Exit codes:
  0  done
  1  failed; the reason and what to do next are on standard error
  2  the command line, the configuration or a given file is wrong; nothing was done";

/// The text of `--version`: the licence depends on the features of the build.
const VERSION: &str = if cfg!(feature = "web-session") {
    concat!(
        env!("CARGO_PKG_VERSION"),
        "\nwith web sessions: contains code under AGPL-3.0-only and must be distributed under that licence; \
         a build without the feature `web-session` contains no such code"
    )
} else {
    concat!(env!("CARGO_PKG_VERSION"), "\nwithout web sessions: MIT OR Apache-2.0")
};

/// Self-hosted messaging service for companies that talk to their customers on WhatsApp.
#[derive(Debug, Parser)]
#[command(name = "pombo", version, long_version = VERSION, after_help = AFTER_HELP, disable_help_subcommand = true)]
struct Line {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// The options of every command.
#[derive(Debug, Args)]
struct Global {
    /// Configuration file, above the defaults and below the environment
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print data as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the service
    Serve(serve::Arguments),
    #[cfg(feature = "tools")]
    #[command(flatten)]
    Tool(Tool),
    /// Explain a code or a word in an answer, and what to do about it
    Explain(explain::Arguments),
    /// Migrate the database's schema up or down
    #[command(subcommand)]
    Migrate(Migrate),
    /// Write a backup of the database to a file, while the service runs
    Backup(backup::Arguments),
    /// Replace the database with a backup; messages that may have been sent since are not sent again
    Restore(restore::Arguments),
    /// Check what the service needs: configuration, database, keys, provider, clock, limits
    Doctor,
    /// Ask the service of this configuration whether it is ready
    Health,
    /// Print the completions of a shell
    Completions(completions::Arguments),
    /// Print the manual page, or write one for each command into a directory
    Man(man::Arguments),
    #[command(flatten)]
    Record(Record),
}

/// The commands for trying and measuring the service, which a server does not need.
#[cfg(feature = "tools")]
#[derive(Debug, Subcommand)]
enum Tool {
    /// Run the service beside a simulated provider, with two companies to try
    Demo(demo::Arguments),
    /// Run the simulated provider alone
    Simulator(simulator::Arguments),
    /// Load a service, its own or a running one, and count at the receiver
    Loadtest(Box<loadtest::Arguments>),
}

/// The commands that open the database, do one thing, and end.
#[derive(Debug, Subcommand)]
enum Record {
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
    /// Tiers: named sets of rates and quotas
    #[command(subcommand)]
    Tier(Tier),
    /// Predict a send and its duration under each tier, without sending
    Plan(plan::Plan),
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
    Cluster(Cluster),
}

#[derive(Debug, Subcommand)]
enum Migrate {
    /// Apply every migration that is missing
    Up,
    /// Undo the newest migrations, and lose the data in the tables that they created
    Down(migrate::Down),
    /// List the migrations
    Status,
}

#[derive(Debug, Subcommand)]
enum Company {
    /// Add a company
    Create(company::Create),
    /// List the companies
    List,
    /// Set the country in which a company's contacts have their numbers
    SetCountry(company::SetCountry),
}

#[derive(Debug, Subcommand)]
enum Key {
    /// Create a key, which is shown only once
    Create(key::Create),
    /// List the keys, without the keys themselves
    List(argument::MaybeOfCompany),
    /// Revoke a key; running services refuse it within `engine.watch_interval`, 250 ms unless set
    Revoke(key::Revoke),
}

#[derive(Debug, Subcommand)]
enum Channel {
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
    Webhook(webhook::Webhook),
}

#[derive(Debug, Subcommand)]
enum Template {
    /// Fetch the templates of a channel's business account from the provider
    Sync(template::Sync),
    /// List the templates of a company, whatever their status
    List(argument::OfCompany),
}

#[derive(Debug, Subcommand)]
enum Contacts {
    /// Add and update contacts from a CSV file
    Import(contacts::Import),
    /// Write all contacts as CSV, in a form that can be imported again
    Export(contacts::Export),
}

#[derive(Debug, Subcommand)]
enum Suppression {
    /// List the suppressed numbers, and those whose marketing messages are held for a while
    List(argument::OfCompany),
    /// Suppress marketing to a number; a running service applies it within a second
    Add(suppression::Add),
    /// Remove the suppression of a number, so that it gets messages again
    Lift(suppression::Lift),
}

#[derive(Debug, Subcommand)]
enum Tier {
    /// List the tiers
    List,
    /// Show a tier, option by option
    Show(tier::Show),
    /// Add and replace tiers from a file; running channels apply them within a second
    Apply(tier::Apply),
    /// Show the changes of tiers: person, time, before and after
    History(tier::History),
}

#[derive(Debug, Subcommand)]
enum Operator {
    /// Create an operator's key, which is shown only once
    Create(operator::Create),
    /// List the operators, without their keys
    List,
    /// Revoke an operator's key immediately
    Revoke(operator::Revoke),
}

#[derive(Debug, Subcommand)]
enum Cluster {
    /// List the nodes, their leases and how much runs on each
    Status,
    /// Make a node give its channels to the others, before it is stopped
    Drain(cluster::Drain),
}

#[derive(Debug, Subcommand)]
enum User {
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
enum Secrets {
    /// List the sealing keys, without the keys themselves, and how much is sealed with each
    List,
    /// Seal everything with a new key while the service runs, and remove the old key
    Rotate,
    /// Declare a key lost, so that the service starts without it
    Forget(secrets::Forget),
}

/// Runs the command line and returns the exit code of the process.
///
/// The function is not generic, so that it is compiled with the library and not again with the program.
pub fn run(arguments: Vec<OsString>) -> ExitCode {
    let line = match Line::try_parse_from(arguments) {
        Ok(line) => line,
        Err(refusal) => {
            // A reader that closes the help early is not a failure.
            let _ = refusal.print();
            return u8::try_from(refusal.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from);
        }
    };
    // Each message in flight may need a connection. If the limit cannot be raised, the present limit stays.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    let system = actix_web::rt::System::new();
    failure::report(system.block_on(Box::pin(execute(line))))
}

async fn execute(Line { global, command }: Line) -> anyhow::Result<()> {
    match command {
        Command::Serve(arguments) => serve::run(&global, &arguments).await,
        #[cfg(feature = "tools")]
        Command::Tool(Tool::Demo(arguments)) => demo::run(&global, arguments).await,
        #[cfg(feature = "tools")]
        Command::Tool(Tool::Simulator(arguments)) => simulator::run(&global, arguments).await,
        #[cfg(feature = "tools")]
        Command::Tool(Tool::Loadtest(arguments)) => loadtest::run(&global, *arguments).await,
        Command::Explain(arguments) => explain::run(&global, &arguments),
        Command::Migrate(Migrate::Up) => migrate::up(&global).await,
        Command::Migrate(Migrate::Down(arguments)) => migrate::down(&global, arguments).await,
        Command::Migrate(Migrate::Status) => migrate::status(&global).await,
        Command::Backup(arguments) => backup::run(&global, arguments).await,
        Command::Restore(arguments) => restore::run(&global, arguments).await,
        Command::Doctor => doctor::run(&global).await,
        Command::Health => health::run(&global).await,
        Command::Completions(arguments) => completions::run(arguments, &mut Line::command()),
        Command::Man(arguments) => man::run(&global, arguments, Line::command()),
        Command::Record(command) => {
            let session = Session::open(&global).await?;
            let result = in_session(&session, command).await;
            session.close().await;
            result
        }
    }
}

async fn in_session(session: &Session, command: Record) -> anyhow::Result<()> {
    match command {
        Record::Company(Company::Create(arguments)) => company::create(session, arguments).await,
        Record::Company(Company::List) => company::list(session).await,
        Record::Company(Company::SetCountry(arguments)) => company::set_country(session, arguments).await,
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
        Record::Channel(Channel::Webhook(arguments)) => webhook::show(session, arguments).await,
        Record::Template(Template::Sync(arguments)) => template::sync(session, arguments).await,
        Record::Template(Template::List(arguments)) => template::list(session, arguments).await,
        Record::Contacts(Contacts::Import(arguments)) => contacts::import(session, arguments).await,
        Record::Contacts(Contacts::Export(arguments)) => contacts::export(session, arguments).await,
        Record::Suppression(Suppression::List(arguments)) => suppression::list(session, arguments).await,
        Record::Suppression(Suppression::Add(arguments)) => suppression::add(session, arguments).await,
        Record::Suppression(Suppression::Lift(arguments)) => suppression::lift(session, arguments).await,
        Record::Tier(Tier::List) => tier::list(session).await,
        Record::Tier(Tier::Show(arguments)) => tier::show(session, arguments).await,
        Record::Tier(Tier::Apply(arguments)) => tier::apply(session, arguments).await,
        Record::Tier(Tier::History(arguments)) => tier::history(session, arguments).await,
        Record::Plan(arguments) => plan::run(session, arguments).await,
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
        Record::Secrets(Secrets::Forget(arguments)) => secrets::forget(session, arguments).await,
        Record::Cluster(Cluster::Status) => cluster::status(session).await,
        Record::Cluster(Cluster::Drain(arguments)) => cluster::drain(session, arguments).await,
    }
}
