use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

const ROOT: &str = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#;
const NAMES: &str = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet2.xml"/></Relationships>"#;
const BOOK: &str = r#"<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Notes" sheetId="1" state="hidden" r:id="rId1"/><sheet name="Clientes &amp; leads" sheetId="2" r:id="rId2"/></sheets></workbook>"#;
const STYLES: &str = r#"<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><cellXfs count="3"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/></cellXfs></styleSheet>"#;
const TEXTS: &str = r#"<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" count="2" uniqueCount="2"><si><t>Name</t></si><si><r><t>Jo</t></r><r><t>ão</t></r></si></sst>"#;

/// A workbook of these parts.
fn archive(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap();
        archive.write_all(content.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn sheet(rows: &str) -> String {
    format!(
        r#"<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{rows}</sheetData></worksheet>"#
    )
}

/// A workbook whose visible sheet has these rows.
fn workbook(rows: &str) -> Vec<u8> {
    workbook_with(rows, TEXTS, &[])
}

/// A workbook whose visible sheet has these rows, with the texts that its cells share and further parts.
fn workbook_with(rows: &str, texts: &str, further: &[(&str, &str)]) -> Vec<u8> {
    let (hidden, visible) = (sheet("<row><c><v>1</v></c></row>"), sheet(rows));
    let mut parts = vec![
        ("_rels/.rels", ROOT),
        ("xl/workbook.xml", BOOK),
        ("xl/_rels/workbook.xml.rels", NAMES),
        ("xl/styles.xml", STYLES),
        ("xl/sharedStrings.xml", texts),
        ("xl/worksheets/sheet1.xml", hidden.as_str()),
        ("xl/worksheets/sheet2.xml", visible.as_str()),
    ];
    parts.extend_from_slice(further);
    archive(&parts)
}

/// A workbook of these rows, whose cells may share one text of so many bytes.
fn workbook_of_one_text(rows: &str, length: usize) -> Vec<u8> {
    workbook_with(rows, &format!("<sst><si><t>{}</t></si></sst>", "a".repeat(length)), &[])
}

fn csv_of(file: &[u8], most: u64) -> std::result::Result<String, Other> {
    let mut out = Vec::new();
    match sheet_csv(Cursor::new(file), most, &mut out) {
        Ok(sheet) => {
            assert_eq!(sheet, SourceSheet { name: "Clientes & leads".to_owned(), of: 2 });
            Ok(String::from_utf8(out).unwrap())
        }
        Err(Error::NotCsv(other)) => Err(other),
        Err(other) => panic!("{other}"),
    }
}

fn csv(rows: &str) -> String {
    csv_of(&workbook(rows), u64::MAX).unwrap()
}

#[test]
fn the_first_visible_sheet_becomes_csv_whose_lines_are_its_rows() {
    let rows = r#"<row r="2"><c r="A2" t="s"><v>0</v></c><c r="B2" t="inlineStr"><is><t>Phone; mobile</t></is></c></row>
        <row r="4"><c r="B4"><v>3.4612345678E10</v></c><c r="A4" t="s"><v>1</v></c><c r="XFD4" s="1"/></row>
        <row r="5"><c r="A5" t="str"><f>A4&amp;"x"</f><v>5" pipe</v></c><c r="C5" t="inlineStr"><is><t>two
lines</t></is></c></row>"#;
    assert_eq!(csv(rows), "\nName;\"Phone; mobile\"\n\nJoão;34612345678\n\"5\"\" pipe\";;two lines\n");
}

#[test]
fn cells_hold_what_a_spreadsheet_shows() {
    for (cell, shown) in [
        ("<c><v>5511988887777</v></c>", "5511988887777"),
        ("<c><v>5.511988887777E12</v></c>", "5511988887777"),
        ("<c><v>123456789012345</v></c>", "123456789012345"),
        ("<c><v>1234567890123456789</v></c>", "1.2345678901234568E+18"),
        ("<c><v>0.30000000000000004</v></c>", "0.3"),
        ("<c><v>-2.50</v></c>", "-2.5"),
        (r#"<c s="1"><v>45943</v></c>"#, "2025-10-13"),
        (r#"<c s="2"><v>45943.5</v></c>"#, "2025-10-13T12:00:00"),
        (r#"<c s="2"><v>0.75</v></c>"#, "18:00:00"),
        (r#"<c s="1"><v>5511988887777</v></c>"#, "5511988887777"),
        (r#"<c t="b"><v>1</v></c>"#, "TRUE"),
        (r#"<c t="d"><v>2026-01-02</v></c>"#, "2026-01-02"),
        (r#"<c><f>SUM(A1:A2)</f><v>7</v></c>"#, "7"),
    ] {
        assert_eq!(csv(&format!("<row>{cell}</row>")), format!("{shown}\n"), "{cell}");
    }
    // An error, a formula that was never calculated, and an empty cell hold nothing.
    for cell in [r#"<c t="e"><v>#N/A</v></c>"#, "<c><f>NOW()</f></c>", r#"<c r="A1" s="1"/>"#] {
        assert_eq!(csv(&format!("<row>{cell}</row>")), "", "{cell}");
    }
}

#[test]
fn a_million_empty_rows_are_read_and_a_row_after_the_last_one_is_refused() {
    let mut rows = String::new();
    (1..=ROWS).for_each(|row| {
        let _ = write!(rows, r#"<row r="{row}"/>"#);
    });
    assert_eq!(csv(&rows), "");
    let last = |row: u32| format!(r#"<row r="{row}"><c r="A{row}"><v>1</v></c></row>"#);
    assert_eq!(csv(&last(ROWS)).len(), ROWS as usize + 1);
    assert_eq!(csv_of(&workbook(&last(ROWS + 1)), u64::MAX), Err(Other::DamagedWorkbook));
    assert_eq!(csv_of(&workbook(&last(ROWS)), 1_000), Err(Other::LargeWorkbook));
    let backwards = format!("{}{}", last(3), last(2));
    assert_eq!(csv_of(&workbook(&backwards), u64::MAX), Err(Other::DamagedWorkbook));
}

#[test]
fn a_file_that_is_cut_or_is_something_else_is_refused_with_what_it_is() {
    let whole = workbook("<row><c><v>1</v></c></row>");
    for length in [4, 30, whole.len() / 2, whole.len() - 1] {
        assert_eq!(csv_of(&whole[..length], u64::MAX), Err(Other::DamagedWorkbook), "{length}");
    }
    for (parts, other) in [
        (&[("mimetype", "application/vnd.oasis"), ("content.xml", "<x/>")][..], Other::OpenDocument),
        (&[("Index/Document.iwa", "x")][..], Other::Numbers),
        (&[("_rels/.rels", ROOT), ("xl/workbook.bin", "x")][..], Other::BinaryWorkbook),
        (&[("people.csv", "phone\n1\n")][..], Other::Archive),
        (&[("_rels/.rels", ROOT), ("word/document.xml", "<x/>")][..], Other::Archive),
        (&[("_rels/.rels", ROOT), ("xl/workbook.xml", "<workbook")][..], Other::DamagedWorkbook),
        (
            &[
                ("_rels/.rels", ROOT),
                ("xl/_rels/workbook.xml.rels", NAMES),
                ("xl/workbook.xml", "<workbook><sheets></sheets></workbook>"),
            ][..],
            Other::NoSheet,
        ),
    ] {
        assert_eq!(csv_of(&archive(parts), u64::MAX), Err(other), "{parts:?}");
    }
}

#[test]
fn a_workbook_that_unpacks_to_too_much_is_refused_before_it_is_read() {
    let zeros = "0".repeat(33 * 1024 * 1024);
    let with =
        |image: &str| workbook_with("<row><c><v>1</v></c></row>", TEXTS, &[("xl/media/image1.png", image)]);
    assert_eq!(csv_of(&with(&zeros[..1_000]), u64::MAX).as_deref(), Ok("1\n"));
    let bomb = with(&zeros);
    assert!(bomb.len() < 1024 * 1024, "{} bytes", bomb.len());
    assert_eq!(csv_of(&bomb, u64::MAX), Err(Other::LargeWorkbook));
    // A part that is longer than the archive declares is damage, which is found where the declared length ends.
    let mut liar = bomb;
    let size = (zeros.len() as u32).to_le_bytes();
    let places: Vec<usize> = (0..liar.len() - 4).filter(|at| liar[*at..*at + 4] == size).collect();
    assert!(!places.is_empty());
    for at in places {
        liar[at..at + 4].copy_from_slice(&7_u32.to_le_bytes());
    }
    assert_eq!(csv_of(&liar, u64::MAX), Err(Other::DamagedWorkbook));
}

#[test]
fn a_cell_or_a_row_that_is_longer_than_any_of_a_spreadsheet_is_refused() {
    const CELL: &str = r#"<c t="s"><v>0</v></c>"#;
    let row = |cells: usize| format!("<row>{}</row>", CELL.repeat(cells));
    let refused = |rows: &str, length: usize| csv_of(&workbook_of_one_text(rows, length), u64::MAX).err();
    assert_eq!(refused(&row(1), LONGEST_CELL), None);
    assert_eq!(refused(&row(1), 200_000), Some(Other::LargeWorkbook));
    assert_eq!(refused(&row(16_384), 100 * 1024), Some(Other::LargeWorkbook));
    // Each cell may be as long, but not all of a row.
    let cells = LONGEST_ROW / LONGEST_CELL;
    assert_eq!(refused(&row(cells).repeat(2), LONGEST_CELL), None);
    assert_eq!(refused(&row(cells + 1), LONGEST_CELL), Some(Other::LargeWorkbook));
    assert_eq!(refused(&row(16_384), LONGEST_CELL), Some(Other::LargeWorkbook));
    // What is read counts, also where a cell takes the place of the one before.
    let again = format!("<row>{}</row>", r#"<c r="A1" t="s"><v>0</v></c>"#.repeat(6));
    let file = workbook_of_one_text(&again, 50_000);
    assert_eq!(csv_of(&file, 300_000).map(|csv| csv.len()), Ok(50_001));
    assert_eq!(csv_of(&file, 299_999), Err(Other::LargeWorkbook));
}

#[test]
fn a_workbook_with_far_too_many_texts_is_refused_whatever_it_declares() {
    // Neither half of them would be too many.
    let texts = format!("<sst uniqueCount=\"1\">{}</sst>", "<si/><x:si\n/>".repeat(2_000_001));
    let file = workbook_with("<row><c><v>1</v></c></row>", &texts, &[]);
    assert_eq!(csv_of(&file, u64::MAX), Err(Other::LargeWorkbook));
}

#[test]
fn a_workbook_that_declares_far_too_many_texts_is_refused_before_room_is_made_for_them() {
    let with = |texts: &str| {
        archive(&[
            ("_rels/.rels", ROOT),
            ("xl/workbook.xml", BOOK),
            ("xl/_rels/workbook.xml.rels", NAMES),
            ("xl/SharedStrings.xml", texts),
            ("xl/worksheets/sheet2.xml", &sheet("<row><c><v>1</v></c></row>")),
        ])
    };
    for declared in
        ["uniqueCount=\"99999999999\"", "uniqueCount = '4000001'", "count='1' uniqueCount=\n\"00004000001\""]
    {
        let texts = format!("<sst {declared}><si><t>a</t></si></sst>");
        assert_eq!(csv_of(&with(&texts), u64::MAX), Err(Other::LargeWorkbook), "{declared}");
    }
    let wide: String = "<sst uniqueCount='99999999'/>"
        .encode_utf16()
        .map(|unit| char::from(unit as u8))
        .flat_map(|letter| [letter, '\0'])
        .collect();
    assert_eq!(csv_of(&with(&wide), u64::MAX), Err(Other::DamagedWorkbook));
    assert_eq!(
        csv_of(&with("<sst uniqueCount=\"1\"><si><t>uniqueCounter 7</t></si></sst>"), u64::MAX).as_deref(),
        Ok("1\n")
    );
    let elsewhere = ROOT.replace("xl/workbook.xml", "xl/worksheets/sheet2.xml");
    let parts = [("_rels/.rels", elsewhere.as_str()), ("xl/worksheets/sheet2.xml", BOOK)];
    assert_eq!(csv_of(&archive(&parts), u64::MAX), Err(Other::DamagedWorkbook));
}
