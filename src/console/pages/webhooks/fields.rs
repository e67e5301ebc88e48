//! The settings of a webhook endpoint as a form: those of a new one, and changes.

use maud::{Markup, html};
use uuid::Uuid;

use super::faults;
use super::words::{GROUPS, event};
use crate::console::State;
use crate::console::component::field::Field;
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::event::Type;
use crate::domain::page::PageRequest;
use crate::domain::secret::Secret;
use crate::domain::webhook::{FaultKind, Header, MOST_BATCH, Settings, Shape, WebhookProfile};
use crate::engine::EndpointChange;
use crate::engine::records::webhooks::MOST_ENDPOINTS;
use crate::error::{Code, Refusal};

/// The longest address, in characters.
const ADDRESS: usize = 2_048;
/// The longest list of headers, in characters: as many as an endpoint may have.
const HEADERS: usize = 32 * 1024;
/// The numbers of requests at the same time.
const AT_ONCE: [&str; 4] = ["1", "2", "3", "4"];
/// The channels that the form offers.
const OFFERED: u64 = 200;
/// The value of the form's field for channels that stay as they are.
const KEPT: &str = "kept";
/// The longest verify token, in characters.
const TOKEN: usize = 1_024;
/// The value of a ticked box.
const YES: &str = "yes";

/// The channels that the form offers.
pub(super) struct OfferedChannels {
    /// Channels with their names.
    named: Vec<(Uuid, String)>,
    /// Chosen channels that are not among them: they were removed, or there are very many.
    others: Vec<Uuid>,
    /// Whether the company has more channels than are offered.
    is_part: bool,
    /// The number of chosen channels, if it is too large for a form.
    kept: Option<usize>,
}

/// The channels to offer to an endpoint that gets the events of the `chosen` ones.
pub(super) async fn offered(
    viewer: &Viewer,
    state: &State,
    chosen: &[Uuid],
) -> Result<OfferedChannels, Error> {
    let first = PageRequest { page: 1, limit: OFFERED };
    let records = state.engine.company(viewer.company.id).await?;
    let found = records.channels().page(first, None).await?;
    drop(records);
    let is_part = found.total > OFFERED;
    let named: Vec<_> = found.records.into_iter().map(|channel| (channel.id, channel.name)).collect();
    let is_named = |id: &Uuid| named.iter().any(|(known, _)| known == id);
    let others = chosen.iter().copied().filter(|id| !is_named(id)).collect();
    let kept = Some(chosen.len()).filter(|count| *count as u64 > OFFERED);
    Ok(OfferedChannels { named, others, is_part, kept })
}

/// The form with these settings.
pub(super) fn filled(text: Text, settings: &Settings) -> Form {
    let mut values = vec![
        ("url", settings.url.clone()),
        ("form", form_of(settings).to_owned()),
        ("max_in_flight", settings.max_in_flight.to_string()),
        ("batch", settings.batch.to_string()),
    ];
    values.extend(settings.effective_types().iter().map(|one| ("type", one.to_string())));
    values.extend(settings.channels.iter().map(|id| ("channel", id.to_string())));
    if settings.masks_numbers {
        values.push(("masks", YES.to_owned()));
    }
    Form::filled(text, values)
}

/// The form in which an endpoint gets events, with what its receiver understands, as one word.
fn form_of(settings: &Settings) -> &'static str {
    match settings.shape {
        Shape::Pombo => Shape::Pombo.as_str(),
        Shape::Graph => settings.profile.as_str(),
    }
}

/// The key of the words for the form in which an endpoint gets events.
pub(super) fn form_words(settings: &Settings) -> &'static str {
    match (settings.shape, settings.profile) {
        (Shape::Pombo, _) => "webhooks-form-pombo",
        (Shape::Graph, WebhookProfile::Meta) => "webhooks-form-meta",
        (Shape::Graph, WebhookProfile::Strict) => "webhooks-form-strict",
        (Shape::Graph, WebhookProfile::Chatwoot) => "webhooks-form-chatwoot",
    }
}

