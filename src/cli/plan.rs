//! `pombo plan`: predicts a send under each tier, or active sends under changed tiers, without sending.

mod active;
mod courses;

use std::collections::BTreeMap;

use anyhow::anyhow;
use clap::{ArgGroup, Args};
use serde::Serialize;
use uuid::Uuid;

use self::courses::Courses;
use super::session::Session;
use super::tier;
use crate::clock::Timestamp;
use crate::domain::channel::{Channel, Kind};
use crate::domain::contact::tag_name;
use crate::domain::nearest::nearest;
use crate::domain::phone::PhoneNumber;
use crate::domain::plan::{Binding, Estimate};
use crate::domain::plural::counted;
use crate::domain::request::{Audience, SkipCode};
use crate::domain::template::{Category, Status};
use crate::domain::tier::{Assignment, Quota, Tier};
use crate::engine::plan::{Outcome, Planned, PlannedInstead};
use crate::store::templates::Record as Template;

/// Why people get nothing whose window is closed.
const WINDOW_CLOSED: &str = "did not write in the last 24 hours (give --template-instead)";

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("audience").multiple(true).args(["tags", "numbers"]).requires("channel")))]
pub(super) struct Plan {
    /// The channel's name, COMPANY/NAME where companies share a name, or its id
    #[arg(long, value_name = "CHANNEL", required_unless_present = "set", requires = "audience")]
    channel: Option<String>,
    /// Everybody with this tag, given by name or id; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// A number in international form; may be repeated
    #[arg(long = "number", value_name = "NUMBER")]
    numbers: Vec<String>,
    /// The template that would be sent, by its id in `pombo template list`; without it, the send has no template
    #[arg(long, value_name = "ID")]
    template: Option<i64>,
    /// The template for people who did not write in the last 24 hours, by its id; without it, such people are skipped by a send
    /// without a template
    #[arg(long, value_name = "ID", conflicts_with = "template")]
    template_instead: Option<i64>,
    /// Predict all active sends as if their tiers had these options instead, such as messages_per_second=60/s; may be
    /// repeated
    #[arg(long, value_name = "OPTION=VALUE", conflicts_with_all = ["channel", "audience", "template", "template_instead"])]
    set: Vec<Assignment>,
    /// Only the sends under this tier
    #[arg(long, value_name = "NAME", requires = "set")]
    tier: Option<String>,
}

/// The output of [`run`]. A field with the same name as in a dry run has the same meaning.
#[derive(Serialize)]
struct Record {
    channel: Uuid,
    tier: String,
    template: Option<i64>,
    /// The template for people whose window is closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    template_instead: Option<TemplateInstead>,
    /// Contacts with one of the tags, and their different valid numbers.
    tagged_contacts: u64,
    tagged_numbers: u64,
    recipients_count: u64,
    skipped_count: u64,
    skipped: Vec<Skipped>,
    /// Messages that the channel still has to send.
    queued: u64,
    /// People to whom the business account sent templates in the last 24 hours; 0 when neither this send nor the
    /// queue has templates.
    template_recipients: u64,
    /// Why such a send would be refused now, or held up by something that the plan does not model.
    remarks: Vec<String>,
    tiers: Vec<Row>,
}

#[derive(Serialize)]
struct TemplateInstead {
    id: i64,
    recipients_count: u64,
}

#[derive(Serialize)]
struct Skipped {
    reason: String,
    count: u64,
}

#[derive(Serialize)]
struct Row {
    tier: String,
    /// Whether this is the present tier of the channel.
    is_present: bool,
    /// Rounded up; null when only the provider's answers limit it.
    estimated_seconds: Option<u64>,
    /// The limit that decides; null when none does.
    binding: Option<&'static str>,
    /// The same with its value, for a person.
    limit: String,
}

