//! Endpoints that get Meta's webhooks, and those that programs set at the door that speaks Graph.

pub(crate) const UP: &[&str] = &[
    "ALTER TABLE webhook_endpoint ADD COLUMN profile TEXT NOT NULL DEFAULT 'meta'",
    // For what a program set it: a number, an account or all channels; null for one that a person added.
    "ALTER TABLE webhook_endpoint ADD COLUMN set_for TEXT",
    "CREATE UNIQUE INDEX webhook_endpoint_set ON webhook_endpoint (company_id, set_for) WHERE set_for IS NOT NULL",
];

pub(crate) const DOWN: &[&str] = &[
    "DROP INDEX webhook_endpoint_set",
    "ALTER TABLE webhook_endpoint DROP COLUMN set_for",
    "ALTER TABLE webhook_endpoint DROP COLUMN profile",
    "DELETE FROM webhook_endpoint WHERE shape <> 'pombo'",
];
