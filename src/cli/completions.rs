//! `pombo completions`.

use std::io::Write as _;

use clap::{Args, Command};
use clap_complete::Shell;

use super::output::{Output, Unwritten};

#[derive(Debug, Args)]
#[command(after_help = "\
Where the shell looks for them, for example:
  pombo completions bash > /etc/bash_completion.d/pombo
  pombo completions zsh > /usr/local/share/zsh/site-functions/_pombo
  pombo completions fish > ~/.config/fish/completions/pombo.fish")]
pub(super) struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn run(Arguments { shell }: Arguments, command: &mut Command) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, command, "pombo", &mut script);
    let output = Output::new(false);
    let mut output = output.stream();
    output.write_all(&script).and_then(|()| output.flush()).map_err(Unwritten)?;
    Ok(())
}
