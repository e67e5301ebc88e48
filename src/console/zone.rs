//! Times as a person reads them: in the person's zone and in the format of their language.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use jiff::Timestamp as Moment;
use jiff::Zoned;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use parking_lot::Mutex;

use super::language::Language;
use crate::clock::Timestamp;
use crate::domain::fold::fold;

/// The zone of people of whom nothing else is known, and of names that the database of time zones does not have.
const UTC: &str = "UTC";
/// How long the labels of all zones are kept: some change when summer begins or ends.
const LABELS_KEPT: Duration = Duration::from_secs(600);
/// Cities whose names the database writes without their accents.
const ACCENTED: [(&str, &str); 21] = [
    ("Araguaina", "Araguaína"),
    ("Asuncion", "Asunción"),
    ("Belem", "Belém"),
    ("Bogota", "Bogotá"),
    ("Cancun", "Cancún"),
    ("Cordoba", "Córdoba"),
    ("Cuiaba", "Cuiabá"),
    ("Curacao", "Curaçao"),
    ("Eirunepe", "Eirunepé"),
    ("Ciudad_Juarez", "Ciudad Juárez"),
    ("Maceio", "Maceió"),
    ("Mazatlan", "Mazatlán"),
    ("Merida", "Mérida"),
    ("Mexico_City", "Ciudad de México"),
    ("Panama", "Panamá"),
    ("Bahia_Banderas", "Bahía de Banderas"),
    ("Rio_Gallegos", "Río Gallegos"),
    ("Santarem", "Santarém"),
    ("Sao_Paulo", "São Paulo"),
    ("Sao_Tome", "São Tomé"),
    ("Tucuman", "Tucumán"),
];

/// The labels of all zones, and when they were made.
static LABELS: Mutex<Option<(Timestamp, Arc<Vec<String>>)>> = Mutex::new(None);

/// A time zone by its name in the IANA database.
#[derive(Debug, Clone)]
pub(super) struct Zone(TimeZone);

impl Zone {
    /// The zone of this name; UTC when there is none.
    pub(super) fn named(name: &str) -> Self {
        Self(TimeZone::get(name).unwrap_or(TimeZone::UTC))
    }

    /// The zone of this name, if there is one.
    pub(super) fn find(name: &str) -> Option<Self> {
        TimeZone::get(name).ok().map(Self)
    }

    /// Whether there is a zone of this name.
    pub(super) fn is_known(name: &str) -> bool {
        name == UTC || TimeZone::get(name).is_ok_and(|zone| zone.iana_name() == Some(name))
    }

