use proptest::prelude::*;

use super::*;

fn cut(text: &str) -> (u8, Vec<(u64, String, Option<Broken>)>) {
    let mut records = Records::divided_by(None, text.as_bytes()).unwrap();
    let mut found = Vec::new();
    let mut buffer = Vec::new();
    while let Some(Found { line, broken }) = records.next(&mut buffer).unwrap() {
        found.push((line, String::from_utf8(std::mem::take(&mut buffer)).unwrap(), broken));
    }
    (records.delimiter(), found)
}

fn lines(text: &str) -> Vec<(u64, Option<Broken>)> {
    cut(text).1.into_iter().map(|(line, _, broken)| (line, broken)).collect()
}

#[test]
fn the_delimiter_is_learnt_from_the_first_line() {
    for (text, wanted) in [
        ("a,b;c,d\n", b','),
        ("a;b;c\n1,5;2;3", b';'),
        ("a\tb\n", b'\t'),
        ("\"a;b;c\",d\n", b','),
        ("phone_number\n", b','),
        ("", b','),
        ("a|b|c\n1|2|3\n", b'|'),
        ("Nome;Telefone (com DDD, sem zero)\nTie A;5511900002301\n", b';'),
        ("Nome;Telefone (com DDD, sem zero)\n", b';'),
        ("Last name, first name;Phone\nSouza, Ana;1\n", b';'),
        ("Customers, 2026\nNome;Telefone\nAna;1\nBob;2\n", b';'),
        ("Customers;;\nNome;Telefone;Tags\nAna;1;a,b\n", b';'),
        ("Telefone\n1; Ana\n2; Bob\n", b','),
        ("a,b,c\n1,2\n3\n", b','),
        ("a,b\n\"\n;\",\n", b','),
        ("a,b\n,\"\n\",;\n", b','),
        ("a,b\n5\" pipe,1\n\"6\"\" pipe\",2\n", b','),
        ("a,b\n\"never closed,1\nx;y,2\n", b','),
        ("sep=;\r\na,b\n", b';'),
        ("sep=\t\r\na,b\n", b'\t'),
    ] {
        assert_eq!(cut(text).0, wanted, "{text:?}");
    }
    assert_eq!(lines("sep=;\r\na;b\n"), [(2, None)]);
}

#[test]
fn a_quoted_field_may_span_lines_and_lines_are_counted() {
    let text = "a,b\r\n\r\n\"1\n2\n3\",x\n,\"say \"\"hi\"\"\"\n\nlast";
    assert_eq!(lines(text), [(1, None), (3, None), (6, None), (8, None)]);
    assert_eq!(cut(text).1[1].1, "\"1\n2\n3\",x\n");
}

#[test]
fn every_kind_of_line_end_ends_a_line() {
    assert_eq!(lines("a,b\n1,2\n3,4"), [(1, None), (2, None), (3, None)]);
    assert_eq!(lines("a,b\r\n1,2\r\n3,4\r\n"), [(1, None), (2, None), (3, None)]);
    assert_eq!(lines("a,b\r1,2\r3,4\r"), [(1, None), (2, None), (3, None)]);
}

#[test]
fn a_stray_quote_breaks_its_own_line_only() {
    use Broken::Stray;
    let text = "a,b\n5\" pipe,1\n\"x\"y,1\nok,2\n\"x\" y,3\n";
    assert_eq!(lines(text), [(1, None), (2, Some(Stray)), (3, Some(Stray)), (4, None), (5, Some(Stray))]);
}

#[test]
fn a_quote_that_is_never_closed_breaks_its_own_line_only() {
    use Broken::Unclosed;
    assert_eq!(lines("a,b\n\"x,1\nok,2\nok,3\n"), [(1, None), (2, Some(Unclosed)), (3, None), (4, None)]);
    assert_eq!(lines("a,b\n\"x,1\n\"ok\",2\n"), [(1, None), (2, Some(Unclosed)), (3, None)]);
    let far = format!("a,b\n\"x,1\n{}", "ok,2\n".repeat(2 * MAX_LINES));
    let found = lines(&far);
    assert_eq!(found.len(), 2 + 2 * MAX_LINES);
    assert!(found.iter().all(|(line, broken)| broken.is_some() == (*line == 2)));
    assert!(found.iter().map(|(line, _)| line).is_sorted());
}

#[test]
fn spaces_around_a_quoted_field_are_dropped_and_those_inside_a_field_stay() {
    let text = "\"a\", \"b\"\n\"x, y\" , \" z \"\n  \"say \"\"hi\"\" \",  plain \n";
    let (_, found) = cut(text);
    let records: Vec<_> = found.iter().map(|(_, record, broken)| (record.as_str(), *broken)).collect();
    assert_eq!(
        records,
        [("\"a\",\"b\"\n", None), ("\"x, y\",\" z \"\n", None), ("\"say \"\"hi\"\" \",  plain \n", None),]
    );
}

