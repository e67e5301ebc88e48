//! A company with full pages in the console: sends with their messages, templates, members, keys, a record of
//! changes, and some hundred other companies. Plain SQL writes a million rows in seconds.

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::domain::block;
use pombo::domain::phone::PhoneNumber;
use uuid::Uuid;

use crate::seed::{FIRST, Seed};

/// Recipients of each of the many sends.
pub(crate) const RECIPIENTS: u64 = 100;
/// Time between two of them.
const STEP: Duration = Duration::from_secs(5 * 60);
/// Recipients of a block.
const BLOCK: u64 = 4_096;
/// Rows of one statement if each row has a block in it.
const BLOCKS: usize = 64;
const TEXT: &str = r#"{"type":"text","body":"The new opening hours: every day from eight to eight"}"#;
/// The components of a marketing template.
const COMPONENTS: &str = r#"[{"type":"HEADER","format":"TEXT","text":"Spring sale"},{"type":"BODY","text":"Hello {{1}}, all shoes are {{2}} off until Sunday. Show this message at the till.","example":{"body_text":[["Ana","20%"]]}},{"type":"FOOTER","text":"Reply STOP to get no more of these"},{"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY","text":"Tell me more"},{"type":"URL","text":"Shop","url":"https://example.com/shop"}]}]"#;

/// A send that one call writes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bulk {
    pub(crate) company: Uuid,
    pub(crate) channel: Uuid,
    pub(crate) recipients: u64,
    /// How long ago it was accepted.
    pub(crate) ago: Duration,
    /// The number of its messages that are sent; the send is over when all are.
    pub(crate) done: u64,
}

impl Seed {
    /// A time-ordered id by SQL, from these milliseconds and this number within them.
    pub(crate) fn id_at(&self, at: &str, number: &str) -> String {
        if self.is_sqlite() {
            format!("unhex(printf('%012x', {at}) || '70008000' || printf('%012x', {number}))")
        } else {
            format!("(lpad(to_hex({at}), 12, '0') || '70008000' || lpad(to_hex({number}), 12, '0'))::uuid")
        }
    }

    /// Writes `count` sends that are over. Each goes to the same hundred numbers and to one of the company's
    /// tags, through these channels in turns; one in twenty is canceled.
    pub(crate) async fn sends(&self, company: Uuid, channels: &[Uuid], count: u64) {
        let owner = self.uuid(company);
        let step = i64::try_from(STEP.as_millis()).unwrap();
        let start = Timestamp::now().millis() - step * i64::try_from(count).unwrap();
        let at = format!("({start} + n * {step})");
        let turns = channels.iter().enumerate();
        let turns: String = turns.map(|(turn, id)| format!("WHEN {turn} THEN {} ", self.uuid(*id))).collect();
        self.run(&format!(
            "INSERT INTO send (id, company_id, channel_id, state, content, recipients, high_water, settled, created_at, \
             finished_at) {} SELECT {}, {owner}, CASE n % {} {turns} END, CASE n % 20 WHEN 7 THEN 3 ELSE 2 END, '{TEXT}', \
             {RECIPIENTS}, {RECIPIENTS}, {RECIPIENTS}, {at}, {at} + 60000 FROM member",
            self.counting(count),
            self.id_at(&at, "n"),
            channels.len(),
        ))
        .await;
        self.run(&format!(
            "INSERT INTO send_source (send_id, source_id, kind) SELECT sent.id, tags.id, 0 \
             FROM (SELECT id, row_number() OVER (ORDER BY id) AS place FROM send WHERE company_id = {owner}) AS sent \
             JOIN (SELECT id, row_number() OVER (ORDER BY id) AS place, count(*) OVER () AS many FROM tag \
             WHERE company_id = {owner}) AS tags ON sent.place % tags.many = tags.place - 1"
        ))
        .await;
        let packed = self.bytes(&packed(0, RECIPIENTS));
        self.run(&format!(
            "INSERT INTO recipient_block (send_id, first_ordinal, recipients, packed) \
             SELECT id, 0, {RECIPIENTS}, {packed} FROM send WHERE company_id = {owner}"
        ))
        .await;
        let settled = "send.created_at + n * 100";
        self.messages(
            &owner,
            "send.id",
            settled,
            RECIPIENTS,
            &format!("send CROSS JOIN member WHERE send.company_id = {owner}"),
        )
        .await;
    }

