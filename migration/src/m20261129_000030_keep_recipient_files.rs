//! Files with the recipients of a new send, beside those of contacts.

pub(crate) const UP: &[&str] = &[
    // `purpose`: 0 for contacts, 1 for the recipients of a new send.
    "ALTER TABLE contact_import ADD COLUMN purpose {small} NOT NULL DEFAULT 0",
    // Which columns of such a file had the values of a template in the company's last send of it, in JSON. `template_id`: 0 for
    // messages that are no template.
    "CREATE TABLE recipient_mapping (
        company_id {uuid} NOT NULL REFERENCES company (id),
        template_id {int} NOT NULL,
        columns TEXT NOT NULL,
        PRIMARY KEY (company_id, template_id)
    ) {strict}",
];

pub(crate) const DOWN: &[&str] = &[
    "DROP TABLE recipient_mapping",
    "DELETE FROM contact_import_chunk WHERE import_id IN (SELECT id FROM contact_import WHERE purpose <> 0)",
    "DELETE FROM contact_import WHERE purpose <> 0",
    "ALTER TABLE contact_import DROP COLUMN purpose",
];
