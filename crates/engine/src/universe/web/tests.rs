//! The worlds meet the events of ledgers and web sessions: a rule about an event that never happens proves nothing.

use super::super::report::Report;

/// How many worlds run.
const SEEDS: u64 = 40;

#[test]
fn worlds_meet_refused_rows_doubts_and_phones_that_are_linked_and_unlinked() {
    let mut report = Report::default();
    (0..SEEDS).for_each(|seed| {
        report.run(seed);
    });
    let figures = report.figures;
    assert!(report.broken.is_empty(), "{}", report.stories());
    assert!(figures.refused_rows > 5 && figures.settled > 10, "{figures:?}");
    assert!(figures.opened > 40 && figures.paired > 8 && figures.unlinked > 5, "{figures:?}");
    assert!(figures.handed_over > 150, "{figures:?}");
}
