//! The mails in words: as text and as simple HTML, in the language of the recipient.

use maud::{DOCTYPE, Markup, html};
use url::Url;
use uuid::Uuid;

use super::topic::{Paragraph, topic};
use crate::connector::mail::Letter;
use crate::console::text::Text;
use crate::console::zone::Zone;
use crate::domain::user::Language;
use crate::engine::{AlertLetter, Composer};

/// Writes the mails to people, with links to this service.
#[derive(Debug, Clone)]
pub struct MailWriter {
    /// The address of the service, without a slash at its end.
    base: String,
}

/// A mail before it is written in text and in HTML.
struct Draft {
    text: Text,
    subject: String,
    paragraphs: Vec<Paragraph>,
    /// Why the recipient gets it.
    why: String,
}

impl MailWriter {
    /// For the service at this address.
    pub fn new(public_url: &Url) -> Self {
        Self::at(public_url.as_str().trim_end_matches('/').to_owned())
    }

    /// For the service at this address, without a slash at its end.
    pub(super) const fn at(base: String) -> Self {
        Self { base }
    }

    /// A mail that says only that mails arrive.
    pub(super) fn test(&self, text: Text, address: &str, name: &str) -> Letter {
        let paragraph = Paragraph {
            title: text.get("alerts-test-arrived"),
            lines: Vec::new(),
            remedy: None,
            path: "/console".to_owned(),
        };
        let draft = Draft {
            text,
            subject: text.get("alerts-test-subject"),
            paragraphs: vec![paragraph],
            why: text.get("alerts-test-why"),
        };
        self.letter(Uuid::now_v7(), address, name, &draft)
    }

    /// The page on which the recipient chooses.
    fn choices(&self) -> String {
        format!("{}{}", self.base, super::PLACE)
    }

    fn letter(&self, id: Uuid, address: &str, name: &str, draft: &Draft) -> Letter {
        Letter {
            id,
            to: address.to_owned(),
            name: name.to_owned(),
            subject: draft.subject.clone(),
            text: self.plain(name, draft),
            html: self.html(name, draft).into_string(),
            unsubscribe: Some(self.choices()),
        }
    }

    fn plain(&self, name: &str, draft: &Draft) -> String {
        let Draft { text, paragraphs, why, .. } = draft;
        let mut lines = vec![text.with("alerts-hello", [("name", name.into())]), String::new()];
        for Paragraph { title, lines: said, remedy, path } in paragraphs {
            lines.push(title.clone());
            lines.extend(said.iter().map(|line| format!("- {line}")));
            lines.extend(remedy.clone());
            lines.extend([format!("{}{path}", self.base), String::new()]);
        }
        lines.extend(["-- ".to_owned(), why.clone(), text.get("alerts-change"), self.choices()]);
        lines.join("\n") + "\n"
    }

    fn html(&self, name: &str, draft: &Draft) -> Markup {
        let Draft { text, subject, paragraphs, why } = draft;
        html! {
            (DOCTYPE)
            html lang=(text.0.as_str()) {
                head { meta charset="utf-8"; title { (subject) } }
                body {
                    p { (text.with("alerts-hello", [("name", name.into())])) }
                    @for one in paragraphs {
                        h3 { (one.title) }
                        @if !one.lines.is_empty() { ul { @for line in &one.lines { li { (line) } } } }
                        @if let Some(remedy) = &one.remedy { p { (remedy) } }
                        p { a href=(format!("{}{}", self.base, one.path)) { (text.get("alerts-open")) } }
                    }
                    hr;
                    p { small { (why) " " a href=(self.choices()) { (text.get("alerts-change")) } } }
                }
            }
        }
    }
}

