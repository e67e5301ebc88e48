//! Workbooks (xlsx) as a spreadsheet writes them, with the parts that a reader needs.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006/relationships";

/// A workbook of these sheets: their names, and their rows. A cell that is a number is one, `<…` is taken as it is, and any
/// other cell is a text.
pub(crate) fn workbook(sheets: &[(&str, &[&[&str]])]) -> Vec<u8> {
    let (mut names, mut places) = (String::new(), String::new());
    for (index, (name, _)) in (1..).zip(sheets) {
        let _ = write!(names, r#"<sheet name="{name}" sheetId="{index}" r:id="rId{index}"/>"#);
        let _ = write!(
            places,
            r#"<Relationship Id="rId{index}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{index}.xml"/>"#
        );
    }
    let root = format!(
        r#"<Relationships xmlns="{PACKAGE}"><Relationship Id="rId1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>"#
    );
    let book = format!(r#"<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{names}</sheets></workbook>"#);
    let places = format!(r#"<Relationships xmlns="{PACKAGE}">{places}</Relationships>"#);
    let mut parts = vec![
        ("_rels/.rels".to_owned(), root),
        ("xl/workbook.xml".to_owned(), book),
        ("xl/_rels/workbook.xml.rels".to_owned(), places),
    ];
    parts.extend(
        (1..).zip(sheets).map(|(index, (_, rows))| (format!("xl/worksheets/sheet{index}.xml"), sheet(rows))),
    );
    archive(&parts)
}

/// An archive of these parts.
pub(crate) fn archive(parts: &[(String, String)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        archive.start_file(name, SimpleFileOptions::default()).unwrap();
        archive.write_all(content.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn sheet(rows: &[&[&str]]) -> String {
    let mut written = String::new();
    for row in rows {
        written.push_str("<row>");
        for cell in *row {
            let _ = match *cell {
                raw if raw.starts_with('<') => write!(written, "{raw}"),
                "" => write!(written, "<c/>"),
                number if number.parse::<f64>().is_ok() => write!(written, "<c><v>{number}</v></c>"),
                text => write!(written, r#"<c t="inlineStr"><is><t>{text}</t></is></c>"#),
            };
        }
        written.push_str("</row>");
    }
    format!(r#"<worksheet xmlns="{MAIN}"><sheetData>{written}</sheetData></worksheet>"#)
}
