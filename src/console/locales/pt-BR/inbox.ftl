inbox-title = Caixa de entrada
inbox-conversations = Conversas
inbox-conversation = Conversa
inbox-messages = Mensagens
inbox-choose = Escolha uma conversa para ler e responder.
inbox-none = Não há conversas. Aqui aparece o que as pessoas escrevem para os seus números.
inbox-none-found = Nenhuma conversa corresponde à busca.
inbox-more = Mais conversas
inbox-back = Todas as conversas
inbox-you = Você:
inbox-closed = Encerrada
inbox-somebody = outra pessoa
inbox-arrived = Mensagens novas na caixa de entrada

# The filters
inbox-search = Buscar conversas
inbox-find = Buscar
inbox-views = Quais conversas
inbox-view-open = Abertas
inbox-view-unread = Não lidas
inbox-view-mine = Minhas
inbox-view-unassigned = Sem responsável
inbox-view-closed = Encerradas
inbox-view-groups = Grupos
inbox-all = Todos
inbox-channel = Canal
inbox-tag = Etiqueta
inbox-show = Mostrar

# What tells of arrivals
inbox-notify = Avisar-me neste navegador
inbox-sound = Tocar um som

# The window
inbox-window-open = Você pode escrever livremente
inbox-window-closed = A pessoa não escreveu nas últimas 24 horas, por isso só é possível enviar um modelo. Quando ela responder, você poderá escrever livremente de novo.
inbox-window-none = Você pode escrever a qualquer momento: é um telefone vinculado.
inbox-window-unsure = A última mensagem da pessoa não é conhecida. O WhatsApp aceita um texto somente nas 24 horas seguintes a ela.
inbox-window-never = Não é possível responder: o canal foi removido, é um grupo ou o número da pessoa não é conhecido.
inbox-window-free = A pessoa veio de um anúncio: as mensagens não custam nada
inbox-fault-window = Passaram as 24 horas desde a última mensagem da pessoa. Envie um modelo; o seu texto fica guardado.

# Messages
inbox-earlier = Mensagens anteriores
inbox-latest = Últimas mensagens
inbox-no-messages = Não há mensagens, ou elas não são mais guardadas.
inbox-echo = Escrita no seu telefone ou com outro programa
inbox-bulk = um envio a várias pessoas
inbox-bulk-of = Parte de
inbox-gone = O envio foi removido, e com ele o que dizia.
inbox-edited = editada
inbox-deleted = Esta mensagem foi apagada.
inbox-not-kept = O conteúdo não é mais guardado.
inbox-forwarded = Encaminhada
inbox-from-advertisement = Veio de um anúncio ou de uma página
inbox-quoted-earlier = Responde a uma mensagem anterior
inbox-reply = Responder
inbox-reply-not = Responder sem citar
inbox-file-pending = O arquivo ainda não está aqui.
inbox-kind-answer = Escolheu
inbox-kind-flow = Preencheu um formulário
inbox-kind-order = Pedido
inbox-kind-call = Chamada
inbox-kind-system = Aviso do WhatsApp
inbox-kind-other = Mensagem
inbox-unsupported = Um tipo de mensagem que não pode ser mostrado aqui
inbox-as-it-came = Como chegou

# The answer
inbox-answer = Resposta
inbox-answer-hint = Ctrl e Enter a enviam.
inbox-send = Enviar
inbox-attach = Anexar um arquivo
inbox-upload = Enviar um arquivo novo
inbox-upload-hint = O arquivo fica na biblioteca e ao lado da sua resposta.
inbox-only-looks = O seu papel permite ler conversas, mas não responder.
inbox-use-template = Enviar um modelo
inbox-use-text = Escrever um texto
inbox-other-template = Escolher outro modelo
inbox-template = Modelo
inbox-take-template = Preencher
inbox-no-template = Não há modelo aprovado para este número.
inbox-quick = Resposta rápida
inbox-quick-take = Inserir
inbox-writing = { $names }: escrevendo uma resposta…

# What can be done
inbox-about = Detalhes
inbox-number = Número
inbox-id = Id
inbox-since = Primeira mensagem
inbox-to-contact = Abrir o contato
inbox-assigned = Responsável
inbox-assign = Atribuir
inbox-assign-me = Atribuir a mim
inbox-nobody = Ninguém
inbox-assigned-done = A conversa foi atribuída.
inbox-mark-read = Marcar como lida
inbox-mark-unread = Marcar como não lida
inbox-close = Encerrar
inbox-reopen = Reabrir
inbox-closed-done = A conversa foi encerrada. Uma mensagem da pessoa a abre de novo.
inbox-reopened-done = A conversa está aberta de novo.
inbox-tags = Etiquetas
inbox-no-tags = Sem etiquetas.
inbox-tag-add = Adicionar
inbox-tag-remove = Remover
inbox-tag-remove-which = Remover a etiqueta { $tag }
inbox-tags-done = As etiquetas foram alteradas.
inbox-consent = Consentimento
inbox-opted-out-done = Os envios pulam esta pessoa a partir de agora.
inbox-opted-in-done = Os envios chegam de novo a esta pessoa.
inbox-notes = Notas
inbox-no-notes = Sem notas. A pessoa nunca as vê.
inbox-note = Nota
inbox-note-new = Nova nota
inbox-note-add = Adicionar nota
inbox-note-added = A nota foi adicionada.
inbox-note-change = Alterar
inbox-note-save = Salvar
inbox-note-changed = A nota foi alterada.
inbox-note-delete = Excluir
inbox-note-delete-question = Excluir esta nota?
inbox-note-deleted = A nota foi excluída.
