//! Conversations by the million, each with ten messages, by plain SQL: tables are filled in order, without their indexes.
//! The line of each conversation is sealed as the service seals it; older messages have as many bytes, and nobody's content.

use std::fmt::Write as _;

use pombo::clock::Timestamp;
use pombo::domain::fold::fold;
use pombo::store::conversations::StoredDataKey;
use pombo::vault::context;
use uuid::Uuid;

use crate::people;
use crate::seed::Seed;
use crate::service::Ground;

/// Messages of each.
pub(crate) const MESSAGES: u64 = 10;
/// The first conversations, which alone the last channel has.
pub(crate) const RARE: u64 = 500;
/// Time between the last messages of two conversations.
const STEP: u64 = 2_000;
/// Conversations of one statement, and those whose messages one statement writes.
const LOT: usize = 500;
const SLICE: usize = 50_000;
/// Statements of a transaction.
const TOGETHER: usize = 50;
const LINE: &str = "Do you have it in blue, and when could it be here? I would come by on Friday.";

/// Adds `count` conversations with the people of [`people`], whose numbers are digits alone here.
pub(crate) async fn add(ground: &Ground, seed: &Seed, channels: &[Uuid], count: u64) {
    let key = Uuid::now_v7();
    let stored =
        StoredDataKey { id: key, company_id: ground.company, sealed: ground.vault.new_data_key(key) };
    assert!(ground.store.conversations().add_key(&stored, None).await.unwrap());
    let key = ground.vault.open_data_key(key, &stored.sealed).unwrap();
    if seed.is_sqlite() {
        seed.run("PRAGMA cache_size = -262144").await;
        seed.run("PRAGMA synchronous = OFF").await;
    }
    let now = Timestamp::now().millis().cast_unsigned();
    let at = |number: u64| now - 3_600_000 - (count - number) * STEP;
    // As a version 7 id of that time.
    let id = |number: u64| {
        Uuid::from_u128((u128::from(at(number)) << 80) | (0x7000_8000 << 48) | u128::from(number))
    };
    let owner = seed.uuid(ground.company);
    let uuid = if seed.is_sqlite() { "BLOB" } else { "uuid" };
    seed.run(&format!("CREATE TEMPORARY TABLE seed_word (word TEXT NOT NULL, id {uuid} NOT NULL)")).await;
    let indexes = seed.without_indexes(&["conversation", "conversation_word"]).await;
    let numbers: Vec<_> = (0..count).collect();
    for together in numbers.chunks(LOT * TOGETHER) {
        seed.run("BEGIN").await;
        for lot in together.chunks(LOT) {
            let (mut rows, mut words) = (String::new(), String::new());
            for number in lot.iter().copied() {
                let person = people::person(number);
                let name = format!("{} {}", person.first_name, person.last_name);
                let digits: String = person.phone_number.chars().filter(char::is_ascii_digit).collect();
                let nth =
                    if number < RARE { channels.len() - 1 } else { number as usize % (channels.len() - 1) };
                let (channel, folded) = (seed.uuid(channels[nth]), fold(&name));
                let (state, unread) =
                    if number % 3 == 2 { (1, 0) } else { (0, u64::from(number % 10 == 0) * 3) };
                let (at, uuid) = (at(number), seed.uuid(id(number)));
                let line = key.seal(LINE.as_bytes(), &context::conversation_line(id(number)));
                let (comma, line) = (if rows.is_empty() { "" } else { "," }, seed.bytes(&line));
                let _ = write!(
                    rows,
                    "{comma}({uuid},{owner},{channel},0,'{digits}','{name}','{folded}',{state},{unread},{at},{at},\
                     {},{uuid},{at},'text',0,{line},{at})",
                    at + 86_400_000,
                );
                let backwards: String = digits.chars().rev().collect();
                let mut all: Vec<_> = folded.split(' ').map(str::to_owned).collect();
                all.extend([format!("+{digits}"), format!("-{backwards}")]);
                all.sort_unstable();
                all.dedup();
                for word in all {
                    let comma = if words.is_empty() { "" } else { "," };
                    let _ = write!(words, "{comma}('{word}',{uuid})");
                }
            }
            seed.run(&format!(
                "INSERT INTO conversation (id, company_id, channel_id, kind, peer, name, name_folded, state, unread, \
                 last_at, last_inbound_at, window_until, last_id, last_line_at, last_kind, last_direction, last_line, \
                 created_at) VALUES {rows}"
            ))
            .await;
            seed.run(&format!("INSERT INTO seed_word (word, id) VALUES {words}")).await;
        }
        seed.run("COMMIT").await;
    }
    seed.run(&format!(
        "INSERT INTO conversation_word (company_id, word, conversation_id) \
         SELECT {owner}, word, id FROM seed_word ORDER BY word, id"
    ))
    .await;
    seed.run("DROP TABLE seed_word").await;
    for index in indexes {
        seed.run(&index).await;
    }
    for slice in numbers.chunks(SLICE) {
        let [first, last] = [slice[0], slice[slice.len() - 1]].map(|number| seed.uuid(id(number)));
        seed.messages_of(&first, &last).await;
    }
    if seed.is_sqlite() {
        seed.run("PRAGMA synchronous = FULL").await;
    }
}

impl Seed {
    /// Writes the messages of the conversations between two ids, the last one at the conversation's time.
    async fn messages_of(&self, first: &str, last: &str) {
        let at = "(last_at - n * 60000)";
        // The conversation's number makes ids of one time differ.
        let (id, content) = if self.is_sqlite() {
            (format!("unhex(printf('%012x', {at}) || '70008000' || substr(hex(id), 21))"), "randomblob(160)")
        } else {
            (
                format!("(lpad(to_hex({at}), 12, '0') || '70008000' || right(id::text, 12))::uuid"),
                "decode(repeat(md5(id::text || n), 10), 'hex')",
            )
        };
        self.run(&format!(
            "INSERT INTO conversation_message (id, company_id, channel_id, conversation_id, provider_id, direction, \
             kind, at, content) {} SELECT {id}, company_id, channel_id, id, 'wamid.HBgLMTY0NjcwNDM1OTUVAgARGBI1' || n, \
             0, 'text', {at}, {content} FROM conversation CROSS JOIN member WHERE id >= {first} AND id <= {last}",
            self.counting(MESSAGES)
        ))
        .await;
    }

    /// Removes the indexes of these tables, and returns the statements that create them again, in the order in which they
    /// were created.
    async fn without_indexes(&self, tables: &[&str]) -> Vec<String> {
        let mut all = Vec::new();
        for table in tables {
            let sql = if self.is_sqlite() {
                format!(
                    "SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = '{table}' AND sql IS NOT NULL \
                     ORDER BY rowid"
                )
            } else {
                format!(
                    "SELECT indexdef FROM pg_indexes WHERE tablename = '{table}' AND indexname <> '{table}_pkey'"
                )
            };
            all.extend(self.texts(sql).await);
        }
        for index in &all {
            let name = index.split(" ON ").next().and_then(|begin| begin.split(' ').next_back()).unwrap();
            self.run(&format!("DROP INDEX {name}")).await;
        }
        all
    }
}