#[test]
fn spaces_behind_the_last_field_leave_its_line_end() {
    for (text, records) in [
        ("\"x\" \r\n\"y\"", &["\"x\"\r\n", "\"y\""][..]),
        ("\"x\" \n", &["\"x\"\n"]),
        ("\"x\"  \r\"y\" \r", &["\"x\"\r", "\"y\"\r"]),
        ("\"x\" \n\"y\"  ", &["\"x\"\n", "\"y\""]),
        ("\"a\nb\" \n \"y\" \r\nz", &["\"a\nb\"\n", "\"y\"\r\n", "z"]),
        ("\"a\" \t \"b\" \n\"c\" \t\"d\" \n", &["\"a\"\t\"b\"\n", "\"c\"\t\"d\"\n"]),
    ] {
        let (_, found) = cut(text);
        let wanted: Vec<_> = records.iter().map(|record| (*record, None)).collect();
        let found: Vec<_> = found.iter().map(|(_, record, broken)| (record.as_str(), *broken)).collect();
        assert_eq!(found, wanted, "{text:?}");
    }
    // A tab that separates no fields is no space: the line is broken, and no other one.
    let stray = Some(Broken::Stray);
    let text = "a,b\n\"x\",\"y\"\t\n\"x\"\t,\"y\"\nok,2\n";
    assert_eq!(lines(text), [(1, None), (2, stray), (3, stray), (4, None)]);
}

#[test]
fn a_line_of_byte_order_marks_is_blank() {
    assert_eq!(lines("a,b\n\u{feff}\n1,2\n\u{feff}\u{feff}"), [(1, None), (3, None)]);
}

#[test]
fn an_endless_line_is_skipped_in_bounded_memory() {
    let text = format!("a,b\n{}\nok,1\n", "x".repeat(3 * MAX_RECORD));
    let (_, found) = cut(&text);
    assert_eq!(lines(&text), [(1, None), (2, Some(Broken::TooLong)), (3, None)]);
    assert_eq!(found[1].1.len(), MAX_RECORD);
}

proptest! {
    #[test]
    fn records_of_the_csv_crate_are_cut_as_they_were_written(
        rows in prop::collection::vec(prop::collection::vec("[a-z\",;\n\r ]{0,6}", 2..4), 1..8),
    ) {
        let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
        writer.write_record(["head", "er"]).unwrap();
        for row in &rows {
            writer.write_record(row).unwrap();
        }
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        let (_, found) = cut(&text);
        prop_assert_eq!(found.len(), rows.len() + 1);
        for ((_, record, broken), row) in found[1..].iter().zip(&rows) {
            prop_assert_eq!(broken, &None);
            let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(record.as_bytes());
            let fields = reader.records().next().unwrap().unwrap();
            prop_assert_eq!(fields.iter().collect::<Vec<_>>(), row.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }

    #[test]
    fn spaces_around_quoted_fields_change_no_record(
        rows in prop::collection::vec((prop::collection::vec("[a-z\",\n ]{0,4}", 2), " {0,2}", " {0,2}"), 1..6),
        end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
    ) {
        let mut text = format!("head,er{end}");
        for (fields, before, behind) in &rows {
            let quoted = |field: &String| format!("{before}\"{}\"{behind}", field.replace('"', "\"\""));
            text.push_str(&fields.iter().map(quoted).collect::<Vec<_>>().join(","));
            text.push_str(end);
        }
        let (_, found) = cut(&text);
        prop_assert_eq!(found.len(), rows.len() + 1);
        prop_assert!(found.iter().all(|(.., broken)| broken.is_none()));
        // An import divides the text of many records at once.
        let together: String = found[1..].iter().map(|(_, record, _)| record.as_str()).collect();
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(together.as_bytes());
        let read: Vec<Vec<String>> =
            reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect();
        prop_assert_eq!(read, rows.iter().map(|(fields, ..)| fields.clone()).collect::<Vec<_>>());
    }

    #[test]
    fn nothing_is_lost_or_read_twice(text in "[a,\"\n]{0,60}") {
        let (_, found) = cut(&text);
        let again: String = found.iter().map(|(_, record, _)| record.as_str()).collect();
        let kept: String = text.split_inclusive('\n').filter(|line| *line != "\n").collect();
        // Blank lines inside quotes are kept, those between records are not.
        prop_assert_eq!(again.replace('\n', ""), kept.replace('\n', ""));
        prop_assert!(found.iter().map(|(line, ..)| line).is_sorted());
    }
}

proptest! {
    #[test]
    fn reading_goes_on_at_any_position_as_if_it_had_never_ended(text in "(a|b|,|\"|\n|\r\n|\r|é){0,60}") {
        let all = cut(&text).1;
        let mut records = Records::divided_by(None, text.as_bytes()).unwrap();
        let mut buffer = Vec::new();
        let mut positions = Vec::new();
        while records.next(&mut buffer).unwrap().is_some() {
            positions.push(records.position());
        }
        for (read, position) in positions.into_iter().enumerate() {
            let mut records = Records::divided_by(None, text.as_bytes()).unwrap();
            prop_assert_eq!(records.pass_to(position).unwrap(), Some(read as u64 + 1));
            let mut rest = Vec::new();
            let mut buffer = Vec::new();
            while let Some(Found { line, broken }) = records.next(&mut buffer).unwrap() {
                rest.push((line, String::from_utf8(std::mem::take(&mut buffer)).unwrap(), broken));
            }
            prop_assert_eq!(&rest[..], &all[read + 1..]);
        }
    }
}
