//! The command line. Each noun has a file; this file has the tree of all commands.
//!
//! Commands read their arguments, call [`crate::app`] and the store, and print. Data goes to standard output,
//! through [`output`] alone; everything else goes to standard error. Secrets come from files or standard input;
//! only a load test also takes its key as an argument. Only `main` calls this module.

mod argument;
mod backup;
mod channel;
mod channel_record;
mod channel_webhook;
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
mod prices;
mod progress;
mod record;
mod remote;
mod restore;
mod secret_input;
mod secrets;
mod send;
mod serve;
mod session;
#[cfg(feature = "tools")]
mod simulator;
mod suppression;
mod template;
mod tier;
mod user;
mod webhook;
mod webhook_record;
mod webhook_settings;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory as _, Parser, Subcommand};

use self::record::{Company, Record};
use self::session::Session;
use crate::config;

const AFTER_HELP: &str = "\
Secrets are read from files or standard input (-); only a load test also takes its key as an argument. The configuration has three layers: \
defaults, a file, environment variables such as POMBO__SERVER__BIND. The file is the one of --config, else of POMBO_CONFIG, \
else /etc/pombo/pombo.toml if there is one; a file `environment` beside it has more variables. Only serve, demo, migrate up, \
restore and company create create a database, and only serve and migrate up change its schema.

Exit codes:
  0  done
  1  failed; the reason and what to do next are on standard error
  2  the command line, the configuration or a given file is wrong; nothing was done
  3  a send is over, and somebody did not get it
  130  interrupted; the send that was followed goes on";

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
    /// Configuration file, above the defaults and below the environment; else POMBO_CONFIG, else /etc/pombo/pombo.toml
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
    /// Send a text or a template to numbers, or to the rows of a file with values of their own
    Send(Box<send::Arguments>),
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

impl Command {
    /// Whether it concerns the service of this machine, whose configuration it finds by itself. The tools run a service
    /// of their own.
    const fn is_for_the_service(&self) -> bool {
        #[cfg(feature = "tools")]
        if matches!(self, Self::Tool(_)) {
            return false;
        }
        true
    }
}

/// The commands for trying and measuring the service, which a server does not need.
#[cfg(feature = "tools")]
#[derive(Debug, Subcommand)]
enum Tool {
    /// Run the service beside a simulated provider, with two companies to try
    Demo(demo::Arguments),
    /// Run the simulated provider alone
    Simulator(Box<simulator::Arguments>),
    /// Load a service, its own or a running one, and count at the receiver
    Loadtest(Box<loadtest::Arguments>),
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

async fn execute(Line { mut global, command }: Line) -> anyhow::Result<()> {
    if command.is_for_the_service() {
        global.config = config::locate(global.config.as_deref());
    }
    match command {
        Command::Serve(arguments) => serve::run(&global, &arguments).await,
        #[cfg(feature = "tools")]
        Command::Tool(Tool::Demo(arguments)) => demo::run(&global, arguments).await,
        #[cfg(feature = "tools")]
        Command::Tool(Tool::Simulator(arguments)) => simulator::run(&global, *arguments).await,
        #[cfg(feature = "tools")]
        Command::Tool(Tool::Loadtest(arguments)) => loadtest::run(&global, *arguments).await,
        Command::Send(arguments) => send::run(&global, &arguments).await,
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
            let session = match &command {
                Record::Company(Company::Create(_)) => Session::open_or_create(&global).await?,
                other => Session::open(&global, other.secrecy()).await?,
            };
            let result = record::run(&session, command).await;
            session.close().await;
            result
        }
    }
}
