//! The sockets of the service, by what they serve.

use actix_web::HttpRequest;
use actix_web::web::Data;

/// A socket of the service, by what it serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listener {
    /// Every route, when there is only one listener.
    Whole,
    /// Companies and the provider, with the reference for companies.
    Public,
    /// Operators and metrics, with the reference for operators.
    Operator,
    /// The door that speaks Graph, when it has an address of its own.
    Graph,
}

impl Listener {
    /// The word in metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Whole | Self::Public => "public",
            Self::Operator => "operator",
            Self::Graph => "graph",
        }
    }

    /// Whether operators have their rights here. Where they have a listener of their own, they have them nowhere else.
    pub const fn admits_operators(self) -> bool {
        match self {
            Self::Whole | Self::Operator => true,
            Self::Public | Self::Graph => false,
        }
    }

    /// The listener of a request: the public one, which grants the fewest rights, when the service did not name it.
    pub fn of(request: &HttpRequest) -> Self {
        request.app_data::<Data<Self>>().map_or(Self::Public, |listener| ***listener)
    }
}
