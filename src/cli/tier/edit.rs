//! `pombo tier edit`: a tier in the editor of the person.

use std::env;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{self, Command};

use anyhow::{Context as _, anyhow, bail};
use clap::Args;

use super::{find, put};
use crate::cli::failure::Misused;
use crate::cli::session::Session;
use crate::domain::tier::{Tier, parse, to_toml};
use crate::files;

/// The variables that name a person's editor, the first one that is set counts.
const EDITORS: [&str; 2] = ["VISUAL", "EDITOR"];
/// The editor of a person who names none.
const USUAL: &str = "vi";

const HEAD: &str = "\
# Save the file and close the editor to apply it. Unchanged, it changes nothing.
# An option without its line has its default.
";

#[derive(Debug, Args)]
pub(in crate::cli) struct Edit {
    /// The tier's name
    name: String,
}

pub(in crate::cli) async fn run(session: &Session, Edit { name }: Edit) -> anyhow::Result<()> {
    let before = find(session, &name, None).await?;
    let text = format!("{HEAD}{}", to_toml(&before));
    let path = env::temp_dir().join(format!("pombo-tier-{name}-{}.toml", process::id()));
    let written = files::create_new(&path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.with_context(|| format!("cannot write {}; remove it, or set TMPDIR", path.display()))?;
    let edited = open(&path);
    let result = match edited {
        Ok(edited) if edited == text => Err(anyhow!("nothing was changed: the file is as it was")),
        Ok(edited) => apply(session, &before, &edited, &path).await,
        Err(error) => Err(error),
    };
    // What a person wrote is lost only once it is applied.
    if result.is_ok() || fs::read_to_string(&path).is_ok_and(|left| left == text) {
        let _ = fs::remove_file(&path);
    }
    result
}

/// Lets the person edit the file, and returns its text then.
fn open(path: &Path) -> anyhow::Result<String> {
    let named =
        EDITORS.iter().find_map(|name| env::var(name).ok().filter(|editor| !editor.trim().is_empty()));
    let editor = named.unwrap_or_else(|| USUAL.to_owned());
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or(USUAL);
    let ended = Command::new(program).args(words).arg(path).status();
    let ended = ended
        .with_context(|| format!("cannot start `{program}`: set EDITOR to an editor of this machine"))?;
    if !ended.success() {
        bail!("`{program}` failed; nothing was changed");
    }
    fs::read_to_string(path).with_context(|| format!("cannot read {} again", path.display()))
}

async fn apply(session: &Session, before: &Tier, edited: &str, path: &Path) -> anyhow::Result<()> {
    let shown = path.display();
    let kept = |problem: &str| {
        Misused(format!(
            "the tier {} was not changed:\n  {problem}\nnext: correct {shown} and run `pombo tier apply {shown}`",
            before.name
        ))
    };
    let tiers = parse(edited).map_err(|faults| {
        let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
        kept(&lines.join("\n  "))
    })?;
    let [tier] = &tiers[..] else { return Err(kept("the file must have one tier").into()) };
    if tier.name != before.name {
        return Err(kept("the tier has another name; `pombo tier rename` changes it").into());
    }
    if find(session, &before.name, None).await? != *before {
        return Err(kept("somebody else changed it meanwhile; look at `pombo tier history`").into());
    }
    put(session, &tiers, false, "add another tier").await
}