    /// All names, in order: places by continent, and UTC.
    pub(super) fn names() -> &'static [String] {
        static NAMES: LazyLock<Vec<String>> = LazyLock::new(Zone::read_names);
        &NAMES
    }

    /// The city of a zone with its distance from UTC at this moment, such as "São Paulo (UTC−3)".
    pub(super) fn label(&self, now: Timestamp) -> String {
        let city = city(self.name());
        match self.distance(now) {
            Some(distance) if city != UTC => format!("{city} ({distance})"),
            _ => city,
        }
    }

    /// The labels of all zones, in order of their cities.
    pub(super) fn labels(now: Timestamp) -> Arc<Vec<String>> {
        let mut kept = LABELS.lock();
        if let Some((made, labels)) = &*kept
            && now.minus(LABELS_KEPT) < *made
        {
            return Arc::clone(labels);
        }
        let mut labels: Vec<_> = Self::names().iter().map(|name| Self::named(name).label(now)).collect();
        labels.sort_unstable_by_key(|label| fold(label));
        labels.dedup();
        let labels = Arc::new(labels);
        *kept = Some((now, Arc::clone(&labels)));
        labels
    }

    /// The name of the zone that a person typed: a city, with its label's distance or without; or a zone's name. Case and
    /// accents do not matter. Of several zones with the city, the one with that label at this moment comes first.
    pub(super) fn read(typed: &str, now: Timestamp) -> Option<&'static str> {
        let label = typed.trim();
        let typed = label.split(" (UTC").next().unwrap_or_default().trim();
        let wanted = fold(&typed.replace('_', " "));
        let has = |name: &&String| {
            let (city, name) = (city(name), name.replace('_', " "));
            fold(&city) == wanted
                || fold(&name) == wanted
                || last(&name).is_some_and(|last| fold(last) == wanted)
        };
        if let Some(exact) = Self::names().iter().find(|name| name.as_str() == typed) {
            return Some(exact);
        }
        let found: Vec<_> = Self::names().iter().filter(has).collect();
        let labelled = found.iter().find(|name| Self::named(name).label(now) == label);
        labelled.or(found.first()).map(|name| name.as_str())
    }

    /// The distance from UTC at this moment.
    fn distance(&self, at: Timestamp) -> Option<String> {
        let seconds = self.0.to_offset(Moment::from_millisecond(at.millis()).ok()?).seconds();
        let (sign, minutes) = (if seconds < 0 { '−' } else { '+' }, seconds.unsigned_abs() / 60);
        Some(match (minutes / 60, minutes % 60) {
            (0, 0) => UTC.to_owned(),
            (hours, 0) => format!("UTC{sign}{hours}"),
            (hours, minutes) => format!("UTC{sign}{hours}:{minutes:02}"),
        })
    }

    fn read_names() -> Vec<String> {
        let names = jiff::tz::db().available().map(|name| name.as_str().to_owned());
        let mut names: Vec<_> = names.filter(|name| name.contains('/') && !is_old(name)).collect();
        names.push(UTC.to_owned());
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The zone's name.
    pub(super) fn name(&self) -> &str {
        self.0.iana_name().unwrap_or(UTC)
    }

    fn zoned(&self, at: Timestamp) -> Option<Zoned> {
        Some(Moment::from_millisecond(at.millis()).ok()?.to_zoned(self.0.clone()))
    }

    /// Day and minute.
    pub(super) fn minute(&self, at: Timestamp, language: Language) -> String {
        self.written(at, language, " %H:%M")
    }

    /// Day and second.
    pub(super) fn second(&self, at: Timestamp, language: Language) -> String {
        self.written(at, language, " %H:%M:%S")
    }

    /// The time of the day, in hours and minutes.
    pub(super) fn clock(&self, at: Timestamp) -> String {
        self.zoned(at).map_or_else(|| at.to_string(), |at| at.strftime("%H:%M").to_string())
    }

    fn written(&self, at: Timestamp, language: Language, time: &str) -> String {
        let day = match language {
            Language::English => "%b %-d, %Y",
            Language::Portuguese | Language::Spanish => "%d/%m/%Y",
        };
        let form = format!("{day}{time}");
        self.zoned(at).map_or_else(|| at.to_string(), |at| at.strftime(&form).to_string())
    }

    /// The time of a browser's date-and-time field, such as `2027-01-31T09:00`, which is in this zone.
    pub(super) fn moment(&self, local: &str) -> Option<Timestamp> {
        let local: DateTime = local.trim().parse().ok()?;
        let moment = local.to_zoned(self.0.clone()).ok()?.timestamp();
        Some(Timestamp::from_millis(moment.as_millisecond()))
    }

    /// The time as a browser's date-and-time field has it, to the second.
    pub(super) fn field(&self, at: Timestamp) -> String {
        self.zoned(at).map_or_else(String::new, |at| at.strftime("%Y-%m-%dT%H:%M:%S").to_string())
    }

    /// The time as spreadsheets read it, to the second.
    pub(super) fn cell(&self, at: Timestamp) -> String {
        self.field(at).replace('T', " ")
    }

    /// When the present day began.
    pub(super) fn today(&self, now: Timestamp) -> Timestamp {
        let start = self.zoned(now).and_then(|now| now.start_of_day().ok());
        start.map_or(now, |start| Timestamp::from_millis(start.timestamp().as_millisecond()))
    }
}

