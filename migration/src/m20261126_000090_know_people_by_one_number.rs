//! One person, several numbers: suppressions stand under the one number under which a person is known, and the numbers
//! that only the provider can join are kept.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // Where a suppression comes from: 1 the provider refused a message, 2 the person stopped marketing in WhatsApp, 3
    // the person wrote an opt-out word, 4 an operator; null for those from before this column.
    "ALTER TABLE suppression ADD COLUMN source {small}",
    "UPDATE suppression SET source = 1 WHERE provider_code IS NOT NULL",
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

/// The numbers of four countries in another form than the one under which a person is known, and that one. The program
/// has the same rules in `domain/phone/person.rs`.
const FORMS: &[(&str, &str)] = &[
    // Brazil: a mobile number without its ninth digit.
    (
        "recipient BETWEEN 551100000000 AND 559999999999 AND (recipient / 10000000) % 10 >= 6",
        "(recipient / 100000000) * 1000000000 + 900000000 + recipient % 100000000",
    ),
    // Mexico: with the 1 of mobile numbers.
    (
        "recipient BETWEEN 5210000000000 AND 5219999999999 AND (recipient / 1000000000) % 10 >= 2",
        "520000000000 + recipient % 10000000000",
    ),
    // Argentina: without the 9 of mobile numbers.
    ("recipient BETWEEN 541000000000 AND 543999999999", "5490000000000 + recipient % 10000000000"),
    // Ivory Coast: a mobile number of eight digits, whose second digit gives the prefix.
    (
        "recipient BETWEEN 22500000000 AND 22599999999 AND (recipient / 10000000) % 10 NOT IN (2, 3)",
        "2250000000000 + (CASE WHEN (recipient / 1000000) % 10 <= 3 THEN 1 WHEN (recipient / 1000000) % 10 <= 6 THEN 5 \
         ELSE 7 END) * 100000000 + recipient % 100000000",
    ),
];

/// The suppressions stay under the numbers of people: the program before reads them as it reads any number.
const DOWN: &[&str] = &[
    "DROP TABLE person_statement",
    "DROP TABLE person_user",
    "DROP TABLE person_number",
    "ALTER TABLE suppression DROP COLUMN source",
];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, UP).await?;
        for (is_other_form, person) in FORMS {
            // Of two statements about one person the latest counts. A hold, which is no statement, gives way.
            let merge = format!(
                "INSERT INTO suppression (company_id, recipient, scope, until, provider_code, created_at, said_at, source) \
                 SELECT company_id, {person}, scope, until, provider_code, created_at, said_at, source \
                 FROM suppression WHERE {is_other_form} \
                 ON CONFLICT (company_id, recipient, scope) DO UPDATE SET until = excluded.until, \
                 provider_code = excluded.provider_code, created_at = excluded.created_at, \
                 said_at = excluded.said_at, source = excluded.source \
                 WHERE suppression.said_at < excluded.said_at"
            );
            let leave = format!("DELETE FROM suppression WHERE {is_other_form}");
            crate::run(manager, &[&merge, &leave]).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, DOWN).await
    }
}
