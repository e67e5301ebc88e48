//! `pombo demo`.

mod person;
mod phone;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::output::Output;
use super::{Global, progress};
use crate::app::demo::{self, DIRECTORY, DemoCompany, Options, Phone, Report};
use crate::app::shutdown::{self, StopRequest};
use crate::config::Config;

/// The output of a demonstration matters more than its log.
const PRESETS: &[(&str, &str)] = &[("log.level", "warn")];

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// The service's port on this machine; 0 takes a free one
    #[arg(long, default_value_t = 8080, value_name = "PORT")]
    port: u16,
    /// The directory for all data; a second start uses it again
    #[arg(long, global = true, default_value = DIRECTORY, value_name = "DIR")]
    data: PathBuf,
    /// Contacts of the first company
    #[arg(long, default_value_t = 10_000, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    contacts: u32,
    /// End when standard input ends, as it does when the parent process is gone
    #[arg(long, hide = true)]
    end_with_input: bool,
}

/// Commands for a demonstration that runs.
#[derive(Debug, Subcommand)]
enum Command {
    /// Write as a person to a channel, and show the conversation; or, without a message, link the phone that the simulator
    /// plays to the channel `demo phone`
    Phone(person::Arguments),
}

pub(super) async fn run(global: &Global, arguments: Arguments) -> anyhow::Result<()> {
    let Arguments { command, port, data, contacts, end_with_input } = arguments;
    if let Some(Command::Phone(person)) = command {
        return match person.is_given() {
            true => person::run(global, &person, &data).await,
            false => phone::run(global, &data).await,
        };
    }
    let config = Config::load_with(PRESETS, global.config.as_deref())?;
    let bar = progress::bar(0, "adding contacts", global.json);
    let demo = demo::start(config, Options { directory: data, port, contacts }, |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    });
    let demo = Box::pin(demo).await?;
    bar.finish_and_clear();
    let end = shutdown::requested_by(StopRequest::when(end_with_input));
    let printed = Output::new(global.json).record(&demo.report, &told(&demo.report));
    if printed.is_ok() {
        return demo.run_until(end).await;
    }
    demo.stop().await?;
    printed
}

fn told(report: &Report) -> String {
    let Report { base_url, simulator_url, directory, is_reused, companies, phone, events: _, console } =
        report;
    let directory = directory.display();
    let mut told = vec![
        if *is_reused {
            format!("Using the demonstration in {directory} again, with the same API keys.")
        } else {
            format!("Created a demonstration in {directory}; delete the directory to start over.")
        },
        format!("  service             {base_url}"),
        format!("  simulated provider  {simulator_url}"),
    ];
    told.push(format!(
        "\nIn a browser, each address once (`pombo user sign-in` makes new ones):\n  as owner of {}  {}\n  as operator       {}",
        companies.first().map_or("the company", |company| company.name.as_str()),
        console.owner.url.expose(),
        console.operator.url.expose()
    ));
    told.extend(companies.iter().map(about));
    told.extend(companies.first().and_then(|company| to_try(base_url, company)));
    told.extend(phone.as_ref().map(by_phone));
    told.push(
        "\nPeople wrote to Sales, and some answer what you send. To write as one of them (in another terminal):\n  \
         pombo demo phone 'Do you open on Sunday?'"
            .to_owned(),
    );
    told.push(next(report));
    told.push("Ctrl-C ends it.".to_owned());
    told.join("\n")
}

fn about(company: &DemoCompany) -> String {
    let DemoCompany { name, id, api_key, channels, templates, tags } = company;
    let mut lines = vec![format!("\n{name}  {id}"), format!("  API key   {}", api_key.expose())];
    lines.extend(channels.iter().map(|channel| {
        format!("  channel   {}  {:<16} {:<12} {}", channel.id, channel.kind, channel.status, channel.name)
    }));
    lines.extend(templates.iter().map(|template| {
        format!(
            "  template  {:<4} {} ({}) {}",
            template.id, template.name, template.language, template.status
        )
    }));
    lines.extend(tags.iter().map(|tag| {
        format!(
            "  tag       {}  {} ({} contacts, {} numbers)",
            tag.id, tag.name, tag.contacts, tag.valid_phones
        )
    }));
    lines.join("\n")
}

/// Three requests to paste into a shell.
fn to_try(base_url: &str, company: &DemoCompany) -> Option<String> {
    // People without the tag did not write today: the provider refuses texts for them.
    let tag = company.tags.iter().find(|tag| tag.name == "vip").or(company.tags.first())?;
    let (channel, key) = (company.channels.first()?, company.api_key.expose());
    let post = |body: &str| {
        format!(
            "  curl {base_url}/api/v1/chat/{}/messages \\\n    -H 'Authorization: Bearer {key}' \
             -H 'Content-Type: application/json' \\\n    -d '{body}'",
            channel.id
        )
    };
    let tagged = format!(r#"{{"contact_tag_id":"{}","type":"text","message":"Hello, everyone"}}"#, tag.id);
    let one = r#"{"phone_number":"+999 900 000 001","type":"text","message":"Hello, you"}"#;
    Some(format!(
        "\nTo try:\n  # a text to everyone of {} with the tag {}\n{}\n  # a text to one number\n{}\n  # a search among the contacts\n  \
         curl '{base_url}/api/v1/contacts?search=joao&limit=3' -H 'Authorization: Bearer {key}'",
        company.name,
        tag.name,
        post(&tagged),
        post(one)
    ))
}

/// The requests through the web session, which has to be linked first.
fn by_phone(Phone { channel_id: _, pair_command, send_command, messages_url }: &Phone) -> String {
    format!(
        "\nWithout a business account, through a phone that the simulator plays (in another terminal):\n  \
         # link it to the channel `demo phone`; it stays linked\n  {pair_command}\n  # a text through it\n  \
         {send_command}\n  # what arrived through it, and whether it was read\n  curl {messages_url}"
    )
}

/// Where to look next, and how to repair the channel that is broken on purpose.
fn next(report: &Report) -> String {
    let Report { base_url, simulator_url, directory, is_reused: _, companies, phone: _, events, console: _ } =
        report;
    let channels = || companies.iter().flat_map(|company| &company.channels);
    let mut lines = vec![format!("\nNext:\n  {base_url}/docs  every endpoint, to read and to try")];
    if let Some(id) = channels().find_map(|channel| channel.phone_number_id.as_deref()) {
        lines.push(format!("  {simulator_url}/_sim/numbers/{id}  what the provider counted"));
    }
    if let Some(events) = events {
        lines.push(format!("  {}  the last events, as they arrived by webhook", events.url));
    }
    if let Some(channel) = channels().find(|channel| channel.status == "disconnected") {
        lines.push(format!(
            "  the provider refuses the token of {}; give it a good one while the service runs:\n  \
             echo {} | POMBO__DATA__DIR={} pombo channel reconnect {} --token-file -",
            channel.name,
            demo::GOOD_TOKEN,
            directory.display(),
            channel.id
        ));
    }
    lines.join("\n") + "\n"
}
