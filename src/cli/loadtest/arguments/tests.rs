//! Arguments that contradict each other, and the recipients that are intended.

use clap::Parser;

use super::*;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    arguments: Arguments,
}

fn plan(line: &str) -> Result<Plan, String> {
    let line = Line::try_parse_from(format!("loadtest {line}").split_whitespace());
    let line = line.map_err(|error| error.to_string())?;
    line.arguments.plan(Config::default(), None, String::new()).map_err(|error| error.to_string())
}

#[test]
fn only_the_intended_recipients_are_messaged() {
    let aimed = plan("--url http://localhost --key k --simulator http://127.0.0.1:9").unwrap();
    assert!(matches!(aimed.target, Target::Other { receiving: Receiving::Simulator(_), .. }));
    let real = plan("--url http://localhost --key k --message-real-people").unwrap();
    let Target::Other { receiving: Receiving::RealPeople { singles_to }, .. } = real.target else { panic!() };
    assert_eq!(singles_to, Vec::<String>::new(), "no number is made up");
    for (line, words) in [
        ("--url http://localhost --key k", "--message-real-people"),
        ("--url http://localhost --key k --single-to +5511988887777", "--message-real-people"),
        (
            "--url http://localhost --key k --message-real-people --simulator http://[::1]",
            "cannot be used with",
        ),
        ("--message-real-people", "--url"),
    ] {
        let error = plan(line).unwrap_err();
        assert!(error.contains(words), "{line}: {error}");
    }
}

#[test]
fn contradicting_arguments_are_refused_with_a_remedy() {
    for (line, words) in [
        ("--url http://localhost --simulator http://[::1]", "--key-file"),
        ("--url http://10.0.0.1 --key k --simulator http://localhost", "--remote"),
        ("--url http://localhost --key k --simulator http://localhost.example", "--remote"),
        ("--url http://localhost --key k --simulator http://localhost --latency 1s", "pombo simulator"),
        ("--remote", "--url"),
        ("--ramp 100/s", "100/s..5000/s"),
        ("--ramp 1/s..30000/s", "20000/s"),
        ("--ramp 1/s..3/s --single-rate 5/s", "cannot be used with"),
        ("--then 10s:40/s --duration 10s", "longer --duration"),
        ("--then 40/s", "20s:40/s"),
        ("--nodes 2", "--database-url"),
        ("--allow 5%", "--compare"),
        ("--compare base.json --allow 5", "5%"),
        ("--content fax", "template"),
        ("--no-receipts --fail 1%:131026", "131026:now"),
        ("--url http://localhost --key k --simulator http://localhost --read 5%", "pombo simulator"),
        ("--level medium", "standard"),
        ("--url host:80 --key k --simulator http://[::1]", "http://127.0.0.1:8080"),
        (
            "--url http://localhost --key k --simulator http://127.0.0.1:9 --contacts 5",
            "pombo contacts import",
        ),
        ("--key k", "--url"),
        ("--single-rate unlimited", "at most"),
        ("--single-rate none --bulk 0", "--bulk"),
        ("--rate fast", "80/s"),
        ("--duration 10", "\"7d\""),
        ("--duration 10ms", "1s to 24h"),
        ("--contacts 0", "1..=10000000"),
        ("--values 11", "1..=10"),
        ("--values 5 --contacts 1000000", "more --tags"),
        ("--values 5 --url http://localhost --key k --simulator http://127.0.0.1:9", "--url"),
        ("--webhooks 101", "1..=100"),
        ("--answers unlimited", "at most 10000"),
        ("--answers 9/s --no-receipts", "--no-receipts"),
        ("--url http://10.0.0.1 --key k --simulator http://10.0.0.2 --remote --webhooks 1", "127.0.0.1"),
        ("--database-url sqlite://hunter2", "postgres://user@host"),
        ("--database-url postgres://a:hunt/er2@b", "postgres://user@host"),
    ] {
        let error = plan(line).unwrap_err();
        assert!(error.contains(words) && !error.contains("hunt"), "{line}: {error}");
    }
    let usual = plan("").unwrap();
    assert!(matches!(usual.target, Target::Own) && usual.rates == [Rate::UNLIMITED]);
    assert!(usual.receipts.is_some() && usual.simulator.is_empty() && usual.webhooks.is_none());
    assert_eq!(plan("--answers 20/s").unwrap().answers.unwrap().to_string(), "20/s");
    assert_eq!(plan("--webhooks 100").unwrap().webhooks, Some(100));
    let far = plan("--url http://10.0.0.1 --key k --simulator http://10.0.0.2 --remote").unwrap();
    assert!(matches!(far.target, Target::Other { .. }));
    let ramp = plan("--ramp 10/s..100/s").unwrap();
    assert_eq!((ramp.bulk, ramp.single_rate), (Some(0), None));
}
