//! Tiers and their file.

use super::*;

fn sentences(text: &str) -> Vec<String> {
    parse(text).unwrap_err().iter().map(ToString::to_string).collect()
}

pub(super) fn only(options: &str) -> Tier {
    parse(&format!("[only]\n{options}")).unwrap().remove(0)
}

#[test]
fn the_built_in_tiers_are_sound_and_have_the_rates_of_the_provider() {
    let tiers = parse(BUILT_IN).unwrap();
    let rate =
        |name| tiers.iter().find(|tier| tier.name == name).map(|tier| tier.messages_per_second.to_string());
    assert_eq!(rate("standard").as_deref(), Some("80/s"));
    assert_eq!(rate("high").as_deref(), Some("1000/s"));
    assert_eq!(rate("coexistence").as_deref(), Some("20/s"));
    assert!(tiers.iter().all(|tier| !tier.description.is_empty()));
    assert!(tiers.iter().any(|tier| tier.kind == Kind::WebSession));
}

#[test]
fn a_tier_survives_the_json_document_that_it_is_kept_as() {
    for tier in parse(BUILT_IN).unwrap() {
        let document = serde_json::to_string(&tier).unwrap();
        assert_eq!(serde_json::from_str::<Tier>(&document).unwrap(), tier, "{document}");
    }
}

#[test]
fn a_tier_reads_back_from_the_file_that_it_is_shown_as() {
    let odd = Tier {
        description: "a \"b\"\nc = d".to_owned(),
        ..only("kind = \"web_session\"\nmessages_per_second = \"1/s\"")
    };
    for tier in parse(BUILT_IN).unwrap().into_iter().chain([odd]) {
        let text = to_toml(&tier);
        assert_eq!(parse(&text).unwrap(), [tier], "{text}");
    }
    let shown = to_toml(&only("messages_per_second = \"1/s\"\nkind = \"business_account\"\nburst = 2"));
    assert!(shown.starts_with("[only]\nkind = \"business_account\"\ndescription = \"\"\nmessages_per_second = \"1/s\"\nburst = 2\n"), "{shown}");
}

#[test]
fn the_list_of_options_is_the_struct() {
    let tier = Tier {
        burst: Some(1),
        quiet_hours: "21:00-08:00 UTC".parse().ok(),
        ..only("kind = \"business_account\"\nmessages_per_second = \"10/min\"")
    };
    let document = serde_json::to_value(tier).unwrap();
    let mut options = Tier::OPTIONS.to_vec();
    options.sort_unstable();
    assert_eq!(document.as_object().unwrap().keys().collect::<Vec<_>>(), options);
}

#[test]
fn missing_options_have_their_defaults() {
    let tier = only("kind = \"business_account\"\nmessages_per_second = \"80/s\"");
    assert_eq!((tier.pair_interval, tier.pair_burst), (Duration::from_secs(6), 10));
    assert_eq!((tier.template_quota, tier.daily_cap), (Quota::Unlimited, Quota::Unlimited));
    assert_eq!((tier.api_requests, tier.unknown_outcome), (Rate::UNLIMITED, UnknownOutcome::Resend));
}

#[test]
fn a_pair_interval_of_zero_switches_recipient_pacing_off() {
    let tier = only("kind = \"business_account\"\nmessages_per_second = \"1/s\"\npair_interval = \"0s\"");
    assert!(tier.pair_interval.is_zero());
    let tiers = parse(BUILT_IN).unwrap();
    let off: Vec<_> =
        tiers.iter().filter(|tier| tier.pair_interval.is_zero()).map(|tier| &tier.name).collect();
    assert_eq!(off, ["unlimited"]);
}

#[test]
fn a_burst_is_one_per_cent_of_the_rate_unless_it_is_set() {
    let burst = |rest: &str| only(&format!("kind = \"business_account\"\n{rest}")).burst();
    assert_eq!(burst("messages_per_second = \"80/s\""), 1);
    assert_eq!(burst("messages_per_second = \"10/min\""), 1);
    assert_eq!(burst("messages_per_second = \"1000/s\""), 10);
    assert_eq!(burst("messages_per_second = \"1000/s\"\nburst = 3"), 3);
    assert_eq!(burst("messages_per_second = \"unlimited\""), u32::MAX);
}

