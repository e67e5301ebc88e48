nodes-title = Nodes
nodes-alone = This service runs alone. It runs every channel, and there are no other nodes.
nodes-alone-how = Several services share the work on one PostgreSQL database when all of them have the same
nodes-cluster = Cluster
nodes-serving = { $count ->
    [1] 1 node takes channels
   *[other] { $count } nodes take channels
}
nodes-moves = Moves of channels
nodes-moved-at = last:
nodes-connections = { $open } of { $most } connections are open
nodes-from-here = seen from this node
nodes-nats-none = not configured
nodes-nats-connected = connected
nodes-nats-away = not connected
nodes-name = Node
nodes-this = (this node)
nodes-state = State
nodes-state-serving = serving
nodes-state-draining = draining
nodes-state-lacks-key = lacks a sealing key
nodes-state-lapsed = lapsed
nodes-lease = Lease
nodes-clock = Clock against PostgreSQL
nodes-since = Since
nodes-version = Version
nodes-address = Address
nodes-cores = Cores
nodes-shards = Business accounts and web sessions
nodes-all = All nodes
nodes-hint = A node renews its lease each second. When the lease has lapsed, the other nodes take its channels over. A node that drains gives its channels to the others and takes no more. A node that lacks a sealing key takes none until it has the key.
nodes-drain = Drain { $name }
nodes-drain-question = { $name } gives its channels to the other nodes and takes no more until it is undrained or started again. No message is lost.
nodes-drain-last = No other node takes channels: the channels of { $name } wait until one does.
nodes-drained = { $name } gives its channels away.
nodes-undrain = Undrain { $name }
nodes-undrain-question = { $name } takes channels again.
nodes-undrained = { $name } takes channels again.
