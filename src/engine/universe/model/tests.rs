//! The model is honest: the same random operations drive it and the real store, and every answer and every table agree.

mod generate;
mod operation;
mod real;

use std::collections::BTreeSet;

use self::generate::Generator;
use self::operation::{Operation, ask_model};
use self::real::Real;
use super::Model;

/// Cases of one test; each begins with empty tables.
const CASES: u64 = 30;
/// Operations of one case.
const OPERATIONS: usize = 80;

#[actix_web::test]
async fn the_model_answers_and_keeps_what_sqlite_does() {
    compare(&Real::sqlite().await).await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn the_model_answers_and_keeps_what_postgresql_does() {
    let real = Real::postgres().await;
    compare(&real).await;
    real.remove().await;
}

async fn compare(real: &Real) {
    let mut met = BTreeSet::new();
    for seed in 0..CASES {
        real.clear().await;
        case(real, seed, &mut met).await;
    }
    // A comparison of what never happens says nothing.
    let loses_leases = real.loses_leases();
    let missing: Vec<_> = operation::EXPECTED
        .iter()
        .filter(|expected| !met.contains(**expected) && (loses_leases || **expected != "fenced"))
        .collect();
    assert!(missing.is_empty(), "no operation met: {missing:?}");
}

async fn case(real: &Real, seed: u64, met: &mut BTreeSet<&'static str>) {
    let mut model = Model::default();
    let mut epoch = model.take_lease();
    let mut generator = Generator::new(seed, real.loses_leases());
    let mut trace = Vec::new();
    for step in 0..OPERATIONS {
        let operation = generator.next(&model);
        trace.push(format!("{operation:?}"));
        let told = real.ask(&operation).await;
        let numbers = real.template_numbers().await;
        let modelled = ask_model(&mut model, &mut epoch, &operation, &numbers);
        assert_eq!(
            told,
            modelled,
            "seed {seed}, step {step}: the store's answer beside the model's\n{}",
            last(&trace)
        );
        operation::note(&operation, &modelled, met);
        if operation.writes() {
            let kept = real.tables(model.epoch).await;
            let (mut kept, mut own) = (kept.as_text(), model.as_text());
            // Only what differs is worth reading.
            let same: BTreeSet<_> = kept.intersection(&own).cloned().collect();
            kept.retain(|row| !same.contains(row));
            own.retain(|row| !same.contains(row));
            assert!(
                kept == own,
                "seed {seed}, step {step}: the store has\n{kept:#?}\nthe model has\n{own:#?}\n{}",
                last(&trace)
            );
        }
    }
    if let Some(regain) = generator.regain() {
        assert_eq!(real.ask(&regain).await, "done");
    }
}

fn last(trace: &[String]) -> String {
    trace[trace.len().saturating_sub(8)..].join("\n")
}

impl Model {
    /// Every row of every table, as text.
    fn as_text(&self) -> BTreeSet<String> {
        let Self { sends, blocks, messages, suppressions, templates, epoch: _ } = self;
        let sends = sends.iter().map(|row| format!("send {row:?}"));
        let blocks = blocks.iter().map(|row| format!("block {row:?}"));
        let messages = messages.iter().map(|row| format!("message {row:?}"));
        let suppressions = suppressions.iter().map(|row| format!("suppression {row:?}"));
        let templates = templates.iter().map(|row| format!("template {row:?}"));
        sends.chain(blocks).chain(messages).chain(suppressions).chain(templates).collect()
    }
}

impl Operation {
    /// Whether a table may differ after it.
    const fn writes(&self) -> bool {
        !matches!(self, Self::Read(_))
    }
}
