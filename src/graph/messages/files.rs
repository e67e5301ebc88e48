//! Files that a message names by ids: they become links to the company's library.

use serde_json::{Map, Value};

use crate::domain::graph::media_of;
use crate::domain::link::file_link;
use crate::graph::refusal::DoorRefusal;

/// The objects of a message that have files.
const FILES: [&str; 5] = ["image", "video", "audio", "document", "sticker"];

/// The link of a file that is given by its `id` or its `link`.
pub(super) fn link(file: &Map<String, Value>) -> Result<Option<String>, DoorRefusal> {
    let text = |name: &str| {
        file.get(name).and_then(|value| match value {
            Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
    };
    match (text("id"), text("link")) {
        (Some(id), _) => media_of(&id).map(|id| Some(file_link(id))).ok_or_else(|| {
            let details =
                format!("there is no file with the id {}: upload it with POST /{{number}}/media", plain(&id));
            DoorRefusal::because(131_053, details)
        }),
        (None, link) => Ok(link),
    }
}

fn plain(id: &str) -> String {
    id.chars().filter(char::is_ascii_graphic).take(64).collect()
}

/// Puts links in the place of all ids of files in a value, such as those of a template's header.
pub(super) fn with_links(mut value: Value) -> Result<Value, DoorRefusal> {
    match &mut value {
        Value::Object(fields) => {
            for (name, inner) in fields.iter_mut() {
                match inner {
                    Value::Object(file) if FILES.contains(&name.as_str()) => {
                        if let Some(link) = link(file)? {
                            file.remove("id");
                            file.insert("link".to_owned(), Value::String(link));
                        }
                    }
                    inner => *inner = with_links(inner.take())?,
                }
            }
        }
        Value::Array(entries) => {
            for entry in entries {
                *entry = with_links(entry.take())?;
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::*;
    use crate::domain::graph::media_id;

    #[test]
    fn ids_of_files_become_links_wherever_they_are() {
        let own = Uuid::from_u128(u128::MAX / 3);
        let id = media_id(own);
        let given = json!([{"type": "header", "parameters": [{"type": "image", "image": {"id": id}}]},
            {"type": "body", "parameters": [{"type": "text", "text": "7"}]}]);
        let read = with_links(given).unwrap();
        assert_eq!(read[0]["parameters"][0]["image"], json!({"link": file_link(own)}));
        assert_eq!(read[1]["parameters"][0]["text"], "7");
        let linked = json!({"video": {"link": "https://a.example/b.mp4"}});
        assert_eq!(with_links(linked.clone()).unwrap(), linked);
        assert!(with_links(json!({"image": {"id": "123"}})).is_err(), "an id of somebody else");
    }
}
