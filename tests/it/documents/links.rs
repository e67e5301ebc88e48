//! Links lead to files and headings that exist, and the book is whole.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::markdown::{Document, all, book, root};

/// The path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => assert!(normal.pop(), "{} leaves the repository", path.display()),
            Component::Normal(name) => normal.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    normal
}

/// Each link that stays in the repository: the document, the link, its file and its anchor.
fn inner(document: &Document) -> Vec<(String, PathBuf, Option<String>)> {
    let links =
        document.links().into_iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:"));
    links
        .map(|link| {
            let (path, anchor) = match link.split_once('#') {
                Some((path, anchor)) => (path, Some(anchor.to_owned())),
                None => (link.as_str(), None),
            };
            let directory = document.path.parent().unwrap();
            let file = if path.is_empty() { document.path.clone() } else { normal(&directory.join(path)) };
            (link.clone(), file, anchor)
        })
        .collect()
}

#[test]
fn every_link_inside_the_repository_leads_to_a_file_and_a_heading() {
    let mut seen = 0;
    let mut broken = Vec::new();
    for document in all() {
        for (link, file, anchor) in inner(&document) {
            seen += 1;
            let is_there = root().join(&file).exists();
            let has_heading =
                || anchor.as_ref().is_none_or(|anchor| Document::read(&file).anchors().contains(anchor));
            if !is_there || !has_heading() {
                broken.push(format!("{}: {link}", document.path.display()));
            }
        }
    }
    assert!(seen > 100, "the links are not found");
    assert!(broken.is_empty(), "these links lead nowhere:\n{}", broken.join("\n"));
}

#[test]
fn the_book_has_every_page_and_links_only_to_itself() {
    let listed: BTreeSet<_> = book().into_iter().map(|page| page.path).collect();
    for document in all().into_iter().filter(|document| document.path.starts_with("docs")) {
        let name = document.path.display();
        assert!(
            document.path.ends_with("SUMMARY.md") || listed.contains(&document.path),
            "{name} is not in SUMMARY.md"
        );
        for (link, file, _) in inner(&document) {
            assert!(file.starts_with("docs"), "{name}: {link} leads out of the book, where it is not found");
        }
    }
}

#[test]
fn every_page_begins_with_its_title() {
    for page in book() {
        let first = page.text.lines().find(|line| !line.is_empty() && !line.starts_with("<!--"));
        assert!(first.is_some_and(|line| line.starts_with("# ")), "{} has no title", page.path.display());
    }
}

#[test]
fn readme_and_architecture_stay_short() {
    for (path, most) in [("README.md", 160), ("ARCHITECTURE.md", 120)] {
        let lines = Document::read(Path::new(path)).text.lines().count();
        assert!(lines <= most, "{path} has {lines} lines, of at most {most}");
    }
}
