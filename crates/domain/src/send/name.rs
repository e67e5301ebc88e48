//! The name of a send that was given none: what it sends, and to whom. It is made when it is read, so that sends from
//! before there were names have one, too, and each reader's language can put it together.

/// How much of a text the name has, in characters.
const WHAT_CHARS: usize = 40;
/// How much of the name of a tag it has.
const TAG_CHARS: usize = 24;
/// The number of tags that it names.
const TAGS: usize = 2;

/// What the name of a send is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Naming<'a> {
    /// The name of its template, or the beginning of its text, or a word for the kind of its messages.
    pub what: &'a str,
    /// The names of the tags that it goes to.
    pub tags: &'a [String],
    /// Whether it goes to a group.
    pub is_to_group: bool,
    /// How many get it.
    pub recipients: u64,
}

impl Naming<'_> {
    /// What it sends, as much of it as a name has room for.
    pub fn what(&self) -> String {
        shortened(self.what, WHAT_CHARS)
    }

    /// The names of the first tags with commas between them, and how many more there are.
    pub fn tags(&self) -> (String, u64) {
        let first: Vec<_> = self.tags.iter().take(TAGS).map(|tag| shortened(tag, TAG_CHARS)).collect();
        (first.join(", "), self.tags.len().saturating_sub(TAGS) as u64)
    }

    /// The name in English, for programs.
    pub fn in_english(&self) -> String {
        let what = self.what();
        match (self.tags(), self.is_to_group, self.recipients) {
            ((tags, 0), _, _) if !tags.is_empty() => format!("{what} to {tags}"),
            ((tags, 1), _, _) => format!("{what} to {tags} and 1 more tag"),
            ((tags, more), _, _) if more > 1 => format!("{what} to {tags} and {more} more tags"),
            (_, true, _) => format!("{what} to a group"),
            (_, false, 1) => format!("{what} to 1 person"),
            (_, false, people) => format!("{what} to {people} people"),
        }
    }
}

/// The first line that is not blank, cut behind a word where there is one to cut behind.
fn shortened(text: &str, most: usize) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let Some((end, _)) = line.char_indices().nth(most) else { return line.to_owned() };
    let cut = &line[..end];
    let whole = cut.rsplit_once(' ').map(|(whole, _)| whole).filter(|whole| whole.chars().count() > most / 2);
    format!("{}…", whole.unwrap_or(cut).trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_is_sent_and_to_whom() {
        let named = |what, tags: &[&str], is_to_group, recipients| {
            let tags: Vec<_> = tags.iter().map(|tag| (*tag).to_owned()).collect();
            Naming { what, tags: &tags, is_to_group, recipients }.in_english()
        };
        assert_eq!(named("spring_offer", &["vip"], false, 9), "spring_offer to vip");
        assert_eq!(named("spring_offer", &["vip", "a"], false, 9), "spring_offer to vip, a");
        assert_eq!(named("x", &["a", "b", "c"], false, 9), "x to a, b and 1 more tag");
        assert_eq!(named("x", &["a", "b", "c", "d"], false, 9), "x to a, b and 2 more tags");
        assert_eq!(named("x", &[], true, 1), "x to a group");
        assert_eq!(named("x", &[], false, 1), "x to 1 person");
        assert_eq!(named("\n  Hello,\nyou", &[], false, 3), "Hello, to 3 people");
    }

    #[test]
    fn long_texts_are_cut_behind_a_word() {
        let cut = |text: &str| shortened(text, 10);
        assert_eq!(cut("0123456789"), "0123456789");
        assert_eq!(cut("0123456789a"), "0123456789…");
        assert_eq!(cut("Good morning"), "Good morni…");
        assert_eq!(cut("Good day everybody"), "Good day…");
        assert_eq!(cut("ééééééé éééééé"), "ééééééé…");
        assert_eq!(cut(""), "");
    }
}
