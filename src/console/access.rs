//! Who may use a route.

/// The access that a route needs. The gate in front of each handler checks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// A file that every page shares; the session is not looked up.
    Asset,
    /// Every client that can reach the port.
    Public,
    /// Every person who is signed in.
    SignedIn,
    /// People of the chosen company, in every role, agents included, and operators.
    Inbox,
    /// Agents, members and owners of the chosen company, who answer its conversations, and operators.
    Agent,
    /// People of the chosen company, in every role but the one of agents, and operators.
    Viewer,
    /// Members and owners of the chosen company, who may send and change, and operators.
    Member,
    /// Owners of the chosen company, and operators.
    Owner,
    /// Operators only.
    Operator,
}
