compose-title = Novo envio
compose-no-channel = Ainda não há por onde enviar. Adicione uma conta comercial ou vincule um telefone.
compose-add-channel = Adicionar canal
compose-channel = Canal
compose-type = Tipo
compose-template = Modelo
compose-choose = Escolha
compose-go-on = Continuar
compose-no-template = Esta conta comercial não tem modelo aprovado. Aprove um no provedor e sincronize.
compose-what = O quê
compose-whom = Para quem
compose-when = Quando
compose-starts = Começa
compose-starts-hint = Uma data e um horário.
compose-expires = Expira
compose-expires-hint = Mensagens que não começaram até lá não são enviadas.
compose-zone = Horários neste fuso:
compose-stale = Algo mudou depois da verificação. Isto é o que seria enviado agora; envie se estiver certo.
compose-check = Verificar
compose-send = Enviar
compose-check-first = Verifique primeiro; depois é possível enviar.
compose-accepted = { $count ->
    [1] Aceito para 1 destinatário.
   *[other] Aceito para { $count } destinatários.
}
compose-preview = Prévia
compose-message = Mensagem
compose-link = Endereço do arquivo
compose-link-hint = Público, começando com https://
compose-caption = Legenda
compose-kind-buttons = Texto com botões
compose-kind-list = Texto com menu
compose-buttons = Botões
compose-buttons-hint = Um por linha, no máximo três, cada um com até 20 caracteres.
compose-menu = Nome do menu
compose-menu-hint = Até 20 caracteres.
compose-rows = Itens do menu
compose-rows-hint = Um por linha, no máximo dez. Uma descrição pode vir depois de uma barra: Vermelho | 19,90. Uma linha com dois-pontos no fim começa uma seção: Vinhos:
compose-unreadable = O provedor descreve este modelo de um jeito que esta página não consegue mostrar. Ele pode ser enviado pela API.
compose-nothing-to-fill = Este modelo não tem nada para preencher.
compose-header-link = Endereço do arquivo do cabeçalho
compose-latitude = Latitude
compose-longitude = Longitude
compose-place = Nome do lugar
compose-address = Endereço do lugar
compose-header-variable = Cabeçalho { $name }: aparece onde está {"{{"}{ $name }{"}}"}
compose-body-variable = Texto { $name }: aparece onde está {"{{"}{ $name }{"}}"}
compose-button-link = Botão { $number }: final do endereço
compose-button-code = Botão { $number }: código do cupom
compose-button-payload = Botão { $number }: o que volta quando é tocado
compose-card = Cartão { $number }
compose-unknown-parts = Este modelo tem partes que esta página não conhece. Se elas precisam de valores, o envio deve ser feito pela API.
compose-deadline = A oferta termina
compose-deadline-hint = No seu fuso horário. A mensagem mostra o tempo que resta.
compose-filename = Nome do documento
compose-filename-hint = O nome que o destinatário vê, como fatura.pdf. Vazio: o nome no endereço.
compose-button-flow = Botão { $number }: token do fluxo (opcional)
compose-button-catalog = Botão { $number }: identificador do produto cuja imagem é mostrada (opcional)
compose-button-products-title = Botão { $number }: título da lista de produtos
compose-button-products = Botão { $number }: identificadores dos produtos
compose-button-products-hint = Um por linha. O primeiro é mostrado na mensagem.
compose-same-for-all = Todos recebem os mesmos valores, exceto onde há um valor de cada destinatário.
compose-tags = Etiquetas
compose-tags-hint = Todos com uma das etiquetas escolhidas, cada pessoa uma vez.
compose-numbers = Números
compose-numbers-hint = Com código do país, um por linha ou separados por vírgulas.
compose-find = Procurar pessoas
compose-find-button = Procurar
compose-found-none = Nenhum contato corresponde.
compose-people = Pessoas
compose-fault-channel = Escolha um canal.
compose-fault-choose = Escolha um modelo.
compose-fault-time = Isto não é uma data com horário.
compose-fault-recipient = Escolha uma etiqueta, um segmento, um número ou uma pessoa.
compose-fault-nobody = Não resta ninguém: as etiquetas estão vazias, os números não são válidos ou todos pediram para não receber.
compose-fault-too-many = São demais para um envio. Marque os contatos com uma etiqueta e envie para ela.
compose-fault-message = Escreva uma mensagem.
compose-fault-long = Isto é longo demais.
compose-fault-link = Informe o endereço público do arquivo, começando com http:// ou https://.
compose-fault-schedule = Estes horários não deixam tempo para enviar, já passaram ou estão a mais de um ano.
compose-fault-disconnected = O canal está desconectado. Reconecte-o primeiro.
compose-fault-template = O modelo não existe mais ou não está aprovado.
compose-fault-interactive = Algo é longo demais ou está faltando: informe o texto e o que ele oferece.
compose-fault-values = Os valores não servem para o modelo: preencha todos os campos, cada um em uma linha.
compose-to-channels = Ver os canais
compose-to-channel = Abrir o canal
compose-not-linked = este telefone não está vinculado, ou está sem conexão agora.
compose-sent-before = Este formulário já foi enviado. Este é o envio dele.
compose-accepted-web = Aceito. Esta página mostra quando o WhatsApp recebeu a mensagem e quando ela foi lida.
compose-kind-product = Produto
compose-kind-products = Lista de produtos
compose-header-type = Acima do texto
compose-header = Cabeçalho
compose-header-hint = Um texto de no máximo 60 caracteres, ou o endereço público do arquivo. Pode ficar vazio.
compose-footer = Rodapé
compose-catalog = Catálogo
compose-catalog-hint = O id do catálogo que pertence à conta comercial.
compose-product = Produto
compose-product-hint = O id do produto no catálogo.
compose-products = Produtos
compose-products-hint = Os ids no catálogo, um por linha, no máximo trinta. Uma linha com dois-pontos no fim começa uma seção: Vinhos:
compose-pace-hint = A mensagem sai logo, quando for a vez do telefone. Telefones vinculados escrevem devagar, como uma pessoa, para que o WhatsApp não bloqueie o número.
compose-pace-left = restam { $count }
compose-pace-next = próxima às
compose-web-one = Um telefone vinculado envia uma mensagem para uma pessoa ou um grupo. Para escrever a muitas pessoas, envie por uma conta comercial.
compose-web-to = Enviar para
compose-web-person = Uma pessoa
compose-web-group = Um grupo
compose-web-number = Número
compose-web-number-hint = Com o código do país, como +55 11 98888-7777
compose-web-group-id = Id do grupo
compose-web-group-hint = Como o WhatsApp Web o chama, por exemplo 120363025246125016@g.us. O telefone precisa estar no grupo.
compose-web-to-person = Vai para
compose-web-to-group = Vai para o grupo
compose-web-at-once = Sai na hora.
compose-web-turn = A vez dela é às
compose-web-file = Arquivo:
compose-web-size = { $kilobytes } kB
compose-web-plays = { $seconds } s de duração
compose-web-voice = como mensagem de voz
compose-fault-web-type = Um telefone vinculado envia textos e arquivos. Escolha outro tipo ou uma conta comercial.
compose-fault-number = Informe um número com o código do país.
compose-fault-group = Informe o id do grupo, como 120363025246125016@g.us.
compose-fault-not-there = Este número não está no WhatsApp. Confira, inclusive o código do país.
compose-fault-session = O telefone está sem conexão com o WhatsApp agora. Tente de novo em um minuto ou veja o canal.
compose-fault-link-inner = Este endereço não leva à internet aberta. Informe um endereço público.
compose-fault-file = Não há um arquivo assim neste endereço, ou ele não é deste tipo.
compose-fault-file-large = Este arquivo é maior do que o WhatsApp aceita.
compose-fault-too-soon = O telefone já enviou o quanto pode por enquanto. Tente de novo em { $seconds } segundos.
compose-fault-away = Isso não funciona no momento. Nada foi enviado. Tente de novo em um minuto.
compose-fault-under-way = Esta mensagem está sendo enviada agora. Veja a lista de envios.
compose-fault-other-before = Este formulário já foi enviado com outro conteúdo. Veja a lista de envios ou comece um novo.
compose-contact-fields = Um valor de cada destinatário
compose-contact-fields-hint = Coloque um destes em um valor, e cada um recebe o que você sabe dele como contato. Depois de uma barra fica o texto para quem não o tem. Sem esse texto, quem não o tem não recebe mensagem.
compose-contact-name = Nome e sobrenome
compose-contact-number = Número de telefone
compose-fault-contact-field = Duas chaves começam um valor de cada destinatário. Copie um da lista abaixo destes campos.
compose-preview-made-up = Com valores inventados, porque ninguém foi escolhido ainda.
compose-preview-first = Como o primeiro destinatário a recebe:
compose-preview-stranger = Como a recebe o primeiro destinatário, que não é um contato:
compose-counting = São muitos destinatários, e eles ainda estão sendo contados. Nada foi enviado. Pressione Verificar de novo em alguns segundos.
compose-preview-literal = O texto entre chaves duplas é enviado como está. Para preencher valores de cada destinatário, use um modelo.
compose-fault-past = Este horário já passou. Informe um posterior ou comece agora.
compose-forgotten = Este formulário não está mais guardado: um formulário verificado é guardado por um dia. Preencha-o de novo.
compose-find-tag = Buscar uma etiqueta
compose-find-tags-button = Buscar etiquetas
compose-no-tag = Nenhuma etiqueta corresponde.
compose-more-tags = Há { $count } etiquetas. Sem uma busca, a lista mostra as mais novas.
compose-template-not-now = este modelo não pode ser enviado agora. O estado dele:
compose-to-template = Ver o modelo
compose-fault-choose-other = Escolha outro modelo.
compose-name = Nome
compose-name-hint = Para você e seus colegas; os destinatários não o veem. Vazio: feito da mensagem e dos destinatários.
compose-name-more-tags = { $tags } e { $more ->
    [1] mais 1 etiqueta
   *[other] mais { $more } etiquetas
}
compose-name-tags-numbers = { $what } para { $tags }, { $count ->
    [1] 1 número
   *[other] { $count } números
}
compose-fault-name = Dê um nome de no máximo 100 caracteres em uma linha.
compose-steps = Etapas
compose-back = Voltar
compose-use = Escolher
compose-show = Mostrar
compose-count = Contar
compose-leave-out = Deixar pessoas de fora
compose-without = Sem as pessoas que têm uma destas etiquetas
compose-reach-nobody = Ninguém foi escolhido ainda.
compose-reach-counting = Estão sendo contadas. Pressione Contar em alguns segundos.
compose-reach = { $count ->
    [1] 1 pessoa
   *[other] { $count } pessoas
}
compose-reach-opted-out = { $count ->
    [1] 1 pessoa pediu para não receber mensagens e não recebe nada.
   *[other] { $count } pessoas pediram para não receber mensagens e não recebem nada.
}
compose-reach-others = { $count ->
    [1] 1 entrada fica de fora, por uma etiqueta ou porque não é um número válido.
   *[other] { $count } entradas ficam de fora, por uma etiqueta ou porque não são números válidos.
}
compose-more-templates = { $count ->
    [1] 1 modelo
   *[other] { $count } modelos. Os mais novos são mostrados; uma busca encontra os outros.
}
compose-find-template = Buscar um modelo
compose-template-not-found = Nenhum modelo corresponde.
compose-other-template = Escolher outro
compose-example = Por exemplo: { $value }
compose-window = Sem um modelo, esta mensagem chega só a quem escreveu para você nas últimas 24 horas. O WhatsApp a recusa para os outros.
compose-file-anyway = O WhatsApp busca o arquivo por conta própria quando a mensagem sai. Ela pode ser enviada, mas provavelmente falhará.
compose-file-slow = O arquivo não chegou a tempo.
compose-start = Início
compose-now = Agora
compose-later = Em um horário
compose-fault-without = Uma etiqueta a deixar de fora não existe mais. Veja a lista de novo.
