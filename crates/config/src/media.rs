//! `[media]`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ipnet::IpNet;
use serde::Deserialize;

use super::validate::Found;
use super::{Config, units};
use domain::media::Kind;
use domain::secret::Secret;
use domain::time_span;

/// `[media]`: the files that companies keep, and fetching the files behind links for web sessions.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Media {
    /// The directory of the files; `None` means `media` in the data directory. With a bucket, files are here while they
    /// arrive.
    #[serde(deserialize_with = "units::optional_path")]
    pub directory: Option<PathBuf>,
    /// The bucket that keeps the files instead of the directory; empty for none.
    pub s3_bucket: String,
    /// The address of the bucket's service; empty for Amazon's.
    pub s3_endpoint: String,
    /// The region of the bucket.
    pub s3_region: String,
    /// The id of the key for the bucket.
    pub s3_access_key: String,
    /// The key for the bucket.
    #[serde(deserialize_with = "units::optional_secret")]
    pub s3_secret_key: Option<Secret>,
    /// The most bytes that a company keeps.
    #[serde(deserialize_with = "units::bytes")]
    pub company_max_bytes: usize,
    /// The most files that a company keeps.
    pub company_max_files: u32,
    /// How long a file is kept after its upload and its last use; `None` means without end.
    #[serde(deserialize_with = "units::age")]
    pub keep: Option<Duration>,
    /// How long a file that a person sent is kept; zero fetches none.
    #[serde(with = "time_span")]
    pub incoming_keep: Duration,
    /// The most bytes of people's files that a company keeps.
    #[serde(deserialize_with = "units::bytes")]
    pub incoming_max_bytes: usize,
    /// The types, by their content, of people's files that are not kept.
    #[serde(deserialize_with = "units::texts")]
    pub incoming_refuse: Vec<String>,
    /// The command that looks at people's files, and its arguments; empty for none.
    #[serde(deserialize_with = "units::texts")]
    pub scanner: Vec<String>,
    /// How long it may take for a file.
    #[serde(with = "time_span")]
    pub scanner_timeout: Duration,
    /// Networks that are not public, but to which links may lead.
    #[serde(deserialize_with = "units::networks")]
    pub allow: Vec<IpNet>,
    /// Networks to which links may not lead, even if they are public or allowed.
    #[serde(deserialize_with = "units::networks")]
    pub refuse: Vec<IpNet>,
    /// The timeout of connecting, including the resolution of the name.
    #[serde(with = "time_span")]
    pub connect_timeout: Duration,
    /// The longest time without any data.
    #[serde(with = "time_span")]
    pub stall_timeout: Duration,
    /// The timeout from the link to the last byte of the file, including redirects.
    #[serde(with = "time_span")]
    pub timeout: Duration,
    /// The largest image, in bytes.
    #[serde(deserialize_with = "units::bytes")]
    pub image_limit: usize,
    /// The largest video, in bytes.
    #[serde(deserialize_with = "units::bytes")]
    pub video_limit: usize,
    /// The largest audio, in bytes.
    #[serde(deserialize_with = "units::bytes")]
    pub audio_limit: usize,
    /// The largest document, in bytes.
    #[serde(deserialize_with = "units::bytes")]
    pub document_limit: usize,
    /// Links that are fetched at once.
    pub concurrency: usize,
    /// All files that are being fetched or wait to be sent, in bytes.
    #[serde(deserialize_with = "units::bytes")]
    pub memory: usize,
}

impl Media {
    /// The directory of the files: as set, or `media` in `data_dir`.
    pub fn directory(&self, data_dir: &Path) -> PathBuf {
        self.directory.clone().unwrap_or_else(|| data_dir.join("media"))
    }

    /// The largest file of this kind, in bytes; a sticker is a small picture.
    pub const fn limit(&self, kind: Kind) -> usize {
        match kind {
            Kind::Image | Kind::Sticker => self.image_limit,
            Kind::Video => self.video_limit,
            Kind::Audio => self.audio_limit,
            Kind::Document => self.document_limit,
        }
    }

