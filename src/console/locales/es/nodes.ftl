nodes-title = Nodos
nodes-alone = Este servicio funciona solo. Atiende todos los canales, y no hay otros nodos.
nodes-alone-how = Varios servicios comparten el trabajo en una base de datos PostgreSQL cuando todos tienen el mismo
nodes-cluster = Clúster
nodes-serving = { $count ->
    [1] 1 nodo toma canales
   *[other] { $count } nodos toman canales
}
nodes-moves = Traslados de canales
nodes-moved-at = último:
nodes-connections = { $open } de { $most } conexiones están abiertas
nodes-from-here = visto desde este nodo
nodes-nats-none = no configurado
nodes-nats-connected = conectado
nodes-nats-away = sin conexión
nodes-name = Nodo
nodes-this = (este nodo)
nodes-state = Estado
nodes-state-serving = en servicio
nodes-state-draining = vaciándose
nodes-state-lacks-key = le falta una clave de sellado
nodes-state-lapsed = caducado
nodes-lease = Concesión
nodes-clock = Reloj respecto a PostgreSQL
nodes-since = Desde
nodes-version = Versión
nodes-address = Dirección
nodes-cores = Núcleos
nodes-shards = Cuentas comerciales y sesiones web
nodes-all = Todos los nodos
nodes-hint = Un nodo renueva la concesión cada segundo. Cuando caduca, los demás nodos toman sus canales. Un nodo que se vacía entrega sus canales a los demás y no toma más. Un nodo al que le falta una clave de sellado no toma ninguno hasta que la tenga.
nodes-drain = Vaciar { $name }
nodes-drain-question = { $name } entrega sus canales a los demás nodos y no toma más hasta que se deje de vaciar o se inicie de nuevo. No se pierde ningún mensaje.
nodes-drain-last = Ningún otro nodo toma canales: los canales de { $name } esperan hasta que uno lo haga.
nodes-drained = { $name } está entregando sus canales.
nodes-undrain = Dejar de vaciar { $name }
nodes-undrain-question = { $name } vuelve a tomar canales.
nodes-undrained = { $name } vuelve a tomar canales.
