//! Checks the mail server: whether it lets this service sign in. No mail is sent.

use super::Findings;
use crate::config::Config;
use crate::connector::mail::Mailer;

pub(super) async fn check(findings: &mut Findings, config: &Config) {
    const CHECK: &str = "mail";
    let mailer = match Mailer::new(&config.mail) {
        Ok(Some(mailer)) => mailer,
        Ok(None) => return,
        Err(error) => return findings.bad(CHECK, error.to_string()),
    };
    let server = format!("{}:{}", config.mail.host, config.mail.port);
    match mailer.check().await {
        Ok(()) => findings.good(CHECK, format!("{server} takes mail of this service")),
        Err(error) => findings.bad(CHECK, format!("{server}: {error}; alerts by e-mail wait")),
    }
}