    fn limits(&self) -> [(&'static str, usize); 4] {
        [
            ("media.image_limit", self.image_limit),
            ("media.video_limit", self.video_limit),
            ("media.audio_limit", self.audio_limit),
            ("media.document_limit", self.document_limit),
        ]
    }
}

/// The shortest time for which unused files may be kept: a send may wait for its time for a while before it is written.
const MIN_KEEP: Duration = Duration::from_secs(24 * 60 * 60);

/// All faults of this section.
pub(super) fn faults(config: &Config, found: &mut Vec<Found>) {
    let media = &config.media;
    for (option, is_zero) in [
        ("media.concurrency", media.concurrency == 0),
        ("media.company_max_files", media.company_max_files == 0),
    ] {
        if is_zero {
            found.push((option, "0 is too few".to_owned(), "give at least 1".to_owned()));
        }
    }
    for (option, limit) in media.limits().into_iter().chain([
        ("media.company_max_bytes", media.company_max_bytes),
        ("media.incoming_max_bytes", media.incoming_max_bytes),
    ]) {
        if limit == 0 {
            found.push((
                option,
                "no file is so small".to_owned(),
                "give a size such as \"16MiB\"".to_owned(),
            ));
        }
    }
    for (option, span) in [
        ("media.connect_timeout", media.connect_timeout),
        ("media.stall_timeout", media.stall_timeout),
        ("media.timeout", media.timeout),
        ("media.scanner_timeout", media.scanner_timeout),
    ] {
        if span.is_zero() {
            found.push((option, "it cannot be zero".to_owned(), "give a span such as \"5s\"".to_owned()));
        }
    }
    for (option, limit) in media.limits().into_iter().filter(|(_, limit)| *limit > media.memory) {
        found.push((
            "media.memory",
            format!("{} bytes are less than {option}, {limit} bytes", media.memory),
            format!("raise it, or lower {option}"),
        ));
    }
    if let Some(age) = media.keep.filter(|age| *age < MIN_KEEP) {
        let problem = format!("{} is too short", humantime::format_duration(age));
        found.push(("media.keep", problem, "give at least \"1d\", or \"forever\"".to_owned()));
    }
    if media.scanner.first().is_some_and(String::is_empty) {
        let problem = "it names no program".to_owned();
        found.push(("media.scanner", problem, "give one such as [\"clamdscan\", \"--fdpass\"]".to_owned()));
    }
    bucket(media, found);
}

fn bucket(media: &Media, found: &mut Vec<Found>) {
    if media.s3_bucket.is_empty() {
        return;
    }
    for (option, is_missing) in [
        ("media.s3_region", media.s3_region.is_empty()),
        ("media.s3_access_key", media.s3_access_key.is_empty()),
        ("media.s3_secret_key", media.s3_secret_key.is_none()),
    ] {
        if is_missing {
            let problem = "it is missing, and media.s3_bucket is set".to_owned();
            found.push((option, problem, "set it, or leave media.s3_bucket empty".to_owned()));
        }
    }
    let endpoint = &media.s3_endpoint;
    if !endpoint.is_empty() && !endpoint.starts_with("https://") && !endpoint.starts_with("http://") {
        let problem = "it is not an http or https address".to_owned();
        found.push(("media.s3_endpoint", problem, "give one such as \"https://s3.example\"".to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The options at fault.
    fn at_fault(set: &[(&str, &str)]) -> Vec<String> {
        let set = set.iter().map(|(name, value)| (format!("POMBO__MEDIA__{name}"), (*value).to_owned()));
        let loaded = Config::load_from(None, set.collect::<Vec<_>>().into_iter());
        loaded.err().into_iter().flat_map(|faults| faults.0).filter_map(|fault| fault.option).collect()
    }

    #[test]
    fn a_bucket_needs_its_keys_and_files_are_kept_for_a_day_at_least() {
        assert_eq!(at_fault(&[("S3_BUCKET", "media")]), ["media.s3_access_key", "media.s3_secret_key"]);
        let whole = [
            ("S3_BUCKET", "media"),
            ("S3_ENDPOINT", "https://s3.example"),
            ("S3_ACCESS_KEY", "id"),
            ("S3_SECRET_KEY", "hush"),
        ];
        assert_eq!(at_fault(&whole), [""; 0]);
        assert_eq!(at_fault(&[&whole[..], &[("S3_ENDPOINT", "s3.example")]].concat()), ["media.s3_endpoint"]);
        assert_eq!(
            at_fault(&[("KEEP", "1h"), ("COMPANY_MAX_FILES", "0")]),
            ["media.company_max_files", "media.keep"]
        );
        assert_eq!(at_fault(&[("KEEP", "forever")]), [""; 0]);
        assert_eq!(at_fault(&[("SCANNER", ",--fdpass"), ("INCOMING_KEEP", "0s")]), ["media.scanner"]);
    }
}
