//! The program in a process of its own, and its directory.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;
use simulator::{ReceiptOptions, Simulator};
use tempfile::TempDir;
use tokio::sync::watch;

use crate::channel::{Channel, PLANS};
use crate::{APP_SECRET, TOKEN, WABA};

/// How long the service waits for the receipt of a message whose answer was lost, before it sends it again.
pub(crate) const UNKNOWN_GRACE_SECONDS: u64 = 20;
/// How long the program may take to say where it listens.
const PATIENCE: Duration = Duration::from_secs(60);
/// The first contact.
const FIRST_CONTACT: u64 = 5_511_900_000_000;

/// The program and its directory. Dropping it ends the program.
pub(crate) struct Service {
    directory: TempDir,
    environment: Vec<(&'static str, String)>,
    pub(crate) key: String,
    pub(crate) contacts: Arc<[u64]>,
    channels: Vec<(String, Option<String>)>,
    running: Option<(Child, ChildStdout)>,
    pid: Arc<AtomicU32>,
    url: watch::Sender<String>,
}

impl Drop for Service {
    fn drop(&mut self) {
        // The child may have ended already.
        let _ = self.kill();
    }
}

impl Service {
    /// Makes a company, a key, contacts and channels by the command line, without starting the service.
    pub(crate) fn set_up(provider: &str, contacts: u64) -> anyhow::Result<Self> {
        let directory = tempfile::tempdir()?;
        let environment = vec![
            ("POMBO__SERVER__BIND", "127.0.0.1:0".to_owned()),
            ("POMBO__CLOUD_API__BASE_URL", provider.to_owned()),
            ("POMBO__CLOUD_API__REQUEST_TIMEOUT", "5s".to_owned()),
            ("POMBO__RETRY__UNKNOWN_GRACE", format!("{UNKNOWN_GRACE_SECONDS}s")),
            // Each trouble lasts seconds, and no message may be given up during it.
            ("POMBO__RETRY__ATTEMPTS", "30".to_owned()),
            ("POMBO__RETRY__CAP", "5s".to_owned()),
            ("POMBO__LOG__LEVEL", "warn".to_owned()),
        ];
        let contacts: Arc<[u64]> = (0..contacts).map(|number| FIRST_CONTACT + number * 7).collect();
        let mut service = Self {
            directory,
            environment,
            key: String::new(),
            contacts: Arc::clone(&contacts),
            channels: Vec::new(),
            running: None,
            pid: Arc::default(),
            url: watch::Sender::new(String::new()),
        };
        service.json("", "company create Soak")?;
        let key = service.json("", "key create --company Soak")?;
        service.key = text(&key, "key")?;
        std::fs::write(service.directory.path().join("app-secret.txt"), APP_SECRET)?;
        for plan in &PLANS {
            let added = service.json(
                TOKEN,
                &format!(
                    "channel add-business --company Soak --name {} --phone-number {} --phone-number-id {} \
                     --waba-id {WABA} --tier {} --token-file - --app-secret-file app-secret.txt",
                    plan.tier,
                    plan.display.replace(' ', ""),
                    plan.number,
                    plan.tier
                ),
            )?;
            let id = text(&added, "id")?;
            // Not every version has the command. Without a token, the simulator skips the handshake.
            let webhook = service.json("", &format!("channel webhook {id}")).unwrap_or_default();
            service.channels.push((id, webhook["verify_token"].as_str().map(str::to_owned)));
        }
        let rows: String = contacts.iter().map(|number| format!("Ana,+{number}\n")).collect();
        let file = service.directory.path().join("contacts.csv");
        std::fs::write(file, format!("first_name,phone_number\n{rows}"))?;
        let imported = service.json("", "contacts import contacts.csv --company Soak --tag everyone")?;
        ensure!(imported["created"] == contacts.len(), "contacts were not imported: {imported}");
        Ok(service)
    }

    /// The channels that were made.
    pub(crate) fn channels(&self) -> impl Iterator<Item = Channel> {
        self.channels.iter().zip(&PLANS).map(|((id, verify_token), plan)| {
            Channel::new(id.clone(), plan, verify_token.clone(), Arc::clone(&self.contacts))
        })
    }

