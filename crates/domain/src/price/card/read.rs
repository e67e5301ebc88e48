//! Reads the file of a rate card.

use std::collections::HashSet;

use super::{CARD_BYTES, Market, NO_PRICE, REST, RateCard};
use crate::phone::Country;
use crate::price::{Date, Micros};

/// The most markets; the provider has 47.
const MOST_MARKETS: usize = 400;
/// The most characters of a market's name.
const MOST_NAME: usize = 80;
/// The most characters of the source.
const MOST_SOURCE: usize = 300;
/// The most faults that are named.
const MOST_FAULTS: usize = 20;
/// The columns, as they are compared: small letters without separators.
const COLUMNS: [&str; 8] = [
    "market",
    "countries",
    "currency",
    "marketing",
    "utility",
    "authentication",
    "authenticationinternational",
    "service",
];
/// The place of the first column of prices.
const FIRST_PRICE: usize = 3;
/// The columns that every file has.
const REQUIRED: [usize; 4] = [0, 3, 4, 5];

/// What is read so far.
#[derive(Default)]
struct CardReading<'a> {
    known: Option<&'a RateCard>,
    date: Option<Date>,
    currency: Option<String>,
    source: String,
    /// The place of each column in a row.
    columns: Option<[Option<usize>; COLUMNS.len()]>,
    markets: Vec<Market>,
    names: HashSet<String>,
    countries: HashSet<&'static str>,
    faults: Vec<String>,
}

pub(super) fn card(text: &str, known: Option<&RateCard>) -> Result<RateCard, Vec<String>> {
    if text.len() > CARD_BYTES {
        return Err(vec![format!("the file has more than {} KiB", CARD_BYTES / 1024)]);
    }
    let mut reading = CardReading { known, ..CardReading::default() };
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n") + "\n";
    for (line, number) in text.lines().zip(1_u64..) {
        if let Some(note) = line.strip_prefix('#') {
            reading.note(note, number);
        }
    }
    let mut rows = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut row = csv::StringRecord::new();
    loop {
        // The text is UTF-8, and rows may have any length: nothing else can fail.
        match rows.read_record(&mut row) {
            Ok(true) => reading.row(&row, rows.position().line().saturating_sub(1)),
            Ok(false) => break,
            Err(error) => {
                reading.faults.push(format!("the file is not CSV: {error}"));
                break;
            }
        }
    }
    reading.finish()
}

