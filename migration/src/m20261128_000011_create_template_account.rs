//! The business accounts whose templates were listed, whether they had any or not.

pub(crate) const UP: &[&str] = &[
    // The templates of the first list are not told as events: they are not new, only new here.
    "CREATE TABLE template_account (
        company_id {uuid} NOT NULL,
        waba_id TEXT NOT NULL,
        PRIMARY KEY (company_id, waba_id)
    ) {clustered}",
    "INSERT INTO template_account (company_id, waba_id) SELECT DISTINCT company_id, waba_id FROM template",
];

pub(crate) const DOWN: &[&str] = &["DROP TABLE template_account"];