    /// The address of the service, and each change of it.
    pub(crate) fn url(&self) -> watch::Receiver<String> {
        self.url.subscribe()
    }

    /// The process, 0 while there is none.
    pub(crate) fn pid(&self) -> Arc<AtomicU32> {
        Arc::clone(&self.pid)
    }

    /// The address of the database.
    pub(crate) fn database(&self) -> String {
        format!("sqlite://{}", self.directory.path().join("data/pombo.db").display())
    }

    /// Keeps the directory, with the database and the log, for a person to read.
    pub(crate) fn keep(&mut self) -> PathBuf {
        self.directory.disable_cleanup(true);
        self.directory.path().to_owned()
    }

    /// Starts the program and waits for its address.
    pub(crate) async fn start(&mut self) -> anyhow::Result<()> {
        let log = self.directory.path().join("service.log");
        let log = std::fs::OpenOptions::new().create(true).append(true).open(log)?;
        let mut child = self.command("serve --json").stderr(log).spawn()?;
        self.pid.store(child.id(), Ordering::Relaxed);
        let mut output = BufReader::new(child.stdout.take().context("no standard output")?);
        let reading = tokio::task::spawn_blocking(move || {
            let mut first = String::new();
            output.read_line(&mut first).map(|_| (first, output.into_inner()))
        });
        let said = tokio::time::timeout(PATIENCE, reading).await;
        let Ok(Ok(Ok((first, output)))) = said else {
            child.kill()?;
            child.wait()?;
            bail!("the service did not say where it listens");
        };
        self.running = Some((child, output));
        let started: Value = serde_json::from_str(&first).unwrap_or_default();
        let url = text(&started, "base_url").context("the service did not start; see service.log")?;
        self.url.send_replace(url);
        Ok(())
    }

    /// Directs the provider's webhooks to the running service, outstanding ones included.
    pub(crate) fn aim(&self, simulator: &Simulator, channels: &[Arc<Channel>]) -> anyhow::Result<()> {
        for channel in channels {
            let url = format!("{}/hooks/meta/{}", self.url.borrow().as_str(), channel.id);
            simulator.aim_receipts(Some(ReceiptOptions {
                phone_number_id: Some(channel.plan.number.to_owned()),
                verify_token: channel.verify_token.clone(),
                duplicate_probability: 0.05,
                reorder_probability: 0.1,
                ..ReceiptOptions::to(url, APP_SECRET)
            }))?;
        }
        Ok(())
    }

    /// Ends the program as `kill -9` does.
    pub(crate) fn kill(&mut self) -> std::io::Result<()> {
        self.pid.store(0, Ordering::Relaxed);
        let Some((mut child, _)) = self.running.take() else { return Ok(()) };
        child.kill()?;
        child.wait().map(|_| ())
    }

    /// Ends the program as an operator does; if that takes too long, as `kill -9` does.
    pub(crate) async fn stop(&mut self) -> anyhow::Result<()> {
        let Some((child, _)) = &mut self.running else { return Ok(()) };
        Command::new("kill").args(["-TERM", &child.id().to_string()]).status()?;
        let deadline = tokio::time::Instant::now() + PATIENCE;
        while child.try_wait()?.is_none() && tokio::time::Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(self.kill()?)
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pombo"));
        command.args(line.split_whitespace()).current_dir(self.directory.path());
        let ours = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("POMBO_"));
        ours.for_each(|(name, _)| {
            command.env_remove(name);
        });
        command.envs(self.environment.iter().map(|(name, value)| (*name, value.as_str())));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command with `--json`, and returns the JSON that it prints.
    fn json(&self, input: &str, line: &str) -> anyhow::Result<Value> {
        let mut child = self.command(&format!("{line} --json")).stdin(Stdio::piped()).spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // A command that refuses its arguments does not read its input.
            let _ = stdin.write_all(input.as_bytes());
        }
        let output = child.wait_with_output()?;
        ensure!(output.status.success(), "pombo {line}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(serde_json::from_slice(&output.stdout)?)
    }
}

fn text(object: &Value, name: &str) -> anyhow::Result<String> {
    object[name].as_str().map(str::to_owned).with_context(|| format!("{object} has no {name}"))
}
