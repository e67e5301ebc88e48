//! Who wants no messages, and the numbers under which one person is known. Suppressions stand under the one number under
//! which a person is known; the numbers that only the provider can join are kept.

pub(crate) const UP: &[&str] = &[
    // With `until` set messages to the recipient wait until then; without, sends skip it. `scope`: 1 marketing
    // templates, 2 everything. `said_at`: when the recipient, the provider or a person last opted the recipient out or in; 0
    // while the provider only holds the recipient for a while. A recipient who opted in again keeps the row, with a past
    // `until`, so that an older report that arrives later changes nothing. `source`: 1 the provider refused a message, 2 the
    // person stopped marketing in WhatsApp, 3 the person wrote an opt-out word, 4 an operator.
    "CREATE TABLE suppression (
        company_id {uuid} NOT NULL,
        recipient {int} NOT NULL,
        scope {small} NOT NULL,
        until {int},
        provider_code {int},
        created_at {int} NOT NULL,
        said_at {int} NOT NULL DEFAULT 0,
        source {small},
        PRIMARY KEY (company_id, recipient, scope)
    ) {clustered}",
    "CREATE INDEX suppression_ended ON suppression (until) WHERE until IS NOT NULL",
    // What a company does with opt-out words that people write. A company without a row follows the words that everybody
    // knows. `scope`: 0 they have no effect, 1 marketing, 2 everything. The words are the company's own, one a line.
    "CREATE TABLE opt_out_words (
        company_id {uuid} NOT NULL PRIMARY KEY,
        scope {small} NOT NULL,
        stop_words TEXT NOT NULL,
        start_words TEXT NOT NULL
    ) {clustered}",
    // Numbers that the provider's answers showed to be another form of a person's number.
    "CREATE TABLE person_number (
        company_id {uuid} NOT NULL,
        number {int} NOT NULL,
        person {int} NOT NULL,
        learned_at {int} NOT NULL,
        PRIMARY KEY (company_id, number)
    ) {clustered}",
    "CREATE INDEX person_number_person ON person_number (company_id, person)",
    // The numbers of people by the ids that they have in one business, as their own messages say.
    "CREATE TABLE person_user (
        company_id {uuid} NOT NULL,
        user_id TEXT {bytewise} NOT NULL,
        number {int} NOT NULL,
        seen_at {int} NOT NULL,
        PRIMARY KEY (company_id, user_id)
    ) {clustered}",
    // Statements of people whose number was not known then, by scope of the suppression, the latest of each kind: `says` as
    // in the program.
    "CREATE TABLE person_statement (
        company_id {uuid} NOT NULL,
        user_id TEXT {bytewise} NOT NULL,
        scope {small} NOT NULL,
        says {small} NOT NULL,
        said_at {int} NOT NULL,
        PRIMARY KEY (company_id, user_id, scope, says)
    ) {clustered}",
];

pub(crate) const DOWN: &[&str] = &[
    "DROP TABLE person_statement",
    "DROP TABLE person_user",
    "DROP TABLE person_number",
    "DROP TABLE opt_out_words",
    "DROP TABLE suppression",
];
