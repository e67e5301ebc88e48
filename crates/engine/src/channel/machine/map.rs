//! Maps and sets whose order depends only on their content, so that the same inputs have the same effects. Their keys
//! are ids that this service generated: nobody can choose keys that collide.

use std::collections::{HashMap, HashSet};

use foldhash::fast::FixedState;

/// A map with the same order of iteration in every run.
pub(super) type Map<K, V> = HashMap<K, V, FixedState>;
/// A set with the same order of iteration in every run.
pub(super) type Set<K> = HashSet<K, FixedState>;
