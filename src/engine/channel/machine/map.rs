//! Maps and sets whose order follows from what was put in, and from nothing else, so that the same inputs have the same
//! effects. Their keys are ids that this service made: nobody can choose them so that they collide.

use std::collections::{HashMap, HashSet};

use foldhash::fast::FixedState;

/// A map that is gone through in an order that two runs share.
pub(super) type Map<K, V> = HashMap<K, V, FixedState>;
/// A set that is gone through in an order that two runs share.
pub(super) type Set<K> = HashSet<K, FixedState>;
