//! The part of Markdown that the documents use.

use std::fs;
use std::path::{Path, PathBuf};

/// The beginning of the comment before a block of commands that no test runs; the reason follows.
const NOT_RUN: &str = "<!-- not run: ";

/// A file of the repository.
pub(super) struct Document {
    /// From the root of the repository.
    pub(super) path: PathBuf,
    pub(super) text: String,
}

/// A fenced block.
pub(super) struct Block {
    pub(super) language: String,
    pub(super) text: String,
    /// `PATH:LINE` of its first line.
    pub(super) place: String,
    /// Why no test runs it.
    pub(super) not_run: Option<String>,
}

pub(super) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Markdown file of the repository.
pub(super) fn all() -> Vec<Document> {
    let mut paths = Vec::new();
    find(root(), &mut paths);
    paths.sort();
    assert!(paths.len() > 15, "the documents are not found: {paths:?}");
    paths.into_iter().map(|path| Document::read(path.strip_prefix(root()).unwrap())).collect()
}

fn find(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            let is_foreign =
                name.starts_with('.') || ["target", "node_modules", "data"].contains(&name.as_str());
            if !is_foreign {
                find(&path, found);
            }
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

/// The pages of the book, in its order.
pub(super) fn book() -> Vec<Document> {
    let summary = Document::read(Path::new("docs/SUMMARY.md"));
    summary.links().into_iter().map(|link| Document::read(&Path::new("docs").join(link))).collect()
}

impl Document {
    pub(super) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(root().join(path))
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { path: path.to_owned(), text }
    }

    /// Its fenced blocks.
    pub(super) fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut open: Option<Block> = None;
        let mut before = "";
        for (index, line) in self.text.lines().enumerate() {
            match (line.strip_prefix("```"), &mut open) {
                (Some(_), Some(_)) => blocks.extend(open.take()),
                (Some(language), None) => {
                    let not_run = before.strip_prefix(NOT_RUN).and_then(|reason| reason.strip_suffix(" -->"));
                    open = Some(Block {
                        language: language.to_owned(),
                        text: String::new(),
                        place: format!("{}:{}", self.path.display(), index + 2),
                        not_run: not_run.map(str::to_owned),
                    });
                }
                (None, Some(block)) => {
                    block.text.push_str(line);
                    block.text.push('\n');
                }
                (None, None) => {}
            }
            before = line;
        }
        assert!(open.is_none(), "{}: a block has no end", self.path.display());
        blocks
    }

    /// Its lines outside of blocks.
    fn prose(&self) -> impl Iterator<Item = &str> {
        let mut inside = false;
        self.text.lines().filter(move |line| {
            let is_fence = line.starts_with("```");
            inside ^= is_fence;
            !inside && !is_fence
        })
    }

    /// The words in backquotes in its prose.
    pub(super) fn quoted(&self) -> impl Iterator<Item = &str> {
        self.prose().flat_map(|line| line.split('`').skip(1).step_by(2))
    }

    /// The targets of its links and pictures.
    pub(super) fn links(&self) -> Vec<String> {
        let mut links = Vec::new();
        for line in self.prose() {
            let plain: String = line.split('`').step_by(2).collect();
            for (start, _) in plain.match_indices("](") {
                let rest = &plain[start + 2..];
                let end = rest.find(')').unwrap_or_else(|| panic!("{}: {line}", self.path.display()));
                links.push(rest[..end].to_owned());
            }
        }
        links
    }

    /// The anchors of its headings, made as GitHub and mdBook make them.
    pub(super) fn anchors(&self) -> Vec<String> {
        let mut anchors: Vec<String> = Vec::new();
        for heading in self.prose().filter(|line| line.starts_with('#')) {
            let text = heading.trim_start_matches('#').trim().to_lowercase();
            let kept = text.chars().filter(|one| one.is_alphanumeric() || [' ', '-', '_'].contains(one));
            let slug: String = kept.map(|one| if one == ' ' { '-' } else { one }).collect();
            let earlier = anchors.iter().filter(|anchor| **anchor == slug).count();
            anchors.push(if earlier == 0 { slug } else { format!("{slug}-{earlier}") });
        }
        anchors
    }
}
