//! Parses bodies of `multipart/form-data`, with the features that uploads need.

use actix_web::web::Bytes;

/// One field of a form.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) name: String,
    /// The type of a file.
    pub(super) content_type: Option<String>,
    pub(super) bytes: Bytes,
}

/// The fields of a body with this `Content-Type`; `None` when it is no such body.
pub(super) fn parts(content_type: &str, body: &Bytes) -> Option<Vec<Part>> {
    let (kind, parameters) = content_type.split_once(';')?;
    if !kind.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let delimiter = format!("\r\n--{}", parameter(parameters, "boundary")?);
    let delimiter = delimiter.as_bytes();
    // The first delimiter may be the first line.
    let mut at = find(body, &delimiter[2..], 0)? + delimiter.len() - 2;
    let mut parts = Vec::new();
    loop {
        let rest = &body[at..];
        if rest.starts_with(b"--") {
            return Some(parts);
        }
        let head = at + rest.starts_with(b"\r\n").then_some(2)?;
        let head_end = find(body, b"\r\n\r\n", head)?;
        let end = find(body, delimiter, head_end + 4)?;
        parts.push(part(std::str::from_utf8(&body[head..head_end]).ok()?, body.slice(head_end + 4..end))?);
        at = end + delimiter.len();
    }
}

fn part(head: &str, bytes: Bytes) -> Option<Part> {
    let header = |wanted: &str| {
        let mut lines = head.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(name, _)| name.trim().eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim())
    };
    let (_, parameters) = header("content-disposition")?.split_once(';')?;
    Some(Part {
        name: parameter(parameters, "name")?.to_owned(),
        content_type: header("content-type").map(str::to_owned),
        bytes,
    })
}

/// `name=value` or `name="value"` among parameters that are separated by semicolons.
fn parameter<'a>(parameters: &'a str, wanted: &str) -> Option<&'a str> {
    let mut pairs = parameters.split(';').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(name, _)| name.trim().eq_ignore_ascii_case(wanted))?;
    Some(value.trim().trim_matches('"'))
}

fn find(body: &[u8], wanted: &[u8], from: usize) -> Option<usize> {
    let rest = body.get(from..)?;
    rest.windows(wanted.len()).position(|window| window == wanted).map(|at| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_files_are_told_apart() {
        let body = "--xY\r\nContent-Disposition: form-data; name=\"type\"\r\n\r\nimage/png\r\n--xY\r\n\
                    content-disposition: form-data; filename=\"a.png\"; name=\"file\"\r\nContent-Type: image/png\r\n\r\n\
                    \r\n\x01--x\r\n--xY--\r\n";
        let found = parts("multipart/form-data; boundary=\"xY\"", &Bytes::from(body)).unwrap();
        let part = |name: &str, kind: Option<&str>, bytes: &'static str| Part {
            name: name.to_owned(),
            content_type: kind.map(str::to_owned),
            bytes: Bytes::from(bytes),
        };
        let expected = [part("type", None, "image/png"), part("file", Some("image/png"), "\r\n\x01--x")];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_body_that_is_not_a_form_is_none() {
        for (kind, body) in [
            ("application/json", "{}"),
            ("multipart/form-data", "--x--"),
            ("multipart/form-data; boundary=x", ""),
            ("multipart/form-data; boundary=x", "--x\r\n"),
            ("multipart/form-data; boundary=x", "--x\r\n\r\n\r\n--x"),
            ("multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data\r\n\r\na\r\n--x--"),
        ] {
            assert_eq!(parts(kind, &Bytes::from(body)), None, "{kind} {body}");
        }
    }
}
