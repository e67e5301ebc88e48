send-template = Modelo
send-channel = Canal
send-starts = Começa
send-expires = Expira
send-ended = Terminou
send-restored = O banco de dados foi restaurado de um backup enquanto este envio estava em andamento. Mensagens sem resposta podem ter sido enviadas depois do backup: repita as desconhecidas onde isso for correto.
send-skipped = Deixados de fora
send-repeats = Envia de novo mensagens deste envio:
send-repeated = Enviado de novo por:
send-progress-title = Andamento
send-progress = { $all ->
    [one] { $sent } de { $all } mensagem enviada
   *[other] { $sent } de { $all } mensagens enviadas
}
send-rate = { $rate } mensagens por segundo agora
send-end = Deve terminar:
send-waits = Está aguardando:
send-pace = Ritmo
send-pace-unit = mensagens por segundo
send-counting = As mensagens estão sendo contadas. Os números aparecem aqui em instantes.
send-counted = Contado
send-by-state = Mensagens por situação
send-causes = Por que mensagens não chegaram
send-cause = Motivo
send-code = Código do provedor
send-state = Situação
send-messages = Mensagens
send-recipient = Destinatário
send-heard = Última notícia
send-narrow = Filtrar as mensagens
send-any = Todas
send-show = Mostrar
send-csv = Resultados em CSV
send-none = Nenhuma mensagem corresponde ao filtro.
send-none-yet = Nenhuma mensagem do nº { $from } ao { $to } corresponde ao filtro. As outras ainda não foram examinadas.
send-first = Desde o começo
send-further = Mais mensagens
send-pause = Pausar
send-resume = Retomar
send-cancel = Cancelar
send-cancel-question = As mensagens que ainda não começaram nunca serão enviadas. Não é possível desfazer.
send-is-paused = Pausado: nada deste envio sai até que seja retomado.
send-is-resumed = Retomado.
send-is-canceled = Cancelado: o que não tinha começado não será enviado.
send-again = Enviar de novo para quem falhou
send-again-rest = Enviar para quem não foi alcançado
send-again-title = Enviar de novo
send-again-back = Voltar ao envio
send-again-which = Quais mensagens
send-again-code = Só mensagens com este código; vazio para todas.
send-again-check = Verificar
send-again-send = Enviar
send-again-looking = As mensagens estão sendo examinadas. O que seria enviado aparece aqui em instantes.
send-again-nobody = não resta ninguém. Nenhuma mensagem está em uma destas situações com este código, todas já foram reenviadas, todos pediram para não receber, ou ninguém escreveu nas últimas 24 horas.
send-again-done = { $count ->
    [1] Um novo envio para 1 destinatário foi aceito.
   *[other] Um novo envio para { $count } destinatários foi aceito.
}
send-refused = Nada seria enviado:
send-check-title = O que seria enviado
send-check-count = { $count ->
    [1] 1 destinatário
   *[other] { $count } destinatários
}
send-check-end = Deve terminar em
send-check-no-end = Só as respostas do provedor limitam quanto tempo leva.
send-check-limit = O que define quanto tempo leva:
send-check-instead = { $count ->
    [0] Ninguém precisa do modelo: todos escreveram nas últimas 24 horas.
    [1] 1 deles não escreveu nas últimas 24 horas e recebe o modelo.
   *[other] { $count } deles não escreveram nas últimas 24 horas e recebem o modelo.
}
send-instead = Quem não escreveu nas últimas 24 horas recebe um modelo:
send-instead-open = Abrir esse envio
send-instead-all = Ninguém deste envio escreveu nas últimas 24 horas: todos recebem o modelo.
send-instead-of = No lugar deste envio, a quem não escreveu nas últimas 24 horas:
send-check-skipped = { $count ->
    [1] 1 entrada fica de fora
   *[other] { $count } entradas ficam de fora
}
send-limit-rate = o ritmo do canal
send-limit-level = a quantas pessoas o provedor deixa o número escrever
send-limit-back-off = o provedor recusou há pouco que se enviasse tanto
send-limit-pair = a pausa entre mensagens para a mesma pessoa
send-limit-quota = a quantas pessoas se pode escrever primeiro em um dia
send-limit-quiet = o horário de silêncio
send-kind-text = Texto
send-kind-image = Imagem
send-kind-video = Vídeo
send-kind-audio = Áudio
send-kind-document = Documento
send-kind-sticker = Figurinha
send-kind-location = Localização
send-kind-contacts = Contatos
send-kind-reaction = Reação
send-kind-template = Modelo
send-kind-interactive = Interativa
send-stage-scheduled = Agendado
send-stage-active = Ativo
send-stage-paused = Pausado
send-stage-finished = Terminado
send-stage-canceled = Cancelado
send-stage-expired = Expirado
send-state-queued = Na fila
send-state-sending = Enviando
send-state-sent = Enviada
send-state-delivered = Entregue
send-state-read = Lida
send-state-failed = Falhou
send-state-expired = Expirada
send-state-canceled = Cancelada
send-state-unknown = Desconhecida
send-state-suppressed = Não quer receber
send-cause-expired = O prazo acabou antes de começar
send-cause-canceled = O envio foi cancelado antes de começar
send-cause-suppressed = O destinatário pediu para não receber antes do envio
send-cause-unknown = Não se sabe se o provedor recebeu
send-check-lacking = { $count ->
    [1] 1 destinatário não tem um campo de contato de que a mensagem precisa e não recebe mensagem.
   *[other] { $count } destinatários não têm um campo de contato de que a mensagem precisa e não recebem mensagem.
}
send-check-lacking-part = Dos primeiros { $checked } destinatários, { $count ->
    [1] 1 não tem um campo de contato de que a mensagem precisa e não recebe mensagem.
   *[other] { $count } não têm um campo de contato de que a mensagem precisa e não recebem mensagem.
} Os outros não foram verificados.
send-made = Criado
send-about = Sobre este envio
send-to = Para
send-message = A mensagem
send-people = { $count ->
    [1] 1 pessoa
   *[other] { $count } pessoas
}
send-group = Um grupo
send-entries = { $count ->
    [1] 1 entrada que não pode receber
   *[other] { $count } entradas que não podem receber
}
send-step-paused = Pausado
send-step-resumed = Retomado
send-step-canceled = Cancelado
send-details = Detalhes
send-reference = Referência
send-codes = O que o provedor disse
send-said = Suas palavras
send-by-code = Por código
send-personal = Cada pessoa recebe os seus próprios valores.
send-template-gone = O modelo não existe mais, por isso só aparece o nome dele.
send-share-answered = Respondida
send-share-waits = Aguardando
send-share-left-out = Não enviadas
send-share-unclear = Incertas
send-name-to-people = { $what } para { $count ->
    [1] 1 pessoa
   *[other] { $count } pessoas
}
send-name-to-group = { $what } para um grupo
send-name-to-tags = { $what } para { $tags }
send-name-to-more-tags = { $what } para { $tags } e { $more ->
    [1] mais 1 etiqueta
   *[other] mais { $more } etiquetas
}
send-without = Sem:
send-step-moved = Movido
send-duplicate = Duplicar
send-move = Mover o início
send-move-button = Mover
send-is-moved = Movido: nada deste envio sai antes do novo início.
send-move-fault = Informe uma hora no futuro, no máximo um ano à frente e antes do fim do envio.
send-move-begun = O envio já começou: o início não pode mais ser movido.
send-move-over = O envio acabou: o início não pode mais ser movido.
send-edit = Editar
send-edit-question = O que foi aceito não pode ser alterado. Por isso este envio é cancelado, e um rascunho se abre com o conteúdo, os destinatários e os horários dele. Nada sai até você enviar o rascunho.
send-show-contacts = Mostrar estes contatos:
send-received = Receberam
send-not-received = Não receberam
send-was-read = Leram
send-not-read = Não leram
send-was-answered = Responderam
send-not-answered = Não responderam
send-step-disabled = Um operador deste serviço tinha desativado a empresa. Retome o envio quando ele deve continuar.
send-results = Resultados no seu arquivo
send-result-state = Situação
send-result-error = Erro
send-result-time = Hora
send-result-skipped = Ignorado