/// The last part of a zone's name.
fn last(name: &str) -> Option<&str> {
    name.rsplit('/').next()
}

/// The city in a zone's name, as people write it.
fn city(name: &str) -> String {
    let last = last(name).unwrap_or(name);
    let accented = ACCENTED.iter().find(|(plain, _)| *plain == last).map(|(_, accented)| *accented);
    accented.map_or_else(|| last.replace('_', " "), str::to_owned)
}

/// Whether the name is in the database only for old programs.
fn is_old(name: &str) -> bool {
    ["Etc/", "SystemV/", "US/", "posix/", "right/"].iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: Timestamp = Timestamp::from_millis(1_700_000_000_007);

    #[test]
    fn a_moment_is_written_in_the_zone_and_the_form_of_its_reader() {
        let (paulo, utc) = (Zone::named("America/Sao_Paulo"), Zone::named("nowhere"));
        assert_eq!(utc.name(), "UTC");
        assert_eq!(utc.second(MOMENT, Language::English), "Nov 14, 2023 22:13:20");
        assert_eq!(paulo.minute(MOMENT, Language::Portuguese), "14/11/2023 19:13");
        assert_eq!(paulo.clock(MOMENT), "19:13");
        assert_eq!(paulo.today(MOMENT).to_string(), "2023-11-14T03:00:00.000Z");
        assert_eq!(paulo.moment("2023-11-14T19:13").unwrap().to_string(), "2023-11-14T22:13:00.000Z");
        assert_eq!(paulo.moment(&paulo.field(MOMENT)).unwrap().to_string(), "2023-11-14T22:13:20.000Z");
        assert_eq!((paulo.moment("tomorrow"), paulo.moment("")), (None, None));
    }

    #[test]
    fn zones_are_known_by_the_names_that_are_offered() {
        let names = Zone::names();
        assert!(names.len() > 300, "{}", names.len());
        for name in ["UTC", "America/Sao_Paulo", "Europe/Madrid"] {
            assert!(names.iter().any(|known| known == name) && Zone::is_known(name), "{name}");
        }
        assert!(!Zone::is_known("Mars/Olympus") && !Zone::is_known(""));
    }

    #[test]
    fn zones_are_found_by_their_city() {
        for (typed, name) in [
            ("São Paulo", "America/Sao_Paulo"),
            ("sao paulo", "America/Sao_Paulo"),
            (" São Paulo (UTC−3) ", "America/Sao_Paulo"),
            ("America/Sao_Paulo", "America/Sao_Paulo"),
            ("america/sao_paulo", "America/Sao_Paulo"),
            ("Mexico City", "America/Mexico_City"),
            ("ciudad de mexico", "America/Mexico_City"),
            ("utc", "UTC"),
        ] {
            assert_eq!(Zone::read(typed, MOMENT), Some(name), "{typed}");
        }
        for wrong in ["", "Olympus", "(UTC−3)", "America"] {
            assert_eq!(Zone::read(wrong, MOMENT), None, "{wrong}");
        }
        assert_eq!(Zone::named("America/Sao_Paulo").label(MOMENT), "São Paulo (UTC−3)");
        assert_eq!(Zone::named("Asia/Kolkata").label(MOMENT), "Kolkata (UTC+5:30)");
        assert_eq!(Zone::named("Europe/London").label(MOMENT), "London (UTC)");
        let labels = Zone::labels(MOMENT);
        assert!(
            labels.iter().any(|label| label == "São Paulo (UTC−3)")
                && labels.iter().any(|label| label == "UTC")
        );
        // Two countries have a zone “West”.
        for label in labels.iter().filter(|label| label.starts_with(['S', 'W'])) {
            let read = Zone::read(label, MOMENT).map(|name| Zone::named(name).label(MOMENT));
            assert_eq!(read.as_ref(), Some(label));
        }
    }
}