impl Composer for MailWriter {
    fn compose(&self, letter: &AlertLetter<'_>) -> Letter {
        let AlertLetter { id, to, company, topics, more } = letter;
        let text = Text(to.language.unwrap_or(Language::English));
        let zone = Zone::named(to.time_zone.as_deref().unwrap_or_default());
        let mut paragraphs: Vec<_> = topics.iter().map(|one| topic(text, &zone, one)).collect();
        let count = paragraphs.len() as u64 + more;
        let subject = match (&paragraphs[..], count) {
            ([only], 1) => only.title.clone(),
            _ => text.with("alerts-several", [("count", count.into())]),
        };
        if *more > 0 {
            paragraphs.push(Paragraph {
                title: text.with("alerts-more", [("count", (*more).into())]),
                lines: Vec::new(),
                remedy: None,
                path: "/console".to_owned(),
            });
        }
        let why = [("company", (*company).into()), ("zone", zone.name().replace('_', " ").into())];
        let draft = Draft {
            text,
            subject: format!("{company}: {subject}"),
            paragraphs,
            why: text.with("alerts-why", why),
        };
        self.letter(*id, &to.email, &to.name, &draft)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::AlertListener;
    use crate::clock::Timestamp;
    use crate::domain::alert::AlertKind;
    use crate::domain::channel::Status;
    use crate::domain::event::log::{Fact, Why};
    use crate::engine::{AlertFact, AlertTopic};

    const AT: Timestamp = Timestamp::from_millis(1_700_000_000_007);
    const CHANNEL: Uuid = Uuid::from_u128(0x11);

    fn writer() -> MailWriter {
        MailWriter::new(&"https://pombo.example".parse().unwrap())
    }

    fn listener(language: Language) -> AlertListener {
        AlertListener {
            user_id: Uuid::from_u128(1),
            email: "ana@example.com".to_owned(),
            name: "Ana <b>".to_owned(),
            language: Some(language),
            time_zone: Some("America/Sao_Paulo".to_owned()),
            kinds: AlertKind::ALL.to_vec(),
        }
    }

    fn down(count: u64) -> AlertTopic {
        let sentence = "refused".to_owned();
        let why = Why { code: "credentials_refused".to_owned(), sentence, provider_code: Some(190) };
        let fact = Fact::of_channel(CHANNEL, Status::Disconnected, Some(why), AT);
        let name = Some("Loja".to_owned());
        let facts = vec![AlertFact { fact, name, send: None, counts: None }];
        AlertTopic { kind: AlertKind::Channel, count, since: AT, facts }
    }

    fn letter(language: Language, topics: Vec<AlertTopic>, more: u64) -> Letter {
        let to = listener(language);
        writer().compose(&AlertLetter { id: Uuid::from_u128(7), to: &to, company: "Acme", topics, more })
    }

    #[test]
    fn a_mail_says_what_happened_what_to_do_and_why_it_comes_in_each_language() {
        for (language, subject, time) in [
            (Language::English, "Acme: Loja is disconnected", "Nov 14, 2023 19:13"),
            (Language::Portuguese, "Acme: Loja está desconectado", "14/11/2023 19:13"),
            (Language::Spanish, "Acme: Loja está desconectado", "14/11/2023 19:13"),
        ] {
            let Letter { subject: given, text, html, unsubscribe, .. } = letter(language, vec![down(1)], 0);
            assert_eq!(given, subject);
            let page = format!("https://pombo.example/console/channels/{CHANNEL}");
            for wanted in [time, &page, "https://pombo.example/console/account#alerts", "Acme"] {
                assert!(text.contains(wanted), "{wanted}: {text}");
                assert!(html.contains(wanted), "{wanted}: {html}");
            }
            assert!(html.contains("Ana &lt;b&gt;"), "{html}");
            assert_eq!(unsubscribe.as_deref(), Some("https://pombo.example/console/account#alerts"));
        }
    }

    #[test]
    fn several_subjects_and_repetitions_are_counted() {
        let Letter { subject, text, .. } = letter(Language::English, vec![down(14), down(1)], 5);
        assert_eq!(subject, "Acme: 7 alerts");
        assert!(text.contains("14 changes since") && text.contains("5 more"), "{text}");
    }

    #[test]
    fn a_test_mail_has_a_link_too() {
        let letter = writer().test(Text(Language::English), "ana@example.com", "Ana");
        assert!(letter.text.contains("https://pombo.example/console"), "{}", letter.text);
        assert!(letter.text.contains("Hello Ana"), "{}", letter.text);
    }
}
