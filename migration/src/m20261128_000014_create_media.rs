//! The files that companies keep. Their content is in the store of files, under company and digest.

pub(crate) const UP: &[&str] = &[
    // `state`: 0 arriving, 1 kept, 2 removed by a person or by its age, 3 whose content is being deleted. `digest`: SHA-256 of
    // the content. `thumbnail`: a small JPEG of a picture. `used_at`: the hour of the last send with it.
    // `removed_at`: null also for a removed file that an unfinished send needs.
    "CREATE TABLE media_file (
        id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL REFERENCES company (id),
        state {small} NOT NULL,
        digest {bytes} NOT NULL,
        kind TEXT NOT NULL,
        mime_type TEXT NOT NULL,
        bytes {int} NOT NULL,
        name TEXT NOT NULL,
        thumbnail {bytes},
        uploaded_by TEXT NOT NULL,
        created_at {int} NOT NULL,
        used_at {int},
        removed_at {int}
    ) {strict}",
    "CREATE UNIQUE INDEX media_file_content ON media_file (company_id, digest)",
    "CREATE INDEX media_file_by_company ON media_file (company_id, id)",
    "CREATE INDEX media_file_leaving ON media_file (id) WHERE state <> 1",
];

pub(crate) const DOWN: &[&str] = &["DROP TABLE media_file"];
