//! The name of a browser, found in its user agent. The whole user agent is shown when the person points at
//! the name.
//!
//! A small table is enough: a browser that is not in it is shown by its user agent.

use maud::{Markup, html};

use crate::console::text::Text;

/// Parts of user agents, and the names of their browsers. Browsers whose user agents also contain the names
/// of others come first.
const BROWSERS: [(&[&str], &str); 8] = [
    (&["Edg/", "EdgA/", "EdgiOS/", "Edge/"], "Edge"),
    (&["OPR/", "Opera/", "OPiOS/"], "Opera"),
    (&["SamsungBrowser/"], "Samsung Internet"),
    (&["Vivaldi/"], "Vivaldi"),
    (&["Firefox/", "FxiOS/"], "Firefox"),
    (&["Chrome/", "Chromium/", "CriOS/"], "Chrome"),
    (&["Version/"], "Safari"),
    (&["curl/"], "curl"),
];
/// The same for systems.
const SYSTEMS: [(&[&str], &str); 7] = [
    (&["Android"], "Android"),
    (&["iPhone", "iPod"], "iPhone"),
    (&["iPad"], "iPad"),
    (&["Windows"], "Windows"),
    (&["CrOS"], "ChromeOS"),
    (&["Macintosh", "Mac OS X"], "macOS"),
    (&["Linux"], "Linux"),
];

/// The browser and its system, such as "Firefox on Linux".
pub(crate) fn browser(text: Text, raw: &str) -> Markup {
    match (known(&BROWSERS, raw), known(&SYSTEMS, raw)) {
        (Some(browser), Some(system)) => {
            let words =
                text.with("account-browser-on", [("browser", browser.into()), ("system", system.into())]);
            html! { span title=(raw) { (words) } }
        }
        (Some(browser), None) => html! { span title=(raw) { (browser) } },
        (None, _) if raw.is_empty() => html! { span.soft { "—" } },
        (None, _) => html! { bdi { (raw) } },
    }
}

fn known(table: &[(&[&str], &'static str)], raw: &str) -> Option<&'static str> {
    let found = table.iter().find(|(signs, _)| signs.iter().any(|sign| raw.contains(sign)));
    found.map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::language::Language;

    fn shown(raw: &str) -> String {
        browser(Text(Language::English), raw).into_string()
    }

    #[test]
    fn common_browsers_are_called_by_their_names() {
        let windows = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)";
        let phone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15";
        let android = "Mozilla/5.0 (Linux; Android 14; SM-S911B) AppleWebKit/537.36";
        for (raw, words) in [
            ("Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0", "Firefox on Linux"),
            (&format!("{windows} Chrome/131.0.0.0 Safari/537.36"), "Chrome on Windows"),
            (&format!("{windows} Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0"), "Edge on Windows"),
            (&format!("{phone} Version/18.1 Mobile/15E148 Safari/604.1"), "Safari on iPhone"),
            (&format!("{phone} CriOS/131.0 Mobile/15E148 Safari/604.1"), "Chrome on iPhone"),
            (
                &format!("{android} SamsungBrowser/27.0 Chrome/125.0 Safari/537.36"),
                "Samsung Internet on Android",
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/18.1 Safari/605.1.15",
                "Safari on macOS",
            ),
            ("curl/8.5.0", "curl"),
        ] {
            assert_eq!(shown(raw), format!("<span title=\"{raw}\">{words}</span>"));
        }
    }

    #[test]
    fn an_unknown_browser_is_shown_as_it_calls_itself() {
        assert_eq!(shown("My <Tool> 1.0"), "<bdi>My &lt;Tool&gt; 1.0</bdi>");
        assert_eq!(shown(""), "<span class=\"soft\">—</span>");
    }
}
