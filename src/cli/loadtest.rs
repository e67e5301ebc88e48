//! `pombo loadtest`.

mod arguments;
mod screen;

use std::cell::OnceCell;
use std::path::Path;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use anyhow::Context as _;

pub(super) use self::arguments::Arguments;
use self::screen::Screen;
use super::Global;
use super::output::Output;
use crate::app::{App, shutdown};
use crate::config::Config;
use crate::domain::channel::Channel;
use crate::store::Store;
use crate::vault::Vault;
use loadtest::{Outcome, Program, Report, page};

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

pub(super) async fn run(global: &Global, arguments: Arguments) -> anyhow::Result<()> {
    let report_file = arguments.report.clone();
    if let Some(path) = &report_file {
        is_writable(path)?;
    }
    let config = Config::load_with(PRESETS, global.config.as_deref())?;
    let plan = arguments.plan(config, global.config.clone())?;
    let mut screen = Screen::new(global.json);
    let ran = Box::pin(loadtest::run(&plan, &ThisProgram::default(), |event| screen.show(event))).await;
    screen.clear();
    let report = ran?;
    if let Some(path) = &report_file {
        std::fs::write(path, page::html(&report)).with_context(|| unwritable(path))?;
    }
    print(&Output::new(global.json), &report, report_file.as_deref())?;
    if report.passed { Ok(()) } else { Err(Failed(why(&report)).into()) }
}

/// Checks before minutes of measuring that the report can be written. The check leaves no file behind.
fn is_writable(path: &Path) -> anyhow::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let tried = tempfile::tempfile_in(directory.unwrap_or(Path::new(".")));
    tried.map(drop).with_context(|| unwritable(path))
}

fn unwritable(path: &Path) -> String {
    format!("cannot write the report to {}; choose another file with --report", path.display())
}

fn why(report: &Report) -> String {
    let bad = report.verdicts.iter().filter(|verdict| verdict.decides && verdict.outcome == Outcome::Bad);
    let answers: Vec<_> = bad.map(|verdict| verdict.answer.as_str()).collect();
    format!("the load test failed. {}", answers.join(" "))
}

fn print(output: &Output, report: &Report, file: Option<&Path>) -> anyhow::Result<()> {
    if output.json {
        return output.record(report, "");
    }
    let (figures, verdicts) = (screen::figures(report), screen::verdicts(report));
    output.table(&["what", "figure"], figures.into_iter())?;
    output.table(&["verdict", "question", "description"], verdicts.into_iter())?;
    match file {
        Some(path) => output.record(&(), &format!("the report, with charts, is in {}", path.display())),
        None => Ok(()),
    }
}