impl CardReading<'_> {
    fn fault(&mut self, line: u64, sentence: &str) {
        self.faults.push(format!("line {line}: {sentence}"));
    }

    /// A line that begins with `#`: `date`, `currency` or `source`; others are comments.
    fn note(&mut self, note: &str, line: u64) {
        let Some((name, value)) = note.split_once(':') else { return };
        let value = value.trim();
        match name.trim().to_ascii_lowercase().as_str() {
            "date" => match value.parse() {
                Ok(date) => self.date = Some(date),
                Err(_) => self.fault(line, &format!("`{value}` is no date: write it like 2026-10-01")),
            },
            "currency" => self.currency(value, line),
            "source" => self.source = value.chars().take(MOST_SOURCE).collect(),
            _ => {}
        }
    }

    /// The currency of a line or a cell, which is the same everywhere.
    fn currency(&mut self, text: &str, line: u64) {
        let code = if text == "$US" { "USD" } else { text };
        let is_code = code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase());
        match &self.currency {
            _ if !is_code => {
                self.fault(line, &format!("`{text}` is no currency: write its three letters, such as USD"));
            }
            Some(known) if known != code => {
                let sentence = format!("the currency is {code} here and {known} before: a card has one");
                self.fault(line, &sentence);
            }
            _ => self.currency = Some(code.to_owned()),
        }
    }

    fn row(&mut self, row: &csv::StringRecord, line: u64) {
        if row.iter().all(str::is_empty) || self.faults.len() >= MOST_FAULTS {
            return;
        }
        let Some(columns) = self.columns else {
            if row.iter().any(|cell| plain(cell) == COLUMNS[0]) {
                self.header(row, line);
            } else {
                self.preamble(&row.iter().collect::<Vec<_>>().join(", "));
            }
            return;
        };
        let cell = |column: usize| columns[column].and_then(|place| row.get(place)).unwrap_or_default();
        let name = cell(0);
        if name.is_empty() || name.chars().count() > MOST_NAME || name.chars().any(char::is_control) {
            return self.fault(line, &format!("a market needs a name of at most {MOST_NAME} characters"));
        }
        if !self.names.insert(name.to_lowercase()) {
            return self.fault(line, &format!("the market `{name}` is in the file twice"));
        }
        if self.markets.len() >= MOST_MARKETS {
            return self.fault(line, &format!("there are more than {MOST_MARKETS} markets"));
        }
        if columns[2].is_some() {
            self.currency(cell(2), line);
        }
        let mut prices = [None; 5];
        for (place, price) in prices.iter_mut().enumerate() {
            match price_of(cell(FIRST_PRICE + place)) {
                Ok(read) => *price = read,
                Err(text) => self.fault(
                    line,
                    &format!(
                        "`{text}` is no price: write digits with a point, such as 0.0068, or {NO_PRICE}"
                    ),
                ),
            }
        }
        let (countries, has_rest) = self.countries(name, cell(1), line);
        self.markets.push(Market { name: name.to_owned(), countries, has_rest, prices });
    }

    /// A line before the header: the provider's says from when the prices apply.
    fn preamble(&mut self, text: &str) {
        let effective = text.split_once("effective ").and_then(|(_, rest)| date_in_words(rest));
        if let Some(date) = effective {
            self.date = self.date.or(Some(date));
            if self.source.is_empty() {
                let words: Vec<_> = text.trim_end_matches([',', ' ']).split_whitespace().collect();
                self.source = words.join(" ").chars().take(MOST_SOURCE).collect();
            }
        }
    }

    fn header(&mut self, row: &csv::StringRecord, line: u64) {
        let mut columns = [None; COLUMNS.len()];
        for (place, cell) in row.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
            match COLUMNS.iter().position(|column| *column == plain(cell)) {
                Some(column) if columns[column].is_none() => columns[column] = Some(place),
                Some(_) => self.fault(line, &format!("the column `{cell}` is there twice")),
                None => self.fault(line, &format!("the column `{cell}` is not known")),
            }
        }
        for column in REQUIRED.into_iter().filter(|column| columns[*column].is_none()) {
            self.fault(line, &format!("there is no column `{}`", COLUMNS[column]));
        }
        self.columns = Some(columns);
    }

    /// The countries of a market, from its cell or else as the known card has them.
    fn countries(&mut self, name: &str, cell: &str, line: u64) -> (Vec<Country>, bool) {
        let mut has_rest = cell == REST;
        let mut countries = Vec::new();
        if cell.is_empty() {
            let markets = self.known.map(|card| card.markets.as_slice()).unwrap_or_default();
            match markets.iter().find(|market| market.name.eq_ignore_ascii_case(name)) {
                Some(market) => {
                    has_rest = market.has_rest;
                    countries.clone_from(&market.countries);
                }
                None => self.fault(
                    line,
                    &format!(
                        "the countries of the market `{name}` are not known: add a column `Countries` with two letters \
                         for each"
                    ),
                ),
            }
        } else if !has_rest {
            for code in cell.split_whitespace() {
                match Country::parse(code) {
                    Some(country) => countries.push(country),
                    None => {
                        self.fault(line, &format!("`{code}` is no country: write two letters, such as BR"));
                    }
                }
            }
        }
        if has_rest && self.markets.iter().any(|market| market.has_rest) {
            self.fault(line, "two markets have all other countries");
        }
        for country in &countries {
            if !self.countries.insert(country.code()) {
                self.fault(line, &format!("the country {} is in two markets", country.code()));
            }
        }
        (countries, has_rest)
    }

    fn finish(self) -> Result<RateCard, Vec<String>> {
        let Self { date, currency, source, columns, markets, mut faults, .. } = self;
        if columns.is_none() {
            faults.push("there is no header: a line that begins with `Market`".to_owned());
        } else if markets.is_empty() && faults.is_empty() {
            faults.push("there is no market behind the header".to_owned());
        }
        if date.is_none() {
            faults.push("the date is missing: add a first line such as `# date: 2026-10-01`".to_owned());
        }
        if currency.is_none() {
            faults.push("the currency is missing: add a first line such as `# currency: USD`".to_owned());
        }
        faults.truncate(MOST_FAULTS);
        match (date, currency) {
            (Some(date), Some(currency)) if faults.is_empty() => {
                Ok(RateCard { date, currency, source, markets })
            }
            _ => Err(faults),
        }
    }
}

/// A column's name for comparison.
fn plain(cell: &str) -> String {
    cell.chars().filter(|char| char.is_ascii_alphanumeric()).map(|char| char.to_ascii_lowercase()).collect()
}

/// The price in a cell, if it has one.
fn price_of(cell: &str) -> Result<Option<Micros>, &str> {
    if matches!(cell, "" | "-") || cell.eq_ignore_ascii_case(NO_PRICE) {
        return Ok(None);
    }
    Micros::parse(cell).map(Some).ok_or(cell)
}

/// The date of a text that begins as `October 1, 2026` does.
fn date_in_words(text: &str) -> Option<Date> {
    let mut words = text.split(|char: char| !char.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let (month, day, year) = (words.next()?, words.next()?, words.next()?);
    Date::strptime("%B %d %Y", format!("{month} {day} {year}")).ok()
}
