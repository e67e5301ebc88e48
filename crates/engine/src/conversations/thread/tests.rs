use super::*;

fn author(number: Option<&str>, user_id: Option<&str>) -> Option<MessageAuthor> {
    let text = |text: Option<&str>| text.map(str::to_owned);
    Some(MessageAuthor { number: text(number), user_id: text(user_id), name: None })
}

fn body(content: InboundContent, author: Option<MessageAuthor>) -> InboundBody {
    InboundBody { author, ..InboundBody::of(content) }
}

/// What is shown of a text, after these edits by these authors.
fn shown(writer: Option<MessageAuthor>, edits: Vec<(Option<MessageAuthor>, &str)>) -> String {
    let mut changes = MessageChanges::default();
    for (author, text) in edits {
        let change = StoredMessage {
            id: Uuid::nil(),
            provider_id: "edit".to_owned(),
            direction: Direction::In,
            kind: "edit".to_owned(),
            at: Timestamp::from_millis(2),
            content: Vec::new(),
        };
        let content = InboundContent::Edit { message_id: "written".to_owned(), text: Some(text.to_owned()) };
        changes.add(&change, true, Some(body(content, author)));
    }
    let mut entry = ThreadEntry::Written(Box::new(WrittenEntry {
        id: Uuid::nil(),
        provider_id: "written".to_owned(),
        direction: Direction::In,
        kind: "text".to_owned(),
        at: Timestamp::from_millis(1),
        body: Some(body(InboundContent::Text { body: "first".to_owned() }, writer)),
        edited_at: None,
        deleted_at: None,
        reactions: Vec::new(),
    }));
    entry.apply(&mut HashMap::from([("written".to_owned(), vec![(Direction::In, changes)])]));
    entry.body_mut().unwrap().1.content.line()
}

#[test]
fn in_a_group_nobody_changes_the_words_of_another() {
    let (ana, hidden) = (author(Some("+5511900000001"), Some("1@lid")), author(None, Some("1@lid")));
    let bea = author(Some("+5511900000002"), None);
    assert_eq!(shown(None, vec![(None, "second"), (None, "third")]), "third");
    assert_eq!(shown(ana.clone(), vec![(hidden, "second"), (bea.clone(), "I owe you")]), "second");
    assert_eq!(shown(ana, vec![(bea, "I owe you")]), "first");
}
