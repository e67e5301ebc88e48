//! The country of a number by its first digits, also where several countries share a calling code.

use std::sync::LazyLock;

use super::{Country, PhoneNumber};

/// All values of four digits, which decide: a calling code has three at most, and in North America an area code of three
/// follows the 1.
const VALUES: usize = 10_000;

/// The first digits behind which another country than the main one of the calling code has its numbers.
#[rustfmt::skip]
const SHARED: &[(&str, &[u16])] = &[
    ("AG", &[1268]), ("AI", &[1264]), ("AS", &[1684]), ("BB", &[1246]), ("BM", &[1441]), ("BS", &[1242]),
    ("DM", &[1767]), ("DO", &[1809, 1829, 1849]), ("GD", &[1473]), ("GU", &[1671]), ("JM", &[1658, 1876]), ("KN", &[1869]),
    ("KY", &[1345]), ("LC", &[1758]), ("MP", &[1670]), ("MS", &[1664]), ("PR", &[1787, 1939]), ("SX", &[1721]),
    ("TC", &[1649]), ("TT", &[1868]), ("VC", &[1784]), ("VG", &[1284]), ("VI", &[1340]),
    ("CA", &[
        1204, 1226, 1236, 1249, 1250, 1263, 1289, 1306, 1343, 1354, 1365, 1367, 1368, 1382, 1387, 1403, 1416, 1418, 1428,
        1431, 1437, 1438, 1450, 1468, 1474, 1506, 1514, 1519, 1548, 1579, 1581, 1584, 1587, 1600, 1604, 1613, 1622, 1639,
        1647, 1672, 1683, 1705, 1709, 1742, 1753, 1778, 1780, 1782, 1807, 1819, 1825, 1867, 1873, 1879, 1902, 1905, 1942,
    ]),
];
/// Kazakhstan's numbers behind the calling code that it shares with Russia: those with a 6 or a 7.
const KAZAKH: std::ops::Range<usize> = 7_600..7_800;

static BY_DIGITS: LazyLock<Vec<Option<Country>>> = LazyLock::new(|| {
    let mut known = vec![None; VALUES];
    for country in Country::all() {
        let calling = usize::from(country.calling_code());
        let span = VALUES / 10_usize.pow(calling.ilog10() + 1);
        // The main country of a calling code comes first.
        known[calling * span..(calling + 1) * span]
            .iter_mut()
            .for_each(|known| *known = known.or(Some(country)));
    }
    for (code, digits) in SHARED {
        digits.iter().for_each(|digits| known[usize::from(*digits)] = Country::parse(code));
    }
    known[KAZAKH].fill(Country::parse("KZ"));
    known
});

impl PhoneNumber {
    /// The first four digits, by which [`Country::of_first_digits`] knows the country.
    pub const fn first_digits(self) -> u16 {
        let mut digits = self.as_u64();
        while digits >= VALUES as u64 {
            digits /= 10;
        }
        // Less than ten thousand.
        digits as u16
    }
}

impl Country {
    /// The country of the numbers with these first four digits. Territories that use the area codes of a country count
    /// as that country.
    pub fn of_first_digits(digits: u16) -> Option<Self> {
        BY_DIGITS.get(usize::from(digits)).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_the_country_of_its_first_digits() {
        for (number, code) in [
            (5_511_988_887_777, Some("BR")),
            (12_025_550_123, Some("US")),
            (14_165_550_123, Some("CA")),
            (18_095_550_123, Some("DO")),
            (18_765_550_123, Some("JM")),
            (79_161_234_567, Some("RU")),
            (77_011_234_567, Some("KZ")),
            (447_911_123_456, Some("GB")),
            (8_801_712_345_678, Some("BD")),
            (35_312_345, Some("IE")),
            (9_991_234_567, None),
        ] {
            let number = PhoneNumber::from_u64(number).unwrap();
            let found = Country::of_first_digits(number.first_digits());
            assert_eq!(found.map(Country::code), code, "+{number}");
        }
    }

    #[test]
    fn wherever_a_calling_code_is_not_shared_both_ways_agree() {
        for country in Country::all().filter(|country| ![1, 7].contains(&country.calling_code())) {
            let number = format!("{}1234567", country.calling_code());
            let number = PhoneNumber::parse(&number).unwrap();
            assert_eq!(Country::of_first_digits(number.first_digits()), Country::of(number), "{country:?}");
        }
    }
}
