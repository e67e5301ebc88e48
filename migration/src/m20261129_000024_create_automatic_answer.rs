//! What companies answer by themselves, to whom they did, and the texts that their people answer with.

pub(crate) const UP: &[&str] = &[
    // The texts that a company answers with: null for none. `hours`: a line for each day from Monday on, with the spans in
    // which somebody answers.
    "CREATE TABLE automatic_text (
        company_id {uuid} NOT NULL PRIMARY KEY,
        stop_text TEXT,
        start_text TEXT,
        away_text TEXT,
        hours TEXT NOT NULL,
        time_zone TEXT NOT NULL
    ) {strict}",
    // The last automatic answer of each kind to a person. `kind`: 1 an opt-out, 2 an opt-in, 3 nobody is there. `at`: when the
    // message came that it answers, `message_id`. `due_at`: when it is sent, or tried again; null once that is over.
    "CREATE TABLE automatic_answer (
        company_id {uuid} NOT NULL,
        recipient {int} NOT NULL,
        kind {small} NOT NULL,
        at {int} NOT NULL,
        channel_id {uuid} NOT NULL,
        message_id {uuid} NOT NULL,
        due_at {int},
        PRIMARY KEY (company_id, recipient, kind)
    ) {clustered}",
    "CREATE INDEX automatic_answer_due ON automatic_answer (due_at) WHERE due_at IS NOT NULL",
    "CREATE INDEX automatic_answer_age ON automatic_answer (at)",
    // `word`: folded. `file_id`: a file of the library, which may be removed.
    "CREATE TABLE quick_reply (
        id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL,
        word TEXT {bytewise} NOT NULL,
        body TEXT NOT NULL,
        file_id {uuid},
        changed_at {int} NOT NULL
    ) {strict}",
    "CREATE UNIQUE INDEX quick_reply_word ON quick_reply (company_id, word)",
];

pub(crate) const DOWN: &[&str] =
    &["DROP TABLE quick_reply", "DROP TABLE automatic_answer", "DROP TABLE automatic_text"];