pub(super) async fn run(session: &Session, arguments: Plan) -> anyhow::Result<()> {
    let Plan { channel, tags, numbers, template, template_instead, set, tier } = arguments;
    let Some(channel) = channel else { return active::run(session, &set, tier).await };
    let channel = session.channel(&channel).await?;
    if channel.kind == Kind::WebSession {
        return Err(anyhow!(
            "the channel `{}` is a web session, which sends to one recipient at a time; plan for a business account: \
             `pombo channel list` shows them",
            channel.name
        ));
    }
    let template = find_template(session, &channel, template).await?;
    let instead = find_template(session, &channel, template_instead).await?;
    let (audience, mut reasons) = audience(session, &channel, &tags, &numbers).await?;
    let is_marketing = |template: &Template| template.category == Category::Marketing;
    let (tagged_contacts, tagged_numbers) =
        session.app.store.of(channel.company_id).tags().tagged_contacts(&audience.tags).await?;
    let planned = Planned {
        instead: instead.as_ref().map(|template| PlannedInstead {
            is_marketing: is_marketing(template),
            needed_fields: Vec::new(),
            content: None,
        }),
        ..Planned::new(&channel, audience, template.as_ref().map(is_marketing))
    };
    let Outcome { skipped, suppressed, course, instead: closed, .. } =
        planned.by_the_store(&session.app.store, Timestamp::now()).await?;
    reasons.extend(suppressed.into_iter().map(|(reason, count)| (reason.to_owned(), count)));
    if let Some(closed) = skipped.counts.get(SkipCode::WindowClosed.as_str()) {
        reasons.insert(WINDOW_CLOSED.to_owned(), *closed);
    }
    let closed = closed.map(|part| part.course);
    let closed_count = closed.as_ref().map_or(0, |closed| closed.recipients);
    let recipients_count = course.recipients + closed_count;
    if recipients_count == 0 {
        let why: String =
            reasons.iter().map(|(reason, count)| format!("\n  {count} skipped: {reason}")).collect();
        return Err(anyhow!(
            "there are no recipients: give a tag with contacts that have a valid number (`pombo contacts import \
             --tag`), or a --number{why}"
        ));
    }
    let (queued, written) = (course.queue.total(), &course.written);
    let template_recipients = written.known + written.others.len() as u64;
    let courses = Courses::of(&channel, course, closed);
    let mut rows = Vec::new();
    for tier in tier::all(session).await?.into_iter().filter(|tier| tier.kind == channel.kind) {
        let is_present = channel.tier == tier.name;
        let tuned = channel.own_options.over(&tier).ok().filter(|_| is_present);
        rows.push(row(&courses, tuned.as_ref().unwrap_or(&tier), is_present));
    }
    let record = Record {
        channel: channel.id,
        tier: channel.tier.clone(),
        template: template.as_ref().map(|template| template.id),
        template_instead: instead
            .as_ref()
            .map(|template| TemplateInstead { id: template.id, recipients_count: closed_count }),
        tagged_contacts,
        tagged_numbers,
        recipients_count,
        skipped_count: skipped.count,
        skipped: reasons.into_iter().map(|(reason, count)| Skipped { reason, count }).collect(),
        queued,
        template_recipients,
        remarks: match &instead {
            Some(instead) => remarks(&channel, Some(instead), closed_count),
            None => remarks(&channel, template.as_ref(), recipients_count),
        },
        tiers: rows,
    };
    if session.output.json {
        return session.output.record(&record, "");
    }
    session.output.record(&record, &record.head(&channel))?;
    let rows = record.tiers.iter().map(|row| {
        let mark = if row.is_present { format!("{} (now)", row.tier) } else { row.tier.clone() };
        vec![mark, takes(row.estimated_seconds), row.limit.clone()]
    });
    session.output.table(&["tier", "takes", "decided by"], rows)
}

/// The audience that the arguments name, and the entries that are not numbers, each with its reason.
async fn audience(
    session: &Session,
    channel: &Channel,
    tags: &[String],
    numbers: &[String],
) -> anyhow::Result<(Audience, BTreeMap<String, u64>)> {
    let (mut audience, mut reasons) = (Audience::default(), BTreeMap::new());
    for number in numbers {
        match PhoneNumber::parse(number) {
            Ok(number) => audience.numbers.push(number),
            Err(invalid) => {
                audience.skipped.add(number, &invalid);
                *reasons.entry(invalid.to_string()).or_default() += 1;
            }
        }
    }
    let known = if tags.is_empty() {
        Vec::new()
    } else {
        session.app.store.of(channel.company_id).tags().names().await?
    };
    for tag in tags {
        let id = Uuid::parse_str(tag.trim()).ok();
        let named = tag_name(tag);
        let found = known.iter().find(|(name, known)| *name == named || Some(*known) == id);
        let near = || nearest(tag, known.iter().map(|(name, _)| name.as_str()));
        audience.tags.push(match (found, near()) {
            (Some((_, id)), _) => *id,
            (None, Some(near)) => {
                return Err(anyhow!("the channel's company has no tag `{tag}`; did you mean `{near}`?"));
            }
            (None, None) => {
                return Err(anyhow!(
                    "the channel's company has no tag `{tag}`; `pombo contacts import --tag` makes one, and \
                     `GET /api/v1/contacts/tags` lists the tags"
                ));
            }
        });
    }
    Ok((audience, reasons))
}

/// The template of this id, if one is named.
async fn find_template(
    session: &Session,
    channel: &Channel,
    id: Option<i64>,
) -> anyhow::Result<Option<Template>> {
    let Some(id) = id else { return Ok(None) };
    let found = session.app.store.of(channel.company_id).templates().find(id).await?;
    let found = found.filter(|template| Some(&template.waba_id) == channel.waba_id.as_ref());
    found.map(Some).ok_or_else(|| {
        anyhow!(
            "the channel's business account has no template {id}; `pombo template list --company {}` shows its \
             templates, `pombo template sync --channel {}` fetches them again",
            channel.company_id,
            channel.id
        )
    })
}

