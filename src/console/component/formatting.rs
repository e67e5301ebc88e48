//! A text as WhatsApp shows it: its formatting (bold, italic, strikethrough, monospace), and its variables marked.
//!
//! A text is cut before it is drawn, and each level of formats within formats is drawn in one pass: no text takes longer
//! than its length.

use maud::{Markup, html};

/// The longest text that is drawn, in characters: a message may have as many.
pub(crate) const TEXT_CHARS: usize = 4_096;
/// The longest name of an entry, a button or a section that is drawn, in characters: the provider allows 72 at most.
pub(crate) const LABEL_CHARS: usize = 256;
/// The longest address that is drawn, in characters: a link may have as many.
pub(crate) const LINK_CHARS: usize = 2_048;
/// The most lines of a text that are drawn: more than any message for people has.
const LINES: usize = 500;
/// How deep formats are drawn within one another.
const DEEPEST: usize = 3;
/// Characters that enclose a formatted text.
const SIGNS: [char; 4] = ['*', '_', '~', '`'];

/// The name of a variable, and its value.
pub(crate) type Example = (String, String);

/// What a text's variables show; `None` for a text without variables, which is sent as it is.
pub(crate) type Examples<'a> = Option<&'a [Example]>;

/// The beginning of a text: at most this many characters.
pub(crate) fn beginning(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).map_or(text, |(end, _)| &text[..end])
}

/// A plain text, cut to this many characters.
pub(crate) fn plain(text: &str, chars: usize) -> Markup {
    let shown = beginning(text, chars);
    html! { (shown) @if shown.len() < text.len() { "…" } }
}

/// One line of text.
pub(crate) fn line(text: &str, examples: Examples<'_>) -> Markup {
    let shown = beginning(text, TEXT_CHARS);
    html! { (nested(shown, examples, DEEPEST)) @if shown.len() < text.len() { "…" } }
}

/// A text of several lines, each a paragraph.
pub(crate) fn lines(text: &str, examples: Examples<'_>) -> Markup {
    let shown = beginning(text, TEXT_CHARS);
    let mut lines = shown.split('\n');
    let drawn = lines.by_ref().take(LINES);
    html! {
        @for line in drawn { p dir="auto" { (nested(line, examples, DEEPEST)) } }
        @if shown.len() < text.len() || lines.next().is_some() { p { "…" } }
    }
}

/// A text with its variables marked: each shows its example, and its name when the person points at it.
pub(crate) fn marked(text: &str, examples: Examples<'_>) -> Markup {
    let Some(examples) = examples else { return html! { (text) } };
    html! {
        @for (index, piece) in text.split("{{").enumerate() {
            @if index == 0 {
                (piece)
            } @else if let Some((name, rest)) = piece.split_once("}}") {
                @let name = name.trim();
                @let example = examples.iter().find(|(known, _)| known == name).map(|(_, example)| example);
                mark title=(format!("{{{{{name}}}}}")) {
                    @if let Some(example) = example { (example) } @else { "{{" (name) "}}" }
                }
                (rest)
            } @else {
                "{{" (piece)
            }
        }
    }
}

fn nested(text: &str, examples: Examples<'_>, depth: usize) -> Markup {
    if depth == 0 {
        return marked(text, examples);
    }
    let (spans, rest) = spans(text);
    html! {
        @for Span { format, before, inside } in spans {
            (marked(before, examples))
            @match format {
                Format::Bold => strong { (nested(inside, examples, depth - 1)) },
                Format::Italic => em { (nested(inside, examples, depth - 1)) },
                Format::Struck => s { (nested(inside, examples, depth - 1)) },
                Format::Code | Format::Block => code { (marked(inside, examples)) },
            }
        }
        (marked(rest, examples))
    }
}

#[derive(Debug, Clone, Copy)]
enum Format {
    Bold,
    Italic,
    Struck,
    Code,
    Block,
}

impl Format {
    const ALL: [Self; 5] = [Self::Bold, Self::Italic, Self::Struck, Self::Code, Self::Block];

    const fn sign(self) -> &'static str {
        match self {
            Self::Bold => "*",
            Self::Italic => "_",
            Self::Struck => "~",
            Self::Code => "`",
            Self::Block => "```",
        }
    }

    /// The format that the signs at the beginning of a text open.
    fn opened_by(text: &str) -> Option<Self> {
        Self::ALL.into_iter().rev().find(|format| text.starts_with(format.sign()))
    }
}

/// A text between two equal signs, and the text before it.
struct Span<'a> {
    format: Format,
    before: &'a str,
    inside: &'a str,
}

