operator-title = Operador
operator-health = Saúde
operator-node = Este nó
operator-ready = pronto
operator-not-ready = não pronto
operator-database = O banco de dados responde em
operator-provider = Canais no WhatsApp
operator-streams = Páginas ao vivo abertas
operator-slow = Quem está lento
operator-none-slow = Nada que possa sair está esperando.
operator-channel = Canal
operator-search = Buscar empresas e canais
operator-no-channels = Não há canal assim.
operator-add = Adicionar empresa
operator-company-added = A empresa “{ $name }” foi adicionada.
operator-name-taken = Outra empresa tem este nome.
operator-tier-end = por um tempo; { $tier } de novo
operator-tier-changed = O canal “{ $channel }” está no plano { $tier }. Ele o aplica em um segundo.
operator-tier-options = Opções próprias
operator-tier-options-hint = Valores que só este canal tem. O que não está marcado é como o plano diz.
operator-tier-until = Até
operator-tier-until-hint = Depois voltam a valer o plano e as opções que o canal tinha de forma permanente. Sem uma hora, a mudança é permanente.
operator-steps = Próximos passos
operator-step-tier = Dê um plano a ela
operator-step-tier-why = O plano diz com que rapidez os canais novos enviam e quantas requisições de API a empresa pode fazer.
operator-step-owner = Convide um proprietário
operator-step-owner-why = Um proprietário convida as outras pessoas e cria chaves de API.
operator-step-number = Conecte um número
operator-step-number-why = Um proprietário adiciona um canal no console; operadores também podem.
operator-company-change = Nome e plano
operator-company-tier-hint = Canais novos começam com ele, e ele limita as requisições de API. Os canais mantêm os seus, então os envios em curso não mudam.
operator-company-save = Salvar
operator-company-saved = Salvo.
operator-company-members = { $members ->
    [1] Um membro
   *[other] { $members } membros
}, { $owners ->
    [1] um proprietário
   *[other] { $owners } proprietários
} entre eles
operator-company-channels = { $channels ->
    [1] Um canal
   *[other] { $channels } canais
}, { $connected ->
    [1] 1 conectado
   *[other] { $connected } conectados
}
operator-company-keys = Chaves de API válidas
operator-company-since = Adicionada
operator-company-no-members = Ninguém faz parte desta empresa ainda.
operator-company-access = Acesso
operator-company-disable-what = Enquanto uma empresa está desativada, as chaves de API dela são recusadas, ninguém pode escolhê-la no console e os envios ficam pausados. Mensagens recebidas e atualizações de entrega continuam sendo registradas.
operator-company-disable = Desativar a empresa
operator-company-disable-question = As chaves de API de { $name } são recusadas, as pessoas têm de sair e os envios são pausados.
operator-company-enable = Ativar a empresa
operator-company-disabled-why = Esta empresa está desativada: as pessoas e os programas dela não entram.
operator-company-is-disabled = A empresa está desativada. Os envios dela são pausados em dois segundos.
operator-company-is-enabled = A empresa está ativa de novo. Os envios dela ficam pausados até que alguém da empresa os retome.
