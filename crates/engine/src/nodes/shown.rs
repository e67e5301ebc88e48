//! The operators' view of the cluster, and draining a node.

use uuid::Uuid;

use crate::records::channels::Owned;
use crate::{Engine, Error, Who};
use cluster::{Link, NodeStatus, Status};
use domain::error::{Code, Refusal};
use domain::page::{Page, PageRequest};

/// A cluster, as this node sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Its name.
    pub name: String,
    /// This node.
    pub own: Uuid,
    /// Its nodes, and what runs on each.
    pub status: Status,
    /// This node's connection to the others; `None` when it has none.
    pub link: Option<Link>,
}

/// The nodes that share the work, for operators.
#[derive(Clone, Copy)]
pub struct ClusterNodes<'e> {
    pub(crate) engine: &'e Engine,
}

impl Engine {
    /// The nodes that share the work, for operators.
    pub const fn nodes(&self) -> ClusterNodes<'_> {
        ClusterNodes { engine: self }
    }
}

impl ClusterNodes<'_> {
    /// The cluster that this process is a node of; `None` when it serves alone.
    pub async fn cluster(&self) -> Result<Option<Shown>, Error> {
        let cluster = &self.engine.0.shared.cluster;
        let Some(own) = cluster.node() else { return Ok(None) };
        let status = cluster::status(&*self.engine.all_records().await?).await?;
        // A fenced node ends at once; until then it has no name.
        let named = status.nodes.iter().find(|node| node.node.id == own).or(status.nodes.first());
        let name = named.map(|node| node.node.cluster.clone()).unwrap_or_default();
        Ok(Some(Shown { name, own, status, link: cluster.carrier().and_then(|carrier| carrier.link()) }))
    }

    /// A node, with one page of the channels that run on it, the newest first.
    ///
    /// # Errors
    ///
    /// `node_not_found`; [`Error::Unavailable`] as [`ClusterNodes::cluster`].
    pub async fn channels_of_node(
        &self,
        id: Uuid,
        page: PageRequest,
    ) -> Result<(NodeStatus, Page<Owned>), Error> {
        let node = self.node(id).await?;
        let records = self.engine.all_records().await?;
        let all = cluster::channels_of(&records, id).await?;
        let first = usize::try_from(page.offset()).unwrap_or(usize::MAX).min(all.len());
        let most = usize::try_from(page.limit).unwrap_or(usize::MAX);
        let ids: Vec<_> = all[first..].iter().copied().take(most).collect();
        let found = records.channels().find_owned_among(&ids).await?;
        Ok((node, Page { records: found, total: all.len() as u64 }))
    }

    /// Tells a node to give its channels away and to take no others. Returns its status then.
    pub async fn drain_node(&self, who: &Who, id: Uuid) -> Result<NodeStatus, Error> {
        if self.engine.0.shared.cluster.is_alone() {
            return Err(alone().into());
        }
        if !self.engine.all_records().await?.nodes().drain(who, id).await? {
            return Err(no_such_node().into());
        }
        tracing::info!(node.id = %id, %who, "a node was told to drain");
        self.node(id).await
    }

    /// Lets a node that drains take channels again. Returns its status then.
    pub async fn undrain_node(&self, who: &Who, id: Uuid) -> Result<NodeStatus, Error> {
        if self.engine.0.shared.cluster.is_alone() {
            return Err(alone().into());
        }
        if !self.engine.all_records().await?.nodes().undrain(who, id).await? {
            return Err(no_such_node().into());
        }
        tracing::info!(node.id = %id, %who, "a node was told to take channels again");
        self.node(id).await
    }

    async fn node(&self, id: Uuid) -> Result<NodeStatus, Error> {
        let shown = self.cluster().await?.ok_or_else(alone)?;
        let found = shown.status.nodes.into_iter().find(|node| node.node.id == id);
        Ok(found.ok_or_else(no_such_node)?)
    }
}

fn alone() -> Refusal {
    Refusal::new(Code::NodeNotFound, "this service runs alone: there are no nodes")
}

fn no_such_node() -> Refusal {
    Refusal::new(
        Code::NodeNotFound,
        "no node with this id serves: GET /operator/v1/nodes lists those that do",
    )
}
