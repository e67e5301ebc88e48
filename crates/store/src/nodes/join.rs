//! A node joins: only one that can work with the nodes that serve, so that a node with a wrong configuration does no
//! harm.

use std::time::Duration;

use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, FromQueryResult, Statement};
use uuid::Uuid;

use super::{NOW, millis};
use crate::nouns::Nodes;
use crate::one_row::insert_row;
use crate::sealing_keys::KeyProof;
use crate::{Error, Lease, Options, Result, Transaction, execute, fetch, fetch_one};

/// The version of the rules between nodes that this program follows. It rises when the rows, notes or messages of
/// nodes change in a way that a node of the former version misunderstands. The oldest version rises with it when this
/// program cannot work with nodes of the former one.
pub const PROTOCOL: Protocol = Protocol { newest: 2, oldest: 2 };

/// The versions of the rules between nodes that a program follows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Protocol {
    /// The newest one.
    pub newest: i64,
    /// The oldest one.
    pub oldest: i64,
}

impl Protocol {
    /// Whether nodes of both programs may serve at the same time.
    pub const fn works_with(self, other: Self) -> bool {
        self.oldest <= other.newest && other.oldest <= self.newest
    }
}

/// A process's description of itself when it joins.
#[derive(Debug, Clone, Copy, Default)]
pub struct NewNode<'a> {
    /// The cluster that it joins.
    pub cluster: &'a str,
    /// Its name, for people.
    pub name: &'a str,
    /// Whether it was given this name, which no other node may have then.
    pub is_named: bool,
    /// Its address.
    pub address: &'a str,
    /// The version of the program.
    pub version: &'a str,
    /// The rules between nodes that the program follows.
    pub protocol: Protocol,
    /// How much of the work it takes.
    pub cores: u32,
    /// The address of the provider; empty when it does not matter.
    pub provider: &'a str,
    /// The key that it seals with; `None` when it seals nothing.
    pub key: Option<&'a KeyProof>,
    /// The ids of its sealing keys: that of `key`, and of those that only open values.
    pub key_ids: &'a [String],
    /// How far its clock is ahead of the database's, in milliseconds.
    pub clock_ahead: Option<i64>,
}

/// A node that serves, as one that joins sees it.
#[derive(Debug, Clone, Default, FromQueryResult)]
struct Serving {
    cluster: String,
    name: String,
    address: String,
    version: String,
    protocol: i64,
    protocol_from: i64,
    provider: String,
    sealing_keys: String,
    lacks_key: i16,
}

