//! Accounts, numbers and tokens, and which token may see which account.
//!
//! With [`super::Options::accept_any`], an unknown id or token is created on first use; the directory then
//! grows up to fixed bounds.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use parking_lot::RwLock;

use super::account::Account;
use super::catalogue::{Catalogue, TemplateIds};
use super::error::GraphError;
use super::level::{Level, Throttle};
use super::phone::PhoneNumber;
use super::seed::{self, Number, Seed};
use super::template::StoredTemplate;

/// The account of numbers that are created on first use.
const HOME_ACCOUNT: &str = "100000000000001";
/// The maximum number of phone numbers, and of accounts, that are created on first use.
const MOST_ON_FIRST_USE: usize = 100_000;

#[derive(Debug)]
pub(super) struct Directory {
    accept_any: bool,
    accounts: BTreeMap<String, Arc<Account>>,
    numbers: BTreeMap<String, Arc<PhoneNumber>>,
    tokens: HashMap<String, Token>,
    template_ids: Arc<TemplateIds>,
    /// The shared catalogue of accounts that are created on first use.
    common: Arc<RwLock<Catalogue>>,
    /// The level and the limit of numbers that are created on first use.
    on_first_use: (Option<Level>, Throttle),
}

#[derive(Debug)]
struct Token {
    is_valid: bool,
    accounts: HashSet<String>,
    /// Unix seconds; 0 for a token without an end.
    expires_at: i64,
}

impl Default for Token {
    fn default() -> Self {
        Self { is_valid: true, accounts: HashSet::new(), expires_at: 0 }
    }
}

impl Directory {
    /// An empty directory; with the default templates if every id is accepted.
    pub(super) fn new(accept_any: bool) -> Self {
        let template_ids = Arc::new(TemplateIds::default());
        let mut common = Catalogue::default();
        for template in seed::default_templates() {
            // The default templates differ in name, so that none is refused.
            let _ = common.add(&template_ids, template);
        }
        Self {
            accept_any,
            accounts: BTreeMap::new(),
            numbers: BTreeMap::new(),
            tokens: HashMap::new(),
            template_ids,
            common: Arc::new(RwLock::new(common)),
            on_first_use: (None, Throttle::Unlimited),
        }
    }

    /// The same directory, with this level and limit for numbers that are created on first use.
    pub(super) fn with(self, level: Option<Level>, throttle: Throttle) -> Self {
        Self { on_first_use: (level, throttle), ..self }
    }

    fn number_made(&self, id: &str) -> Number {
        let (level, throughput) = self.on_first_use;
        Number { level, throughput, ..Number::new(id, display(id)) }
    }

    /// Adds accounts, or numbers, tokens and templates to accounts that exist.
    ///
    /// # Errors
    /// A sentence when an id is not digits, a number exists already or a template exists twice. Entries
    /// before the fault stay.
    pub(super) fn add(&mut self, seed: Seed) -> Result<(), String> {
        for account in seed.accounts {
            if !is_id(&account.waba_id) {
                return Err(format!("waba_id `{}` is not digits", account.waba_id));
            }
            let live = self.accounts.entry(account.waba_id.clone()).or_insert_with(|| {
                Arc::new(Account::new(account.waba_id.clone(), Arc::new(RwLock::new(Catalogue::default()))))
            });
            let live = Arc::clone(live);
            for token in account.tokens {
                self.tokens.entry(token).or_default().accounts.insert(account.waba_id.clone());
            }
            for number in account.numbers {
                if !is_id(&number.phone_number_id) || self.numbers.contains_key(&number.phone_number_id) {
                    return Err(format!(
                        "phone_number_id `{}` is not digits or exists already",
                        number.phone_number_id
                    ));
                }
                self.add_number(number, &live);
            }
            let mut catalogue = live.catalogue.write();
            for template in account.templates {
                let named = format!("template {} in {}", template.name, template.language);
                let added = catalogue.add(&self.template_ids, template);
                added.map_err(|error| format!("{named}: {}", error.details.unwrap_or_default()))?;
            }
        }
        Ok(())
    }

    fn add_number(&mut self, number: Number, account: &Arc<Account>) -> Arc<PhoneNumber> {
        let index = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        let phone = Arc::new(PhoneNumber::new(number, index, Arc::clone(account)));
        self.numbers.insert(phone.id.to_string(), Arc::clone(&phone));
        phone
    }

    /// Checks a token: 104 when there is none, 190 when it is not valid.
    pub(super) fn check(&self, token: Option<&str>) -> Result<(), GraphError> {
        let Some(token) = token else { return Err(GraphError::new(104)) };
        let is_valid = match self.tokens.get(token) {
            Some(known) => known.is_valid,
            None => self.accept_any && !token.is_empty() && !token.starts_with("EXPIRED"),
        };
        if is_valid { Ok(()) } else { Err(GraphError::new(190).with_subcode(463)) }
    }

    fn may_see(&self, token: Option<&str>, account: &Account) -> bool {
        let known = token.and_then(|token| self.tokens.get(token));
        self.accept_any || known.is_some_and(|token| token.accounts.contains(&account.waba_id))
    }