#[test]
fn every_fault_of_a_file_is_named_with_its_remedy() {
    let faults = sentences(
        r#"
        loose = 5
        [empty]
        [typos]
        kind = "business"
        messages_per_second = "80 per second"
        burts = 3
        template_quota = 0
        pair_interval = "6"
        name = "other"
        [Upper]
        kind = "business_account"
        messages_per_second = "1/s"
        burst = 0
        daily_cap = 5
        [web]
        kind = "web_session"
        messages_per_second = "10/min"
        template_quota = 250
        daily_cap = 50
        warm_up = [20, 80]
        "#,
    );
    insta::assert_snapshot!(faults.join("\n"), @r#"
    tier `Upper`: its name must be 1 to 40 small letters, digits and hyphens
    tier `Upper`: `burst` must be at least 1; leave it out for one per cent of the rate
    tier `Upper`: `jitter`, `daily_cap` and `cold_contacts` are for web sessions; remove them or set `kind = "web_session"`
    tier `empty`: `kind` is missing; add it, for example `kind = "business_account"`
    tier `empty`: `messages_per_second` is missing; add it, for example `messages_per_second = "80/s"`
    tier `loose`: it must be a table: write [loose] and its options below
    tier `typos`: there is no option `burts`; did you mean `burst`?
    tier `typos`: `kind = "business"`: unknown variant `business`, expected `business_account` or `web_session`; write it like `kind = "business_account"`
    tier `typos`: `messages_per_second = "80 per second"` is not a rate: a whole number, a slash and one of s, min, h, d, such as "80/s", or "unlimited"; write it like `messages_per_second = "80/s"`
    tier `typos`: a tier is named by its table; remove `name`
    tier `typos`: `pair_interval = "6"` is not a span of time: a number and a unit such as "250ms", "30s", "10m", "2h" or "7d"; write it like `pair_interval = "6s"`
    tier `typos`: `template_quota = 0` is not a quota: a whole number of at least 1, or "unlimited"; write it like `template_quota = 2000`
    tier `web`: `template_quota` is for business accounts, a web session sends no templates; remove it
    tier `web`: `warm_up` must rise from day to day and stay within `daily_cap`
    "#);
}

#[test]
fn a_new_session_has_the_cap_of_its_day_until_it_is_warm() {
    let caps = |rest: &str| {
        let tier = only(&format!("kind = \"web_session\"\nmessages_per_second = \"6/min\"\n{rest}"));
        [0, 1, 2, u32::MAX].map(|day| tier.daily_cap_on(day))
    };
    let most = Quota::AtMost;
    let all = Quota::Unlimited;
    assert_eq!(caps("daily_cap = 9\nwarm_up = [2, 4]"), [most(2), most(4), most(9), most(9)]);
    assert_eq!(caps("warm_up = [2, 4]"), [most(2), most(4), all, all]);
    assert_eq!(caps("daily_cap = 9"), [most(9); 4]);
    assert_eq!(caps(""), [all; 4]);
    // A tier that somebody wrote into the database in another way.
    let odd = "kind = \"web_session\"\nmessages_per_second = \"6/min\"\ndaily_cap = 3";
    let odd = Tier { warm_up: vec![1, 8], ..only(odd) };
    assert_eq!([0, 1, 2].map(|day| odd.daily_cap_on(day)), [most(1), most(3), most(3)]);
}

#[test]
fn strangers_are_counted_for_web_sessions_only() {
    let read = |kind: &str| {
        parse(&format!("[only]\nkind = \"{kind}\"\nmessages_per_second = \"1/s\"\ncold_contacts = 10"))
    };
    assert_eq!(read("web_session").unwrap()[0].cold_contacts, Quota::AtMost(10));
    assert_eq!(read("business_account").unwrap_err().len(), 1);
    let cold = |name: &str| parse(BUILT_IN).unwrap().into_iter().find(|tier| tier.name == name).unwrap();
    assert_eq!(cold("web-new").cold_contacts, Quota::AtMost(10));
    assert_eq!(cold("web-warm").cold_contacts, Quota::AtMost(50));
    assert_eq!(cold("standard").cold_contacts, Quota::Unlimited);
}

#[test]
fn a_file_that_is_not_toml_is_one_fault_with_its_line() {
    let faults = sentences("[standard]\nkind = \n");
    assert_eq!(faults.len(), 1);
    assert!(faults[0].starts_with("tier file: line 2 is not TOML: "), "{faults:?}");
}