impl Nodes<'_> {
    /// Joins the cluster with a lease that lasts this long, as a new node, and adds its key to those of the database.
    ///
    /// # Errors
    ///
    /// [`Error::Taken`] while a process outside of a cluster dispatches, while the database belongs to a cluster of
    /// another name, or while another node has the name. [`Error::Schema`] when this node cannot work with those that
    /// serve, until somebody changes one of them.
    pub async fn join(self, options: &Options, new: &NewNode<'_>, lasts: Duration) -> Result<Lease> {
        let (id, name) = (Uuid::now_v7(), new.is_named.then_some(new.name));
        let lease = self.store.lease().share(options, id, new.cluster, name).await?;
        let transaction = self.store.begin().await?;
        // Nodes that join at the same moment take turns, so that each sees those before it.
        let turn = "SELECT 1 FROM lease WHERE name = 'dispatch' FOR UPDATE";
        transaction.query_one_raw(self.store.statement(turn, [])).await?;
        let serving = Serving::listed();
        let serving = transaction.query_all_raw(self.store.statement(serving, [])).await?;
        for node in &serving {
            let node = Serving::from_query_result(node, "")?;
            if let Some(refusal) = node.refuses(new, lease.has_name()) {
                return Err(refusal);
            }
        }
        self.insert(&transaction, id, new, lasts).await?;
        if let Some(key) = new.key {
            self.store.sealing_keys().insert(&transaction, key).await?;
        }
        transaction.commit().await?;
        Ok(lease)
    }

    async fn insert(self, within: &Transaction, id: Uuid, new: &NewNode<'_>, lasts: Duration) -> Result<()> {
        insert_row(within, "node_fence", [("node_id", id.into()), ("closed", 0_i16.into())]).await?;
        let sql = format!(
            "INSERT INTO node (id, cluster, name, address, version, cores, started_at, lapses_at, state, protocol, \
             protocol_from, provider, sealing_keys, clock_ahead) \
             VALUES ($1, $2, $3, $4, $5, $6, {NOW}, {NOW} + $7, 0, $8, $9, $10, $11, $12)"
        );
        let values = [
            id.into(),
            new.cluster.into(),
            new.name.into(),
            new.address.into(),
            new.version.into(),
            i64::from(new.cores).into(),
            millis(lasts).into(),
            new.protocol.newest.into(),
            new.protocol.oldest.into(),
            new.provider.into(),
            new.key_ids.join(" ").into(),
            new.clock_ahead.into(),
        ];
        execute(within, sql, values).await?;
        Ok(())
    }

    /// Writes what a node knows of itself: the ids of its sealing keys, whether it lacks one of the database's, and
    /// how far its clock is ahead of the database's.
    pub async fn describe(
        self,
        id: Uuid,
        key_ids: &[String],
        lacks_key: bool,
        clock_ahead: Option<i64>,
    ) -> Result<()> {
        let sql = "UPDATE node SET sealing_keys = $2, lacks_key = $3, clock_ahead = $4 \
                   WHERE id = $1 AND state < 2";
        let values = [id.into(), key_ids.join(" ").into(), i16::from(lacks_key).into(), clock_ahead.into()];
        execute(&self.store.write, sql, values).await?;
        Ok(())
    }

    /// The nodes that serve and do not have this sealing key, by name and address. Nodes of programs that do not tell
    /// their keys count as having it.
    pub async fn without_key(self, key_id: &str) -> Result<Vec<String>> {
        self.named("sealing_keys <> '' AND POSITION($1 IN sealing_keys) = 0", key_id).await
    }

    /// The nodes that serve and have this sealing key, by name and address.
    pub async fn with_key(self, key_id: &str) -> Result<Vec<String>> {
        self.named("POSITION($1 IN sealing_keys) > 0", key_id).await
    }

    async fn named(self, holds: &str, key_id: &str) -> Result<Vec<String>> {
        if self.store.backend != DbBackend::Postgres {
            return Ok(Vec::new());
        }
        let sql = format!(
            "SELECT name, address FROM node WHERE state < 2 AND lapses_at > {NOW} AND {holds} ORDER BY id"
        );
        let nodes = fetch::<(String, String)>(&self.store.read, sql, [key_id.into()]).await?;
        Ok(nodes.into_iter().map(|(name, address)| format!("`{name}` ({address})")).collect())
    }

    /// The reasons for which a node with this configuration could not join the nodes that serve now, other than its
    /// name.
    pub async fn obstacles_to_joining(self, new: &NewNode<'_>) -> Result<Vec<String>> {
        let sql = Serving::listed();
        let rows = self.store.rows(sql, []).await?;
        let mut obstacles = Vec::new();
        for row in &rows {
            let refusal = Serving::from_query_result(row, "")?.refuses(new, true);
            obstacles.extend(refusal.map(|refusal| match refusal {
                Error::Schema(sentence) | Error::Taken(sentence) => sentence,
                other => other.to_string(),
            }));
        }
        obstacles.dedup();
        Ok(obstacles)
    }
}

impl Serving {
    /// The query for all of them.
    fn listed() -> String {
        format!(
            "SELECT cluster, name, address, version, protocol, protocol_from, provider, sealing_keys, lacks_key \
             FROM node \
             WHERE state < 2 AND lapses_at > {NOW} ORDER BY id"
        )
    }

    /// Why this node and a new one cannot serve together, if they cannot.
    fn refuses(&self, new: &NewNode<'_>, has_name: bool) -> Option<Error> {
        let Self { cluster, name, address, version, .. } = self;
        if *cluster != new.cluster {
            return Some(Error::Taken(format!(
                "nodes of the cluster `{cluster}` serve on this database: give each cluster a database of its own, \
                 or set the same cluster.name"
            )));
        }
        let protocol = Protocol { newest: self.protocol, oldest: self.protocol_from };
        if !protocol.works_with(new.protocol) {
            return Some(Error::Schema(apart(name, version)));
        }
        let provider = self.provider.as_str();
        if !provider.is_empty() && !new.provider.is_empty() && provider != new.provider {
            return Some(Error::Schema(format!(
                "the node `{name}` of this cluster sends through {provider}, and this one would send through {}: set \
                 the same cloud_api.base_url on every node; to change it, stop all nodes first",
                new.provider
            )));
        }
        if let Some(key) = new.key_ids.first()
            && !self.sealing_keys.is_empty()
            // A node that lacks a key of the database takes no channels anyway.
            && self.lacks_key == 0
            && !self.sealing_keys.split(' ').any(|known| known == key)
        {
            return Some(Error::Schema(format!(
                "this node would seal secrets with the key {key}, which the node `{name}` does not have: give every \
                 node the key first, in its key file or as one of secrets.previous_keys, and then start this one"
            )));
        }
        (new.is_named && *name == new.name && !has_name).then(|| {
            Error::Taken(format!(
                "a node with the name `{name}` serves at {address}: give this one another cluster.node, or stop the \
                 other one"
            ))
        })
    }
}

