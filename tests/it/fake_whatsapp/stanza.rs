//! Helpers that read and write stanzas.

use std::time::{SystemTime, UNIX_EPOCH};

use whatsapp_rust::wacore_binary::builder::NodeBuilder;
use whatsapp_rust::wacore_binary::{Jid, Node, NodeContent};

/// The server's own address.
pub(super) const SERVER: &str = "s.whatsapp.net";

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// An attribute as text, empty if it is not there.
pub(super) fn attribute(node: &Node, name: &str) -> String {
    node.attrs.get(name).map(ToString::to_string).unwrap_or_default()
}

/// An attribute that is an address.
pub(super) fn address(node: &Node, name: &str) -> Option<Jid> {
    node.attrs.get(name).and_then(|value| value.to_jid())
}

/// All children, none if there are none.
pub(super) fn children(node: &Node) -> &[Node] {
    node.children().unwrap_or_default()
}

/// The content between the tags, texts as their bytes.
pub(super) fn content(node: &Node) -> Vec<u8> {
    match &node.content {
        Some(NodeContent::Bytes(bytes)) => bytes.clone(),
        Some(NodeContent::String(text)) => text.as_bytes().to_vec(),
        Some(NodeContent::Nodes(_)) | None => Vec::new(),
    }
}

/// The content of a child, if it exists.
pub(super) fn content_of(node: &Node, tag: &str) -> Option<Vec<u8>> {
    node.get_optional_child(tag).map(content)
}

/// A node with only bytes.
pub(super) fn bytes(tag: &'static str, bytes: impl Into<Vec<u8>>) -> Node {
    NodeBuilder::new(tag).bytes(bytes).build()
}

/// A node with only children.
pub(super) fn parent(tag: &'static str, children: impl IntoIterator<Item = Node>) -> Node {
    NodeBuilder::new(tag).children(children).build()
}

/// The answer to a query.
pub(super) fn result(query: &Node, children: impl IntoIterator<Item = Node>) -> Node {
    reply(query, "result").children(children).build()
}

/// The refusal of a query.
pub(super) fn error(query: &Node, code: u16, text: &str) -> Node {
    let error = NodeBuilder::new("error").attr("code", code.to_string()).attr("text", text).build();
    reply(query, "error").children([error]).build()
}

fn reply(query: &Node, kind: &'static str) -> NodeBuilder {
    let to = attribute(query, "to");
    let from = if to.is_empty() { SERVER.to_owned() } else { to };
    NodeBuilder::new("iq").attr("from", from).attr("id", attribute(query, "id")).attr("type", kind)
}

/// A query that the server itself makes.
pub(super) fn order(id: &str, child: Node) -> Node {
    let iq =
        NodeBuilder::new("iq").attr("from", SERVER).attr("id", id).attr("type", "set").attr("xmlns", "md");
    iq.children([child]).build()
}