    /// Writes a send to many recipients, with its blocks and its sent messages, and returns its id.
    pub(crate) async fn bulk(&self, bulk: Bulk) -> Uuid {
        let Bulk { company, channel, recipients, ago, done } = bulk;
        let at = Timestamp::now().minus(ago).millis();
        let id = Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, at.unsigned_abs() / 1_000, 0));
        let (send, owner, channel) = (self.uuid(id), self.uuid(company), self.uuid(channel));
        let firsts: Vec<u64> = (0..recipients).step_by(usize::try_from(BLOCK).unwrap()).collect();
        for lot in firsts.chunks(BLOCKS) {
            let rows = lot.iter().map(|first| {
                let count = BLOCK.min(recipients - first);
                format!("({send}, {first}, {count}, {})", self.bytes(&packed(*first, count)))
            });
            let rows = rows.collect::<Vec<_>>().join(", ");
            self.run(&format!(
                "INSERT INTO recipient_block (send_id, first_ordinal, recipients, packed) VALUES {rows}"
            ))
            .await;
        }
        self.messages(&owner, &send, &format!("{at} + n / 10"), done, "member").await;
        let ended = at + i64::try_from(recipients / 10).unwrap();
        let (state, ended) = if done == recipients { (2, ended.to_string()) } else { (1, "NULL".to_owned()) };
        self.run(&format!(
            "INSERT INTO send (id, company_id, channel_id, state, content, recipients, high_water, settled, created_at, \
             finished_at) VALUES ({send}, {owner}, {channel}, {state}, '{TEXT}', {recipients}, {done}, {done}, {at}, {ended})"
        ))
        .await;
        id
    }

    /// Writes `count` messages: most are delivered or read, and one in fifty failed for one of two reasons.
    async fn messages(&self, owner: &str, send: &str, at: &str, count: u64, from: &str) {
        self.run(&format!(
            "INSERT INTO message (send_id, ordinal, company_id, recipient, state, attempts, provider_message_id, error_code, \
             error, updated_at, taken_at) {} SELECT {send}, n, {owner}, {FIRST} + n, CASE WHEN n % 50 = 0 THEN 5 WHEN n % 3 = 0 THEN 4 \
             ELSE 3 END, 1, 'wamid.HBgLMTY0NjcwNDM1OTUVAgARGBI1RjQyNUE3NEYxMzAzMzQ5MkEA', \
             CASE WHEN n % 100 = 0 THEN 131026 WHEN n % 50 = 0 THEN 131049 END, \
             CASE WHEN n % 50 = 0 THEN 'the message cannot be delivered to this number' END, {at}, {at} FROM {from}",
            self.counting(count)
        ))
        .await;
    }

    /// Writes `count` approved templates of a business account.
    pub(crate) async fn templates(&self, company: Uuid, account: &str, count: u64) {
        let owner = self.uuid(company);
        self.run(&format!(
            "INSERT INTO template (company_id, waba_id, provider_id, name, language, category, status, parameter_format, \
             components, revision, created_at, updated_at) {} SELECT {owner}, '{account}', 'at the provider ' || n, \
             'spring_sale_' || n, 'en_US', 'MARKETING', 'APPROVED', 'POSITIONAL', '{COMPONENTS}', 0, 0, 0 FROM member",
            self.counting(count)
        ))
        .await;
    }

    /// Writes `count` recorded changes, nine in ten of them sign-ins.
    pub(crate) async fn changes(&self, count: u64) {
        let start = Timestamp::now().minus(Duration::from_secs(90 * 24 * 3_600)).millis();
        let at = format!("({start} + n * 1000)");
        self.run(&format!(
            "INSERT INTO change (id, at, who, what, subject, before, after, address) {} SELECT {}, {at}, \
             'user:person.' || (n % 500) || '@example.com', CASE n % 10 WHEN 3 THEN 'channel.tier' ELSE 'sign_in' END, \
             'person.' || (n % 500) || '@example.com', NULL, '\"link\"', '203.0.113.7' FROM member",
            self.counting(count),
            self.id_at(&at, "n")
        ))
        .await;
    }

    /// Writes `count` people, all members of a company.
    pub(crate) async fn members_of(&self, company: Uuid, count: u64) {
        let (owner, id) = (self.uuid(company), self.id_at("1", "n"));
        self.run(&format!(
            "INSERT INTO user_account (id, email, name, is_operator, totp_step, created_at) {} SELECT {id}, \
             'person.' || n || '@example.com', 'Person ' || n, 0, 0, 0 FROM member",
            self.counting(count)
        ))
        .await;
        self.run(&format!(
            "INSERT INTO membership (user_id, company_id, role, created_at) {} SELECT {id}, {owner}, 'member', 0 FROM member",
            self.counting(count)
        ))
        .await;
    }

    /// Writes `count` companies, all of which a person may use.
    pub(crate) async fn companies_of(&self, user: Uuid, count: u64) {
        let (user, id) = (self.uuid(user), self.id_at("2", "n"));
        self.run(&format!(
            "INSERT INTO company (id, name, tier, created_at) {} SELECT {id}, 'Company ' || n, 'standard', 0 FROM member",
            self.counting(count)
        ))
        .await;
        self.run(&format!(
            "INSERT INTO membership (user_id, company_id, role, created_at) {} SELECT {user}, {id}, 'owner', 0 FROM member",
            self.counting(count)
        ))
        .await;
    }

    /// Writes `count` API keys of a company.
    pub(crate) async fn keys(&self, company: Uuid, count: u64) {
        let rows = (0..count).map(|number| {
            let (mut hash, id) = ([0; 32], Uuid::now_v7());
            hash[..16].copy_from_slice(id.as_bytes());
            let (id, hash) = (self.uuid(id), self.bytes(&hash));
            format!("({id}, {}, 'Key {number}', 'pombo_{number}', {hash}, 0)", self.uuid(company))
        });
        let rows = rows.collect::<Vec<_>>().join(", ");
        self.run(&format!(
            "INSERT INTO api_key (id, company_id, name, prefix, hash, created_at) VALUES {rows}"
        ))
        .await;
    }

    /// Does the upkeep that a database does by itself after some use.
    pub(crate) async fn settle(&self) {
        if self.is_sqlite() {
            self.run("PRAGMA wal_checkpoint(TRUNCATE)").await;
        } else {
            self.run("VACUUM ANALYZE").await;
        }
    }
}

/// A block of `count` consecutive numbers.
fn packed(first: u64, count: u64) -> Vec<u8> {
    let numbers = (first..first + count).map(|number| PhoneNumber::from_u64(FIRST + number).unwrap());
    block::pack(&numbers.collect::<Vec<_>>())
}
