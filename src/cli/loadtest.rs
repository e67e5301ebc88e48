//! `pombo loadtest`.

mod arguments;
mod screen;
mod values;

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use anyhow::Context as _;

pub(super) use self::arguments::Arguments;
use self::arguments::Command;
use self::screen::Screen;
use super::Global;
use super::output::Output;
use crate::app::{App, shutdown};
use crate::config::Config;
use crate::domain::channel::Channel;
use crate::store::Store;
use crate::vault::Vault;
use loadtest::compare::Base;
use loadtest::{Outcome, Program, Report, page, raw};

/// The output of a load test matters more than its log.
const PRESETS: &[(&str, &str)] = &[("log.level", "warn")];

/// What the load test needs of this program.
#[derive(Clone, Default)]
struct ThisProgram(Rc<OnceCell<App>>);

impl Program for ThisProgram {
    async fn open(&self, config: Config) -> anyhow::Result<(Store, Arc<Vault>)> {
        let app = App::open(config).await?;
        let opened = (app.store.clone(), Arc::clone(&app.vault));
        let _ = self.0.set(app);
        Ok(opened)
    }

    async fn probe(&self, channel: &Channel) -> anyhow::Result<()> {
        self.0.get().context("no database was opened")?.probe(channel).await
    }

    fn asked_to_end(&self) -> Pin<Box<dyn Future<Output = std::io::Result<()>>>> {
        Box::pin(shutdown::requested())
    }
}

/// The service did not keep its guarantees. The report was printed before.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Failed(String);

pub(super) async fn run(global: &Global, mut arguments: Arguments) -> anyhow::Result<()> {
    let output = Output::new(global.json);
    if let Some(Command::Compare(two)) = arguments.command.take() {
        return compare(&output, &two);
    }
    let base = arguments.compare.as_deref().map(read).transpose()?;
    let allowed = arguments.allow;
    let files = Files {
        page: arguments.report.clone(),
        samples: arguments.csv.clone(),
        requests: arguments.requests_csv.clone(),
    };
    files.are_writable()?;
    let config = Config::load_with(PRESETS, global.config.as_deref())?;
    let plan = arguments.plan(config, global.config.clone(), typed(std::env::args()))?;
    let mut screen = Screen::new(global.json);
    let ran = Box::pin(loadtest::run(&plan, &ThisProgram::default(), |event| screen.show(event))).await;
    screen.clear();
    let (mut report, requests) = ran?;
    if let Some(base) = &base {
        report.compare(base, allowed)?;
    }
    files.write(&report, &requests)?;
    print(&output, &report, &files)?;
    if report.passed { Ok(()) } else { Err(Failed(why(&report)).into()) }
}

/// Compares two reports that were written before.
fn compare(output: &Output, two: &arguments::Compare) -> anyhow::Result<()> {
    let comparison = read(&two.before)?.compare_with(&read(&two.after)?, two.allow)?;
    if output.json {
        output.record(&comparison, "")?;
    } else {
        screen::compared(output, &comparison)?;
    }
    match comparison.fault() {
        None => Ok(()),
        Some(fault) => Err(Failed(fault).into()),
    }
}

fn read(path: &Path) -> anyhow::Result<Base> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Base::read(&text).with_context(|| format!("cannot compare with {}", path.display()))
}

/// The files that a test writes.
struct Files {
    page: Option<PathBuf>,
    samples: Option<PathBuf>,
    requests: Option<PathBuf>,
}

impl Files {
    fn all(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let all = [
            ("the report, with charts, is", &self.page),
            ("the figures over time are", &self.samples),
            ("the requests are", &self.requests),
        ];
        all.into_iter().filter_map(|(what, path)| Some((what, path.as_deref()?)))
    }

    /// Checks before minutes of measuring that the files can be written. The check leaves no file behind.
    fn are_writable(&self) -> anyhow::Result<()> {
        for (_, path) in self.all() {
            let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            let tried = tempfile::tempfile_in(directory.unwrap_or(Path::new(".")));
            tried.map(drop).with_context(|| unwritable(path))?;
        }
        Ok(())
    }

    fn write(&self, report: &Report, requests: &[raw::Request]) -> anyhow::Result<()> {
        let create = |path: &Path| std::fs::File::create(path).with_context(|| unwritable(path));
        if let Some(path) = &self.page {
            std::fs::write(path, page::html(report)).with_context(|| unwritable(path))?;
        }
        if let Some(path) = &self.samples {
            raw::samples(create(path)?, report).with_context(|| unwritable(path))?;
        }
        if let Some(path) = &self.requests {
            raw::requests(create(path)?, requests).with_context(|| unwritable(path))?;
        }
        Ok(())
    }
}

fn unwritable(path: &Path) -> String {
    format!("cannot write to {}; choose another file", path.display())
}

/// The command as it was typed, without its secrets.
fn typed(arguments: impl Iterator<Item = String>) -> String {
    const SECRETS: [&str; 2] = ["--key", "--database-url"];
    let mut words = Vec::new();
    let mut is_secret = false;
    for (place, word) in arguments.enumerate() {
        let (option, _) = word.split_once('=').unwrap_or((word.as_str(), ""));
        let word = match (place, is_secret) {
            (0, _) => "pombo".to_owned(),
            (_, true) => "…".to_owned(),
            _ if SECRETS.contains(&option) && option.len() < word.len() => format!("{option}=…"),
            _ if word.contains(char::is_whitespace) => format!("'{word}'"),
            _ => word.clone(),
        };
        is_secret = SECRETS.contains(&word.as_str());
        words.push(word);
    }
    words.join(" ")
}

fn why(report: &Report) -> String {
    let bad = report.verdicts.iter().filter(|verdict| verdict.decides && verdict.outcome == Outcome::Bad);
    let answers: Vec<_> = bad.map(|verdict| verdict.answer.as_str()).collect();
    format!("the load test failed. {}", answers.join(" "))
}

fn print(output: &Output, report: &Report, files: &Files) -> anyhow::Result<()> {
    if output.json {
        return output.record(report, "");
    }
    let (figures, verdicts) = (screen::figures(report), screen::verdicts(report));
    output.table(&["what", "figure"], figures.into_iter())?;
    if let Some(comparison) = &report.comparison {
        screen::compared(output, comparison)?;
    }
    output.table(&["verdict", "question", "description"], verdicts.into_iter())?;
    for (what, path) in files.all() {
        output.record(&(), &format!("{what} in {}", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_in_a_report_has_no_secrets() {
        let line = [
            "/usr/bin/pombo",
            "loadtest",
            "--key",
            "hunter2",
            "--key=hunter2",
            "--database-url",
            "postgres://a:hunter2@b",
            "--channel",
            "My shop",
        ];
        let typed = typed(line.into_iter().map(str::to_owned));
        assert_eq!(typed, "pombo loadtest --key … --key=… --database-url … --channel 'My shop'");
    }
}