/// The settings of each form.
fn forms() -> impl Iterator<Item = Settings> {
    let of = |shape, profile| Settings { shape, profile, ..Settings::new("") };
    let pombo = of(Shape::Pombo, WebhookProfile::default());
    let graph = WebhookProfile::ALL.iter().map(move |profile| of(Shape::Graph, *profile));
    std::iter::once(pombo).chain(graph)
}

/// The chosen form. One that is not given is that of the `present` settings, because a page that was opened before an upgrade lacks
/// the field; of a new endpoint it is Pombo's own.
fn read_form(form: &mut Form, present: Option<&Settings>) -> Settings {
    let word = form.words().one("form").to_owned();
    let chosen = forms().find(|settings| form_of(settings) == word);
    if chosen.is_none() && !word.is_empty() {
        form.fault("form", form.text().get("fault-field-choice"));
    }
    let kept = || present.cloned().unwrap_or_else(|| Settings::new(""));
    chosen.unwrap_or_else(kept)
}

/// The verify token of the receiver, if one is typed.
pub(super) fn read_token(form: &mut Form) -> Option<Secret> {
    form.optional("verify_token", TOKEN).map(Secret::new)
}

/// The field for the verify token of the receiver.
pub(super) fn token(form: &Form, hint: &str) -> Markup {
    let label = form.text().get("webhooks-verify-token");
    Field::new(form, "verify_token", &label).hint(hint).most(TOKEN).autocomplete("off").input("text")
}

/// Reads the form, and notes its faults. `present` are the settings that it changes.
pub(super) async fn read(
    viewer: &Viewer,
    state: &State,
    form: &mut Form,
    present: Option<&Settings>,
) -> EndpointChange {
    let text = viewer.text;
    let url = form.required("url", ADDRESS);
    let is_other = present.is_none_or(|present| present.url != url);
    if is_other && form.fault_of("url").is_none() {
        let checked = state.engine.webhook_endpoints().check(viewer.company.id, &url).await;
        // A name server may be slow now. Each delivery checks the address again.
        if let Some(kind) = checked.err().map(|fault| fault.kind()).filter(|kind| *kind != FaultKind::Timeout)
        {
            form.fault("url", faults::words(text, kind, None));
        }
    }
    let given = read_form(form, present);
    let known = Type::ALL.iter().copied().filter(|one| *one != Type::OutboxLost);
    let mut chosen: Vec<Type> = known.filter(|one| form.is_ticked("type", one.as_str())).collect();
    // The boxes of a new endpoint are ticked for Pombo's own events: a person who leaves them so wants what is usual.
    let is_usual = chosen == Settings::new("").default_types();
    if given.shape == Shape::Graph {
        chosen.retain(|one| given.default_types().contains(one));
    }
    if chosen.is_empty() {
        form.fault("type", text.get("webhooks-no-type"));
    }
    // An endpoint with the default types also gets types that later versions add to them.
    let types = if is_usual || chosen == given.default_types() { Vec::new() } else { chosen };
    let at_once = form.choice("max_in_flight", &AT_ONCE).and_then(|number| number.parse().ok());
    let batch = form.required("batch", 3).parse::<u8>().ok().filter(|batch| (1..=MOST_BATCH).contains(batch));
    if batch.is_none() {
        form.fault("batch", text.with("webhooks-batch-wrong", [("most", u64::from(MOST_BATCH).into())]));
    }
    EndpointChange {
        url: is_other.then_some(url),
        shape: Some(given.shape),
        profile: Some(given.profile),
        types: Some(types),
        channels: read_channels(form, present),
        headers: read_headers(form),
        max_in_flight: at_once,
        batch,
        masks_numbers: Some(form.is_ticked("masks", YES)),
    }
}

/// The chosen channels; `None` when they stay as they are, even if some of them were removed meanwhile.
fn read_channels(form: &mut Form, present: Option<&Settings>) -> Option<Vec<Uuid>> {
    if form.words().one("channels") == KEPT {
        return None;
    }
    let chosen: Result<Vec<Uuid>, _> = form.words().all("channel").map(str::parse::<Uuid>).collect();
    let Ok(mut chosen) = chosen else {
        form.fault("channel", form.text().get("fault-field-choice"));
        return None;
    };
    chosen.sort_unstable();
    chosen.dedup();
    let is_other = present.is_none_or(|present| present.channels != chosen);
    is_other.then_some(chosen)
}

