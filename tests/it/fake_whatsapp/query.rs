//! A client's queries to the server, and the answers.

use std::sync::Arc;

use whatsapp_rust::wacore_binary::builder::NodeBuilder;
use whatsapp_rust::wacore_binary::{Jid, Node, Server as Domain};

use super::companion::{UploadedKeys, digits};
use super::connection::{Client, conflict};
use super::server::Server;
use super::stanza::{address, attribute, children, error, now, parent, result};
use super::world::{DeviceName, Person, World};
use super::{delivery, pairing, passkey};

/// The token for uploads.
pub(super) const MEDIA_TOKEN: &str = "TOKEN";

/// Answers a query, or takes the answer to one of the server's own.
pub(super) fn answer(server: &Arc<Server>, client: &Client, query: &Node) {
    let nothing = NodeBuilder::new("nothing").build();
    let child = children(query).first().unwrap_or(&nothing);
    let (kind, namespace) = (attribute(query, "type"), attribute(query, "xmlns"));
    server.change(|world| world.queries.push(format!("{kind} {namespace} {}", child.tag)));
    if namespace == "usync" {
        server.change(|world| world.looked_up.extend(numbers_of(child)));
    }
    if kind == "result" || kind == "error" {
        pairing::conclude(server, &client.line, query);
        return;
    }
    if (namespace.as_str(), child.tag.as_ref()) == ("md", "link_code_companion_reg") {
        client.line.say(pairing::answer_code(server, &client.line, query, child));
        return;
    }
    if namespace == "md"
        && let Some(said) = passkey::answer(server, &client.line, query, child)
    {
        client.line.say(said);
        return;
    }
    let Some(name) = &client.name else {
        client.line.say(error(query, 401, "not-authorized"));
        return;
    };
    let said = match (namespace.as_str(), child.tag.as_ref()) {
        ("encrypt", "registration") => upload_keys(server, name, query),
        ("encrypt", _) => server.change(|world| about_keys(world, name, query, child)),
        ("w:m", _) => result(query, [media_connection(&server.media_host)]),
        ("w:profile:picture", _) => {
            server.look(|world| result(query, picture(world, query, &server.media_host)))
        }
        (namespace, _) => server.look(|world| about_others(world, name, query, namespace, child)),
    };
    client.line.say(said);
    match (namespace.as_str(), child.tag.as_ref()) {
        ("passive", "active") => {
            server.change(|world| world.companion(name).map(super::companion::Companion::wake));
        }
        ("md", "remove-companion-device") => {
            server.change(|world| world.account(&name.number).devices.remove(&name.device));
            client.line.say(conflict("device_removed"));
            client.line.hang_up();
        }
        _ => {}
    }
}

fn about_others(world: &World, name: &DeviceName, query: &Node, namespace: &str, child: &Node) -> Node {
    match namespace {
        "usync" => result(query, [synchronisation(world, child)]),
        "w:g2" => match group(world, name, query) {
            Some(group) => result(query, [group]),
            None => error(query, 404, "item-not-found"),
        },
        "w:sync:app:state" => {
            let collections = children(child).iter().map(|collection| {
                let collection = NodeBuilder::new("collection").attr("name", attribute(collection, "name"));
                collection.attr("version", "0").build()
            });
            result(query, [parent("sync", collections.collect::<Vec<_>>())])
        }
        "abt" => {
            let properties = NodeBuilder::new("props").attr("protocol", "1").attr("hash", "1");
            result(query, [properties.attr("refresh", "86400").build()])
        }
        "privacy" => result(query, [NodeBuilder::new("privacy").build()]),
        "blocklist" => result(query, [NodeBuilder::new("list").build()]),
        _ => result(query, []),
    }
}

/// Stores a device's keys. The first time, its phone shares with it the key of the account's settings.
fn upload_keys(server: &Arc<Server>, name: &DeviceName, query: &Node) -> Node {
    let uploads = server.change(|world| {
        let companion = world.companion(name)?;
        let keys = UploadedKeys::read(query, companion.keys.take());
        companion.keys = keys.filter(|keys| keys.are_of(&companion.identity));
        companion.uploads += 1;
        companion.keys.is_some().then_some(companion.uploads)
    });
    match uploads {
        None => error(query, 406, "not-acceptable"),
        Some(uploads) => {
            if uploads == 1 {
                delivery::share_settings_key(server, name);
            }
            result(query, [])
        }
    }
}

