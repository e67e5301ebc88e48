use super::*;
use crate::Options;
use crate::Store;

#[test]
fn a_name_always_has_the_same_colour() {
    assert_eq!(color_of("VIP"), color_of("VIP"));
    assert!(COLORS.iter().all(|color| color.len() == 7 && color.starts_with('#')));
}

#[tokio::test]
async fn a_tag_is_expanded_from_its_index_alone_and_without_sorting() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        url: format!("sqlite://{}", directory.path().join("plan.db").display()),
        connections: 1,
        acquire_timeout: std::time::Duration::from_secs(5),
        statement_timeout: std::time::Duration::ZERO,
        synchronous_full: false,
        migrate: true,
    };
    let store = Store::open(&options).await.unwrap();
    let values = [Uuid::nil().into(), 0_i64.into(), Uuid::nil().into(), 50_000_i64.into()];
    let rows = store.rows(format!("EXPLAIN QUERY PLAN {PHONES}"), values).await.unwrap();
    let plan: Vec<String> = rows.iter().map(|row| row.try_get_by_index(3).unwrap()).collect();
    let wanted = "SEARCH contact_tag USING COVERING INDEX contact_tag_phone (tag_id=? AND phone>?)";
    assert!(plan.iter().any(|step| step == wanted), "{plan:#?}");
    assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:#?}");
}