fn apart(name: &str, version: &str) -> String {
    format!(
        "the node `{name}` serves with version {version} of this program, with which version {} cannot work \
         together: stop all nodes of that version first",
        env!("CARGO_PKG_VERSION")
    )
}

/// Refuses to bring the schema up to date under nodes that cannot work with this program. A schema without such nodes
/// passes, and so does one without the columns that tell.
pub(crate) async fn refuse_other_protocols(on: &DatabaseConnection) -> Result<()> {
    let backend = on.get_database_backend();
    if backend != DbBackend::Postgres {
        return Ok(());
    }
    let known = "SELECT 1 FROM information_schema.columns WHERE table_schema = ANY (current_schemas(FALSE)) \
                 AND table_name = 'node' AND column_name = 'protocol_from'";
    if on.query_one_raw(Statement::from_string(backend, known)).await?.is_none() {
        return Ok(());
    }
    let other = format!(
        "SELECT name, version FROM node WHERE state < 2 AND lapses_at > {NOW} \
         AND (protocol_from > $1 OR protocol < $2) LIMIT 1"
    );
    let values = [PROTOCOL.newest.into(), PROTOCOL.oldest.into()];
    match fetch_one::<(String, String)>(on, other, values).await? {
        Some((name, version)) => Err(Error::Schema(apart(&name, &version))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 2] = ["0101010101010101", "0202020202020202"];

    fn serving() -> Serving {
        Serving {
            cluster: "test".to_owned(),
            name: "a".to_owned(),
            address: "10.0.0.1:8080".to_owned(),
            version: "0.9.0".to_owned(),
            protocol: 1,
            protocol_from: 0,
            provider: "https://one".to_owned(),
            sealing_keys: KEYS.join(" "),
            lacks_key: 0,
        }
    }

    /// The sentence for a new node, and whether it may join later without a change.
    fn refused(serving: &Serving, new: &NewNode<'_>, has_name: bool) -> Option<(String, bool)> {
        serving.refuses(new, has_name).map(|error| match error {
            Error::Taken(sentence) => (sentence, true),
            Error::Schema(sentence) => (sentence, false),
            other => panic!("{other}"),
        })
    }

    #[test]
    fn a_node_joins_only_nodes_that_it_can_work_with() {
        let [own, previous] = KEYS.map(str::to_owned);
        let ids = [own, previous];
        let new = NewNode {
            cluster: "test",
            name: "b",
            is_named: true,
            protocol: Protocol { newest: 1, oldest: 1 },
            provider: "https://one",
            key_ids: &ids,
            ..NewNode::default()
        };
        assert_eq!(refused(&serving(), &new, true), None);
        let stranger = ["0303030303030303".to_owned()];
        for (new, has_name, words, passes) in [
            (NewNode { cluster: "other", ..new }, true, "cluster `test`", true),
            (NewNode { name: "a", ..new }, false, "serves at 10.0.0.1:8080", true),
            (NewNode { provider: "http://two", ..new }, true, "cloud_api.base_url", false),
            (NewNode { key_ids: &stranger, ..new }, true, "0303030303030303", false),
            (NewNode { protocol: Protocol { newest: 3, oldest: 2 }, ..new }, true, "version 0.9.0", false),
        ] {
            let found = refused(&serving(), &new, has_name);
            assert!(
                found.as_ref().is_some_and(|(said, later)| said.contains(words) && *later == passes),
                "{words}: {found:?}"
            );
        }
        // A process that was killed has lost the lock on its name; a node without a given name has any.
        assert_eq!(refused(&serving(), &NewNode { name: "a", ..new }, true), None);
        assert_eq!(refused(&serving(), &NewNode { name: "a", is_named: false, ..new }, false), None);
        // A node of a program that tells nothing of itself.
        let silent = Serving {
            protocol: 0,
            protocol_from: 0,
            provider: String::new(),
            sealing_keys: String::new(),
            ..serving()
        };
        assert_eq!(
            refused(&silent, &NewNode { protocol: Protocol { newest: 1, oldest: 0 }, ..new }, true),
            None
        );
        // A node that lacks a key keeps out no node that has it.
        let lacking = Serving { lacks_key: 1, ..serving() };
        assert_eq!(refused(&lacking, &NewNode { key_ids: &stranger, ..new }, true), None);
    }

    #[test]
    fn programs_work_together_while_their_rules_overlap() {
        let of = |oldest, newest| Protocol { newest, oldest };
        for (one, other, together) in [
            (of(0, 1), of(0, 1), true),
            (of(0, 1), of(1, 2), true),
            (of(0, 1), of(0, 0), true),
            (of(0, 1), of(2, 2), false),
            (of(2, 3), of(0, 1), false),
        ] {
            assert_eq!(one.works_with(other), together, "{one:?} {other:?}");
            assert_eq!(other.works_with(one), together, "{other:?} {one:?}");
        }
    }
}