fn about_keys(world: &mut World, name: &DeviceName, query: &Node, child: &Node) -> Node {
    if child.tag == "key" {
        let asked = children(child).iter().filter_map(|user| address(user, "jid"));
        let bundles = asked.filter_map(|jid| Some(world.person(&jid)?.phone.bundle(&jid)));
        return result(query, [parent("list", bundles.collect::<Vec<_>>())]);
    }
    let keys = world.companion(name).and_then(|companion| companion.keys.as_mut());
    match (child.tag.as_ref(), keys) {
        ("count", keys) => {
            let count = keys.map_or(0, |keys| keys.count());
            result(query, [NodeBuilder::new("count").attr("value", count.to_string()).build()])
        }
        ("digest", Some(keys)) => result(query, [keys.digest()]),
        ("rotate", Some(keys)) => {
            keys.rotate(child);
            result(query, [])
        }
        _ => error(query, 404, "item-not-found"),
    }
}

fn media_connection(host: &str) -> Node {
    let host = NodeBuilder::new("host").attr("hostname", host).attr("type", "primary").build();
    NodeBuilder::new("media_conn")
        .attr("auth", MEDIA_TOKEN)
        .attr("ttl", "3600")
        .attr("auth_ttl", "21600")
        .attr("max_buckets", "12")
        .children([host])
        .build()
}

fn picture(world: &World, query: &Node, host: &str) -> Option<Node> {
    let person = world.person(&address(query, "target")?)?;
    let picture = NodeBuilder::new("picture").attr("id", "1").attr("type", "preview");
    Some(picture.attr("url", format!("https://{host}/pictures/{}", person.number)).build())
}

fn group(world: &World, name: &DeviceName, query: &Node) -> Option<Node> {
    let id = address(query, "to")?.user.to_string();
    let members =
        world.groups.get(&id)?.iter().filter(|number| **number != name.number).chain([&name.number]);
    let participants = members.filter_map(|number| world.person(&Jid::pn(number.as_str()))).map(|person| {
        let participant = NodeBuilder::new("participant").attr("jid", Jid::lid(person.lid.as_str()));
        participant.attr("phone_number", Jid::pn(person.number.as_str())).build()
    });
    let group = NodeBuilder::new("group")
        .attr("id", id)
        .attr("subject", "Amigos")
        .attr("s_t", now().to_string())
        .attr("creation", now().to_string())
        .attr("creator", Jid::pn(name.number.as_str()))
        .attr("addressing_mode", "lid");
    Some(group.children(participants.collect::<Vec<_>>()).build())
}

/// The numbers of a lookup.
fn numbers_of(request: &Node) -> Vec<String> {
    let listed = request.get_optional_child("list").map(children).unwrap_or_default();
    listed.iter().filter_map(|user| user.get_optional_child("contact").map(digits)).collect()
}

/// Answers a lookup of people by numbers and addresses.
fn synchronisation(world: &World, request: &Node) -> Node {
    let asked = request.get_optional_child("query").map(children).unwrap_or_default();
    let asks = |tag: &str| asked.iter().any(|protocol| protocol.tag == tag);
    let listed = request.get_optional_child("list").map(children).unwrap_or_default();
    let users = listed.iter().filter_map(|user| {
        let typed = user.get_optional_child("contact").map(digits).filter(|typed| !typed.is_empty());
        let jid = address(user, "jid");
        let person = match (&typed, &jid) {
            (Some(typed), _) => world.find(typed),
            (None, Some(jid)) => world.person(jid),
            (None, None) => return None,
        };
        let shown = match (person, jid) {
            (Some(person), Some(jid)) if jid.server == Domain::Lid => Jid::lid(person.lid.as_str()),
            (Some(person), _) => Jid::pn(person.number.as_str()),
            (None, Some(jid)) => jid,
            (None, None) => Jid::pn(typed.unwrap_or_default()),
        };
        let mut answers = Vec::new();
        if asks("contact") {
            let kind = if person.is_some() { "in" } else { "out" };
            answers.push(NodeBuilder::new("contact").attr("type", kind).build());
        }
        answers.extend(person.into_iter().flat_map(|person| about_person(person, asks)));
        Some(NodeBuilder::new("user").attr("jid", shown).children(answers).build())
    });
    let users = parent("list", users.collect::<Vec<_>>());
    parent("usync", [NodeBuilder::new("result").build(), users])
}

fn about_person(person: &Person, asks: impl Fn(&str) -> bool) -> Vec<Node> {
    let mut answers = Vec::new();
    if asks("lid") {
        answers.push(NodeBuilder::new("lid").attr("val", Jid::lid(person.lid.as_str())).build());
    }
    if asks("devices") {
        let phone = NodeBuilder::new("device").attr("id", "0").build();
        answers.push(parent("devices", [parent("device-list", [phone])]));
    }
    if asks("picture") {
        answers.push(NodeBuilder::new("picture").attr("id", "1").build());
    }
    answers
}
