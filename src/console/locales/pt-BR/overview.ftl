overview-title = Visão geral
overview-new-send = Novo envio
overview-first = Primeiros passos
overview-first-why = Três passos até a sua primeira mensagem.
overview-first-done = feito
overview-first-channel = Conecte um número
overview-first-channel-why = As mensagens saem dele: uma conta comercial na Meta, ou um telefone que você vincula.
overview-first-channel-ask = As mensagens saem dele. Um proprietário da empresa pode adicioná-lo.
overview-add-channel = Adicionar um canal
overview-first-contacts = Importe os seus contatos
overview-first-contacts-why = De uma planilha ou de um arquivo CSV. As etiquetas dizem quem recebe o quê.
overview-import = Importar um arquivo
overview-first-send = Envie um teste
overview-first-send-why = Primeiro para o seu próprio número: você vê como chega antes dos outros.
overview-alert-disconnected = { $name } está desconectado: nada sai deste número.
overview-alert-blocked = { $name } está bloqueado pelo provedor: nada sai deste número.
overview-alert-channel-see = Ver o motivo e o que fazer
overview-alert-template-paused = O provedor pausou o modelo { $name }: os envios com ele aguardam.
overview-alert-template-disabled = O provedor desativou o modelo { $name }: ele não pode mais ser enviado.
overview-alert-template-rejected = O provedor recusou o modelo { $name }.
overview-alert-template-see = Ver o modelo
overview-alert-quota = { $name } quase esgotou um limite ({ $limit }): restam { $left } de { $most }.
overview-alert-quota-see = Ver os limites
overview-alert-token = O token de acesso de { $name } expira em breve, e então nada sai deste número:
overview-alert-token-see = Ver como dar outro a ele
overview-alert-key = A chave de API { $name } expira em breve:
overview-alert-key-see = Ver as chaves
overview-today = Hoje
overview-week = Últimos 7 dias
overview-sent = Enviadas
overview-delivered = Entregues
overview-read = Lidas
overview-failed = Falharam
overview-counting = As mensagens estão sendo contadas …
overview-latest = Últimos envios
overview-all-sends = Todos os envios
overview-to = { $count ->
    [1] para 1 destinatário
   *[other] para { $count } destinatários
}
overview-pace = Ritmo agora
overview-unit = mensagens por segundo
overview-queue = Aguardando envio
overview-queue-of = em { $sends ->
    [1] 1 envio
   *[other] { $sends } envios
}
overview-oldest = Envio mais antigo em espera
overview-channels = Canais
overview-hour = A última hora
overview-sends = Envios em espera
overview-send = Envio
overview-recipients = Destinatários
overview-waits = Por quê
overview-failures = Falhas de hoje
overview-cause = Causa
overview-messages = Mensagens
overview-no-failures = Nenhuma mensagem falhou.