/// The formatted parts of a text in their order, and the text after the last one.
fn spans(text: &str) -> (Vec<Span<'_>>, &str) {
    let mut closing = Closing::of(text);
    let (mut spans, mut from, mut at) = (Vec::new(), 0, 0);
    while let Some(found) = text[at..].find(SIGNS) {
        let start = at + found;
        at = start + 1;
        let Some(format) = Format::opened_by(&text[start..]) else { continue };
        let inner = start + format.sign().len();
        let is_open = is_edge(text[from..start].chars().next_back())
            && text[inner..].chars().next().is_some_and(|first| !first.is_whitespace());
        if let Some(end) = closing.after(format, inner).filter(|_| is_open) {
            spans.push(Span { format, before: &text[from..start], inside: &text[inner..end] });
            from = end + format.sign().len();
            at = from;
        }
    }
    (spans, &text[from..])
}

/// The positions at which each format can end, ascending. They are asked for in ascending order, so that each is passed
/// once.
struct Closing([std::iter::Peekable<std::vec::IntoIter<usize>>; 5]);

impl Closing {
    fn of(text: &str) -> Self {
        let mut places: [Vec<usize>; 5] = Default::default();
        let mut before = None;
        for (at, letter) in text.char_indices() {
            if SIGNS.contains(&letter) && before.is_some_and(|before: char| !before.is_whitespace()) {
                for format in Format::ALL {
                    let rest = text[at..].strip_prefix(format.sign());
                    if rest.is_some_and(|rest| is_edge(rest.chars().next())) {
                        places[format as usize].push(at);
                    }
                }
            }
            before = Some(letter);
        }
        Self(places.map(|places| places.into_iter().peekable()))
    }

    /// The first end of a text that begins at `inner` and is not empty.
    fn after(&mut self, format: Format, inner: usize) -> Option<usize> {
        let places = &mut self.0[format as usize];
        while places.next_if(|place| *place <= inner).is_some() {}
        places.peek().copied()
    }
}

/// Whether a sign may stand beside this letter, on its outer side.
fn is_edge(beside: Option<char>) -> bool {
    beside.is_none_or(|beside| !beside.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str) -> String {
        line(text, Some(&[])).into_string()
    }

    #[test]
    fn formats_are_drawn_within_one_another_and_within_words_they_are_not() {
        for (text, expected) in [
            ("*a* b *c d*!", "<strong>a</strong> b <strong>c d</strong>!"),
            ("*_~x~_*", "<strong><em><s>x</s></em></strong>"),
            ("```*a*``` `b`", "<code>*a*</code> <code>b</code>"),
            ("* a* *b * 2*3*4 snake_case_name", "* a* *b * 2*3*4 snake_case_name"),
            ("** *a** ``` `", "<strong>* *a</strong>* ``` `"),
            ("*a b* c*", "<strong>a b</strong> c*"),
            ("_*a_ b*", "<em>*a</em> b*"),
        ] {
            assert_eq!(drawn(text), expected, "{text}");
        }
    }

    /// The text of a drawn line, without the signs that became formats, and those that did not.
    fn text_of(drawn: &str) -> String {
        let pieces = drawn.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text));
        pieces.collect::<String>().replace(SIGNS, "")
    }

    /// Each of these took a pass over the rest of the text for each of its marks: hours.
    #[test]
    fn a_megabyte_of_marks_is_drawn_in_one_pass() {
        for unit in ["*a ", " a*", "*_~`a", "```a ", "{{a}", "*{{a_ "] {
            let text = unit.repeat(1024 * 1024 / unit.len());
            let drawn = nested(&text, Some(&[]), DEEPEST).into_string();
            assert!(text_of(&drawn) == text.replace(SIGNS, ""), "{unit}: the text is not the same");
        }
        let bold = "*a* ".repeat(100_000);
        let drawn = nested(&bold, Some(&[]), DEEPEST).into_string();
        assert_eq!(drawn.matches("<strong>a</strong>").count(), 100_000);
    }

    #[test]
    fn a_text_is_cut_before_it_is_drawn() {
        let drawn = drawn(&"é".repeat(3_000_000));
        assert_eq!(drawn.chars().filter(|letter| *letter == 'é').count(), TEXT_CHARS);
        assert!(drawn.ends_with('…'), "the reader sees that it is cut");
        let drawn = lines(&"a\n".repeat(2_000), Some(&[])).into_string();
        assert_eq!(drawn.matches(">a</p>").count(), LINES);
        assert!(drawn.ends_with("<p>…</p>"));
        let whole = lines("a\nb", Some(&[])).into_string();
        assert_eq!(whole, "<p dir=\"auto\">a</p><p dir=\"auto\">b</p>");
        assert_eq!(plain("abc", 2).into_string(), "ab…");
    }
}