    /// The number of this id, if it exists.
    pub(super) fn number(&self, id: &str) -> Option<&Arc<PhoneNumber>> {
        self.numbers.get(id)
    }

    /// The account of this id, if it exists.
    pub(super) fn account(&self, waba_id: &str) -> Option<&Arc<Account>> {
        self.accounts.get(waba_id)
    }

    /// The number of this id, if this token may see it.
    pub(super) fn visible_number(&self, token: Option<&str>, id: &str) -> Option<Arc<PhoneNumber>> {
        self.number(id).filter(|number| self.may_see(token, &number.account)).cloned()
    }

    /// The account of this id, if this token may see it.
    pub(super) fn visible_account(&self, token: Option<&str>, waba_id: &str) -> Option<Arc<Account>> {
        self.account(waba_id).filter(|account| self.may_see(token, account)).cloned()
    }

    /// The template of this id and its account, if this token may see it.
    pub(super) fn visible_template(
        &self,
        token: Option<&str>,
        id: u64,
    ) -> Option<(Arc<Account>, Arc<StoredTemplate>)> {
        let visible = self.accounts.values().filter(|account| self.may_see(token, account));
        visible.into_iter().find_map(|account| {
            let template = account.catalogue.read().by_id(id).cloned()?;
            Some((Arc::clone(account), template))
        })
    }

    /// The numbers of an account, in the order of their ids. If every id is accepted, those that were created on first use
    /// belong to every account.
    pub(super) fn numbers_of(&self, waba_id: &str) -> Vec<Arc<PhoneNumber>> {
        let own = self.numbers.values().filter(|number| number.account.waba_id == waba_id);
        let is_shared = self.accept_any && waba_id != HOME_ACCOUNT;
        let shared =
            self.numbers.values().filter(|number| is_shared && number.account.waba_id == HOME_ACCOUNT);
        own.chain(shared).cloned().collect()
    }

    /// All numbers, in the order of their ids.
    pub(super) fn numbers(&self) -> impl Iterator<Item = &Arc<PhoneNumber>> {
        self.numbers.values()
    }

    /// Ids for templates that are created at run time.
    pub(super) fn template_ids(&self) -> &TemplateIds {
        &self.template_ids
    }

    /// Whether a token is valid, the accounts that it may use, and its end in Unix seconds, for `debug_token`.
    pub(super) fn token(&self, value: &str) -> (bool, Vec<String>, i64) {
        let token = self.tokens.get(value);
        let known = token.map(|token| token.accounts.iter().cloned().collect::<Vec<_>>());
        let mut accounts = known.unwrap_or_default();
        accounts.sort();
        (self.check(Some(value)).is_ok(), accounts, token.map_or(0, |token| token.expires_at))
    }

    /// Whether a token can be switched: it is known, or unknown ones are accepted.
    pub(super) fn knows_token(&self, value: &str) -> bool {
        self.accept_any || self.tokens.contains_key(value)
    }

    /// Makes a token valid or not, and gives it another end if there is one.
    pub(super) fn set_token(&mut self, value: &str, is_valid: bool, expires_at: Option<i64>) {
        let token = self.tokens.entry(value.to_owned()).or_default();
        token.is_valid = is_valid;
        token.expires_at = expires_at.unwrap_or(token.expires_at);
    }

    /// Lets a token use an account.
    pub(super) fn grant(&mut self, value: &str, waba_id: &str) {
        self.tokens.entry(value.to_owned()).or_default().accounts.insert(waba_id.to_owned());
    }

    /// The number of this id, created now if every id is accepted.
    pub(super) fn number_on_first_use(&mut self, id: &str) -> Option<Arc<PhoneNumber>> {
        if let Some(number) = self.numbers.get(id) {
            return Some(Arc::clone(number));
        }
        if !self.accept_any || !is_id(id) || self.numbers.len() >= MOST_ON_FIRST_USE {
            return None;
        }
        let home = self.account_made(HOME_ACCOUNT);
        let made = self.number_made(id);
        Some(self.add_number(made, &home))
    }

    /// The account of this id, created now, with one number, if every id is accepted.
    pub(super) fn account_on_first_use(&mut self, waba_id: &str) -> Option<Arc<Account>> {
        if let Some(account) = self.accounts.get(waba_id) {
            return Some(Arc::clone(account));
        }
        if !self.accept_any || !is_id(waba_id) || self.accounts.len() >= MOST_ON_FIRST_USE {
            return None;
        }
        let account = self.account_made(waba_id);
        let first = format!("{waba_id}1");
        if is_id(&first) && !self.numbers.contains_key(&first) {
            let made = self.number_made(&first);
            self.add_number(made, &account);
        }
        Some(account)
    }

    fn account_made(&mut self, waba_id: &str) -> Arc<Account> {
        let common = Arc::clone(&self.common);
        let made = || Arc::new(Account::new(waba_id.to_owned(), common));
        Arc::clone(self.accounts.entry(waba_id.to_owned()).or_insert_with(made))
    }
}

fn is_id(id: &str) -> bool {
    (1..=32).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number to show for an id without one; it begins with 999, which is no country code.
fn display(id: &str) -> String {
    let tail = &id[id.len().saturating_sub(9)..];
    format!("+999 {tail:0>9}")
}