/// Why such a send would be refused now, or held up by something that the plan does not model. So many get the template.
fn remarks(channel: &Channel, template: Option<&Template>, recipients: u64) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(obstacle) = channel.connection.obstacle() {
        remarks.push(format!("a send would be refused now (reconnect_waba): {obstacle}"));
    }
    if let Some(template) = template.filter(|template| template.status != Status::Approved) {
        remarks.push(format!(
            "a send would be refused now (template_not_approved): the provider's status of the template {} is {}",
            template.name, template.status
        ));
    }
    if let (Some(_), Some(limit @ Quota::AtMost(most))) = (template, channel.messaging_limit)
        && recipients > most.into()
    {
        remarks.push(format!(
            "the provider lets this business start conversations with {limit} people in 24 hours and refuses more: a \
             tier with such a template_quota spreads them"
        ));
    }
    remarks
}

fn row(courses: &Courses, tier: &Tier, is_present: bool) -> Row {
    let estimate = courses.estimate(tier);
    let Estimate { takes: _, binding } = estimate;
    let limit = match binding {
        None => "nothing: as fast as the provider answers".to_owned(),
        Some(Binding::MessagesPerSecond) => format!("messages_per_second {}", tier.messages_per_second),
        Some(Binding::ProviderLevel) => courses
            .first
            .level
            .map_or_else(String::new, |level| format!("the provider's level {level}, {}", level.rate())),
        Some(Binding::BackOff) => "the provider's refusals".to_owned(),
        Some(Binding::Pair) => format!(
            "pair_interval {}, pair_burst {}",
            humantime::format_duration(tier.pair_interval),
            tier.pair_burst
        ),
        Some(Binding::TemplateQuota) => format!("template_quota {} people in 24 hours", tier.template_quota),
        Some(Binding::QuietHours) => {
            format!("quiet_hours {}", tier.quiet_hours.as_ref().map(ToString::to_string).unwrap_or_default())
        }
    };
    Row {
        tier: tier.name.clone(),
        is_present,
        estimated_seconds: estimate.seconds(),
        binding: binding.map(Binding::as_str),
        limit,
    }
}

/// An estimate in seconds, for a person.
pub(super) fn takes(seconds: Option<u64>) -> String {
    seconds.map_or_else(|| "–".to_owned(), span)
}

/// A duration in days and smaller units. Months are not used, because their length varies.
fn span(seconds: u64) -> String {
    let units =
        [(seconds / 86_400, "d"), (seconds / 3_600 % 24, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")];
    let some = units.into_iter().filter(|(count, unit)| *count > 0 || (seconds == 0 && *unit == "s"));
    some.map(|(count, unit)| format!("{count}{unit}")).collect::<Vec<_>>().join(" ")
}

impl Record {
    /// The text above the tiers.
    fn head(&self, channel: &Channel) -> String {
        let Self { recipients_count, skipped_count, skipped, tagged_contacts, tagged_numbers, .. } = self;
        let mut head = format!(
            "channel {} ({}): {}, {skipped_count} skipped\n",
            channel.name,
            channel.connection.status,
            counted(*recipients_count, "recipient", "recipients")
        );
        for Skipped { reason, count } in skipped {
            head += &format!("  {count} skipped: {reason}\n");
        }
        if tagged_contacts > tagged_numbers {
            head += &format!(
                "{tagged_contacts} contacts have the tags, with {}\n",
                counted(*tagged_numbers, "valid number", "different valid numbers")
            );
        }
        if let Some(TemplateInstead { id: _, recipients_count }) = &self.template_instead {
            head += &format!(
                "{} the template instead, without a message of their own in the last 24 hours\n",
                counted(*recipients_count, "of them gets", "of them get")
            );
        }
        let Self { queued, template_recipients, remarks, .. } = self;
        if *queued > 0 {
            head += &format!(
                "{} already; the times include what goes first\n",
                counted(*queued, "message of the channel waits", "messages of the channel wait")
            );
        }
        let has_template = self.template.is_some() || self.template_instead.is_some();
        if has_template && *template_recipients > 0 {
            head += &format!(
                "{} templates of the account in the last 24 hours\n",
                counted(*template_recipients, "person got", "people got")
            );
        }
        for remark in remarks {
            head += &format!("note: {remark}\n");
        }
        head
    }
}

#[cfg(test)]
mod tests {
    use super::span;

    #[test]
    fn a_span_is_shown_in_days_and_smaller_units() {
        for (seconds, told) in [(0, "0s"), (59, "59s"), (125, "2m 5s"), (86_400, "1d"), (3_369_604, "39d 4s")]
        {
            assert_eq!(span(seconds), told);
        }
    }
}
