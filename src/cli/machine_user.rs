//! The person at the command line, for the record of changes: the machine's user, if it is known.
//!
//! The name is not authenticated: anyone who can run commands here can read and write the database anyway.

use std::env;
use std::fs;

/// The file whose owner is the user of the process, on Linux.
const PROCESS: &str = "/proc/self";
/// The file with the users of a Unix machine, one a line: name, password, number and more, separated by
/// colons.
const USERS: &str = "/etc/passwd";
/// The variable in which most shells set the user's name, for systems without these files.
const VARIABLE: &str = "USER";
/// The longest name that is recorded.
const MAX_CHARS: usize = 64;

/// The user's name, or the user's number when the name is unknown.
pub(super) fn name() -> String {
    let known = number().map(|number| {
        let users = fs::read_to_string(USERS).unwrap_or_default();
        named(&users, number).unwrap_or_else(|| number.to_string())
    });
    let name = known.or_else(|| env::var(VARIABLE).ok()).unwrap_or_default();
    let name: String = name.chars().filter(|character| !character.is_control()).take(MAX_CHARS).collect();
    if name.is_empty() { "unknown".to_owned() } else { name }
}

#[cfg(unix)]
fn number() -> Option<u32> {
    fs::metadata(PROCESS).ok().map(|process| std::os::unix::fs::MetadataExt::uid(&process))
}

#[cfg(not(unix))]
fn number() -> Option<u32> {
    None
}

fn named(users: &str, number: u32) -> Option<String> {
    let mut users = users.lines().map(|line| line.split(':'));
    users.find_map(|mut fields| {
        let (name, number_of_this) = (fields.next()?, fields.nth(1)?);
        (number_of_this.parse() == Ok(number)).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_number_among_lines_of_any_shape() {
        let users = "root:x:0:0:root:/root:/bin/sh\n\n# note\nbroken\nana:x:1000:1000::/home/ana:/bin/sh\n";
        assert_eq!(named(users, 1000).as_deref(), Some("ana"));
        assert_eq!(named(users, 7), None);
        assert_ne!(name(), "");
    }
}