/// The typed headers, each on a line of its own; `None` when they stay as they are.
fn read_headers(form: &mut Form) -> Option<Vec<Header>> {
    let are_removed = form.is_ticked("no_headers", YES);
    let Some(typed) = form.optional("headers", HEADERS) else {
        return are_removed.then(Vec::new);
    };
    let mut headers = Vec::new();
    for (number, line) in (1_u64..).zip(typed.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        match line.split_once(':') {
            Some((name, value)) => headers
                .push(Header { name: name.trim().to_owned(), value: Secret::new(value.trim().to_owned()) }),
            // The line may be a password, so the fault names its number.
            None => {
                let words = form.text().with("webhooks-headers-wrong", [("number", number.into())]);
                form.fault("headers", words);
            }
        }
    }
    Some(headers)
}

/// Whether the engine refused something that is shown beside a field.
pub(super) const fn is_of_form(refusal: &Refusal) -> bool {
    matches!(refusal.code, Code::InvalidField | Code::TooManyWebhooks)
}

/// Notes what the engine refused beside the field that it is about.
pub(super) fn refuse(form: &mut Form, refusal: &Refusal) {
    let text = form.text();
    if refusal.code == Code::TooManyWebhooks {
        form.general_fault(text.with("webhooks-too-many", [("most", MOST_ENDPOINTS.into())]));
        return;
    }
    let (field, key) = match refusal.param.as_deref() {
        Some("url") => ("url", "webhooks-refused-address"),
        Some("headers") => ("headers", "webhooks-refused-headers"),
        Some("channel_ids") => ("channel", "webhooks-refused-channels"),
        Some("verify_token") => ("verify_token", "webhooks-unverified"),
        _ => ("", "webhooks-refused"),
    };
    form.fault(field, format!("{} [{}]", text.get(key), refusal.sentence));
}

/// The fields of the form. `header_names` are those of the present headers; `None` when these cannot be unsealed.
pub(super) fn fields(form: &Form, channels: &OfferedChannels, header_names: Option<&[String]>) -> Markup {
    let text = form.text();
    html! {
        (Field::new(form, "url", &text.get("webhooks-address")).hint(&text.get("webhooks-address-hint")).required().most(ADDRESS).autocomplete("off").input("url"))
        (Field::new(form, "form", &text.get("webhooks-form")).hint(&text.get("webhooks-form-hint")).radios(forms().map(|one| (form_of(&one), text.get(form_words(&one))))))
        (types(form))
        (of_channels(form, channels))
        (advanced(form, header_names))
    }
}

