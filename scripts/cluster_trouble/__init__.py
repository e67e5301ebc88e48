"""Real faults for a cluster of real nodes; see scripts/cluster-trouble --help."""
