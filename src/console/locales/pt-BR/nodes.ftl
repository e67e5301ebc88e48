nodes-title = Nós
nodes-alone = Este serviço roda sozinho. Ele roda todos os canais, e não há outros nós.
nodes-alone-how = Vários serviços dividem o trabalho em um banco de dados PostgreSQL quando todos têm o mesmo
nodes-cluster = Cluster
nodes-serving = { $count ->
    [1] 1 nó assume canais
   *[other] { $count } nós assumem canais
}
nodes-moves = Mudanças de canais
nodes-moved-at = última:
nodes-connections = { $open } de { $most } conexões estão abertas
nodes-from-here = visto deste nó
nodes-nats-none = não configurado
nodes-nats-connected = conectado
nodes-nats-away = sem conexão
nodes-name = Nó
nodes-this = (este nó)
nodes-state = Estado
nodes-state-serving = em serviço
nodes-state-draining = esvaziando
nodes-state-lacks-key = falta uma chave de selagem
nodes-state-lapsed = expirado
nodes-lease = Concessão
nodes-clock = Relógio em relação ao PostgreSQL
nodes-since = Desde
nodes-version = Versão
nodes-address = Endereço
nodes-cores = Núcleos
nodes-shards = Contas comerciais e sessões web
nodes-all = Todos os nós
nodes-hint = Um nó renova a concessão a cada segundo. Quando ela expira, os outros nós assumem os canais dele. Um nó que esvazia entrega os canais aos outros e não assume mais nenhum. Um nó sem uma chave de selagem não assume nenhum até ter a chave.
nodes-drain = Esvaziar { $name }
nodes-drain-question = { $name } entrega os canais aos outros nós e não assume mais nenhum até que se pare de esvaziá-lo ou ele seja iniciado de novo. Nenhuma mensagem se perde.
nodes-drain-last = Nenhum outro nó assume canais: os canais de { $name } esperam até que um assuma.
nodes-drained = { $name } está entregando os canais.
nodes-undrain = Parar de esvaziar { $name }
nodes-undrain-question = { $name } volta a assumir canais.
nodes-undrained = { $name } volta a assumir canais.
