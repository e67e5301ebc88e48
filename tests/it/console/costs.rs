//! The costs of a month for a company, and the prices that operators keep.

use pombo::accounts::Role;
use pombo::clock::Timestamp;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::price::Month;
use reqwest::Method;
use sea_orm::{ConnectionTrait as _, Database, Statement};
use uuid::Uuid;

use super::browser::{Browser, value_of};
use super::world::World;
use crate::harness::Answer;

const PRICES: &str = "/console/operator/prices";
const BOUNDARY: &str = "----pombo7MA4YWxkTrZu0gW";
const CARD: &str = "# date: 2027-01-01\n# currency: USD\n\
    Market,Countries,Marketing,Utility,Authentication\nBrazil,BR,0.0700,0.0068,0.0068\nOther,*,0.0604,0.0077,0.0077\n";

/// Counts messages of this month to Brazil, as receipts would.
async fn count(world: &World, channel: Uuid, billing: i16, messages: i64) {
    let database = Database::connect(&world.service.universe.url).await.unwrap();
    let sql = "INSERT INTO billed_count (company_id, month, channel_id, country, billing, messages) \
               VALUES ($1, $2, $3, 'BR', $4, $5)";
    let month = Month::of(Timestamp::now()).number();
    let values =
        [world.acme.id.into(), month.into(), channel.into(), i64::from(billing).into(), messages.into()];
    let statement = Statement::from_sql_and_values(database.get_database_backend(), sql, values);
    database.execute_raw(statement).await.unwrap();
    database.close().await.unwrap();
}

/// Uploads a file of prices.
async fn upload(browser: &Browser<'_>, file: &str) -> Answer {
    let body = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"prices.csv\"\r\n\
         Content-Type: text/csv\r\n\r\n{file}\r\n--{BOUNDARY}--\r\n"
    );
    let request = browser
        .request(Method::POST, &format!("{PRICES}/check"))
        .header("origin", browser.origin())
        .header("content-type", format!("multipart/form-data; boundary={BOUNDARY}"));
    browser.ask(request.body(body)).await
}

#[tokio::test]
async fn a_company_sees_what_its_months_cost_and_no_other_company_s() {
    let world = World::new().await;
    let channel =
        world.service.channel(&world.acme, Kind::BusinessAccount, "quayside", Status::Connected).await;
    let viewer = world.signed_in(Role::Viewer).await;
    let empty = viewer.page("/console/costs").await;
    assert!(empty.contains("No billed message arrived in this month."), "{empty}");
    // Utility messages, charged and free, and charged ones of a category without a price.
    for (billing, messages) in [(5, 2), (4, 3), (13, 4)] {
        count(&world, channel.id, billing, messages).await;
    }
    let page = viewer.page("/console/costs").await;
    for shown in [
        "USD 0.0136",
        "quayside",
        "Brazil",
        "Utility",
        "not Meta's bill",
        "For 4 messages, no price is known",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let file = viewer.get("/console/costs/file").await;
    assert!(file.header("content-type").starts_with("text/csv"), "{}", file.body);
    assert!(file.body.contains(",quayside,BR,Brazil,utility,true,2,0.0068,0.0136,USD\r\n"), "{}", file.body);
    assert!(
        file.body.contains(",quayside,BR,Brazil,other,true,4,,,USD\r\n"),
        "no price is invented: {}",
        file.body
    );
    // Another channel of this name is not added to it.
    let other =
        world.service.channel(&world.acme, Kind::BusinessAccount, "quayside", Status::Connected).await;
    count(&world, other.id, 5, 900).await;
    let page = viewer.page("/console/costs").await;
    let rows: Vec<_> = page.split("<tr>").filter(|row| row.contains("<bdi>quayside (")).collect();
    assert_eq!(rows.len(), 2, "{page}");
    assert!(rows[0].contains(">900<") && !rows[1].contains(">900<"), "{page}");
    let before = Month::of(Timestamp::now()).previous();
    let earlier = viewer.page(&format!("/console/costs?month={before}")).await;
    assert!(earlier.contains(&before.to_string()) && !earlier.contains("quayside"), "{earlier}");
    let outsider = world.outsider().await;
    assert!(!outsider.page("/console/costs").await.contains("quayside"));
    assert!(!outsider.get("/console/costs/file").await.body.contains("quayside"));
    assert_eq!(viewer.get(PRICES).await.status, 403, "prices are for operators");
}

#[tokio::test]
async fn an_operator_sees_what_a_card_changes_before_it_is_applied() {
    let world = World::new().await;
    let operator = world.operator().await;
    let page = operator.page(PRICES).await;
    for shown in ["Prices from 2026-10-01 on, in USD", "comes with Pombo", "Rest of Latin America", "0.0625"]
    {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let wrong = upload(&operator, &CARD.replace("0.0700", "seven")).await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.body.contains("line 4: `seven` is no price"), "{}", wrong.body);
    let large = upload(&operator, &"x".repeat(65 * 1024)).await;
    assert!(large.status == 422 && large.body.contains("more than 64 KiB"), "{}", large.body);

    let checked = upload(&operator, CARD).await;
    assert_eq!(checked.status, 200, "{}", checked.body);
    assert!(checked.body.contains("0.0625") && checked.body.contains("0.07"), "{}", checked.body);
    assert!(!operator.page(PRICES).await.contains("2027-01-01"), "nothing is applied yet");
    let csv = value_of(&checked.body, "csv").unwrap();
    let applied = operator.submit(PRICES, &[("csv", &csv)]).await;
    assert!(applied.contains("The prices apply from 2027-01-01 on."), "{applied}");
    let file = operator.get(&format!("{PRICES}/file?date=2027-01-01")).await;
    assert!(file.body.contains("Brazil,BR,0.07,"), "{}", file.body);
    assert!(operator.page("/console/operator/changes").await.contains("Rate card"));

    let removed = operator.submit(&format!("{PRICES}/remove"), &[("date", "2027-01-01")]).await;
    assert!(removed.contains("The rate card of 2027-01-01 is removed."), "{removed}");
    assert_eq!(operator.post(&format!("{PRICES}/remove"), &[("date", "2026-10-01")]).await.status, 404);
    assert_eq!(operator.get(&format!("{PRICES}?date=2027-01-01")).await.status, 404);
}