fn types(form: &Form) -> Markup {
    let text = form.text();
    html! {
        fieldset.field {
            legend { (text.get("webhooks-gets")) }
            p.hint { (text.get("webhooks-gets-hint")) }
            @if let Some(fault) = form.fault_of("type") { p.fault { (fault) } }
            div.halves {
                @for group in GROUPS {
                    fieldset.field {
                        legend { (text.get(group.name)) }
                        @if let Some(hint) = group.hint { p.hint { (text.get(hint)) } }
                        @for one in group.types {
                            label.choice {
                                input type="checkbox" name="type" value=(one.as_str()) checked[form.is_ticked("type", one.as_str())];
                                span { (event(text, *one)) " " code.soft { (one.as_str()) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn of_channels(form: &Form, channels: &OfferedChannels) -> Markup {
    let text = form.text();
    let OfferedChannels { named, others, is_part, kept } = channels;
    if let Some(count) = kept {
        return html! {
            input type="hidden" name="channels" value=(KEPT);
            p { (text.with("webhooks-channels-kept", [("count", (*count).into())])) }
        };
    }
    let other = |id: &Uuid| text.with("webhooks-channel-other", [("id", id.to_string().into())]);
    let named = named.iter().map(|(id, name)| (id.to_string(), name.clone()));
    let boxes: Vec<_> = named.chain(others.iter().map(|id| (id.to_string(), other(id)))).collect();
    let mut hint = text.get("webhooks-channels-hint");
    if *is_part {
        hint = format!("{hint} {}", text.with("webhooks-channels-part", [("count", OFFERED.into())]));
    }
    html! {
        @if !boxes.is_empty() || form.fault_of("channel").is_some() {
            (Field::new(form, "channel", &text.get("webhooks-channels")).hint(&hint).boxes(boxes))
        }
    }
}

fn advanced(form: &Form, header_names: Option<&[String]>) -> Markup {
    let text = form.text();
    let has_fault = ["headers", "max_in_flight", "batch"].iter().any(|name| form.fault_of(name).is_some());
    let has_headers = header_names.is_none_or(|names| !names.is_empty());
    let headers_hint =
        text.get(if has_headers { "webhooks-headers-present" } else { "webhooks-headers-hint" });
    html! {
        details.more id="webhook-advanced" open[has_fault || header_names.is_none()] {
            summary { (text.get("webhooks-advanced")) }
            (Field::new(form, "headers", &text.get("webhooks-headers")).hint(&headers_hint).area(3))
            @if has_headers {
                @match header_names {
                    Some(names) => p { (text.get("webhooks-headers-now")) " " code { (names.join(", ")) } },
                    None => p { (text.get("webhooks-headers-sealed")) },
                }
                (tick(form, "no_headers", &text.get("webhooks-headers-remove")))
            }
            (Field::new(form, "max_in_flight", &text.get("webhooks-at-once")).hint(&text.get("webhooks-at-once-hint")).select(AT_ONCE.map(|number| (number, number))))
            (Field::new(form, "batch", &text.get("webhooks-batch")).hint(&text.get("webhooks-batch-hint")).required().most(3).input("number"))
            (tick(form, "masks", &text.get("webhooks-masks")))
        }
    }
}

/// A single box.
fn tick(form: &Form, name: &str, words: &str) -> Markup {
    html! {
        div.field {
            label.choice {
                input type="checkbox" name=(name) value=(YES) checked[form.is_ticked(name, YES)];
                span { (words) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::language::Language;
    use crate::domain::webhook::MOST_IN_FLIGHT;

    fn typed(headers: &str) -> Form {
        Form::filled(Text(Language::English), [("headers", headers.to_owned())])
    }

    #[test]
    fn as_many_requests_at_once_are_offered_as_an_endpoint_may_have() {
        assert_eq!(AT_ONCE.len(), usize::from(MOST_IN_FLIGHT));
    }

    #[test]
    fn a_page_from_before_an_upgrade_keeps_the_form_of_an_endpoint() {
        for present in forms() {
            let mut form = typed("");
            assert_eq!(form_of(&read_form(&mut form, Some(&present))), form_of(&present));
            form.put("form", "meta");
            assert_eq!(form_of(&read_form(&mut form, Some(&present))), "meta");
            assert!(!form.has_faults());
        }
        assert_eq!(read_form(&mut typed(""), None), Settings::new(""));
    }

    #[test]
    fn headers_are_lines_of_a_name_and_a_value() {
        let mut form = typed("X-Team: sales\r\n\r\nAuthorization: Bearer a:b\n");
        let headers = read_headers(&mut form).unwrap();
        let shown: Vec<_> =
            headers.iter().map(|header| (header.name.as_str(), header.value.expose())).collect();
        assert_eq!(shown, [("X-Team", "sales"), ("Authorization", "Bearer a:b")]);
        assert!(!form.has_faults());
        let mut form = typed("X-Team: sales\nhidden");
        read_headers(&mut form);
        let fault = form.fault_of("headers").unwrap();
        assert!(fault.contains('2') && !fault.contains("hidden"), "{fault}");
    }

    #[test]
    fn headers_stay_unless_others_are_typed_or_the_box_is_ticked() {
        assert_eq!(read_headers(&mut typed(" ")), None);
        let mut form = typed("");
        form.put("no_headers", YES);
        assert_eq!(read_headers(&mut form), Some(Vec::new()));
    }
}
