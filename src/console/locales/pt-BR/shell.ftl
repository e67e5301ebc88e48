shell-skip = Ir para o conteúdo
shell-navigation = Navegação principal
shell-overview = Visão geral
shell-inbox = Caixa de entrada
shell-unread = não lidas
shell-sends = Envios
shell-contacts = Contatos
shell-templates = Modelos
shell-media = Mídia
shell-channels = Canais
shell-suppressions = Bloqueios
shell-keys = Chaves de API
shell-replies = Respostas rápidas
shell-automatic = Respostas automáticas
shell-programs = Programas
shell-webhooks = Webhooks
shell-costs = Custos
shell-company = Empresa
shell-operation = Operação
shell-operator = Todas as empresas
shell-nodes = Nós
shell-tiers = Planos
shell-prices = Preços
shell-changes = Alterações
shell-account = Sua conta
shell-company-change = Escolher outra empresa
shell-company-none = Escolher uma empresa
shell-sign-out = Sair
shell-language = Idioma
shell-reference = Referência da API
shell-copy = Copiar
shell-copy-what = Copiar { $what }
shell-copied = Copiado
shell-uploading = Enviando arquivo
shell-id = ID
shell-confirm = Sim: { $what }
shell-pages = Páginas
shell-page-first = Primeira
shell-page-before = Anterior
shell-page-next = Próxima
shell-page-last = Última
shell-page-of = Página { $page } de { $pages } ({ $total ->
    [1] 1 registro
   *[other] { $total } registros
})
shell-chart = agora { $now }, maior valor { $highest } { $unit }
shell-chart-over = maior valor { $highest } { $unit }
shell-chart-limit = Tracejado: o limite, { $limit } { $unit }
shell-status-connected = conectado
shell-status-connecting = conectando
shell-status-disconnected = desconectado
shell-status-blocked = bloqueado
shell-status-pairing = sem pareamento
shell-close = Fechar
shell-explain = O que significa “{ $what }”?
shell-help = O que significa
shell-in-english = Detalhes (em inglês)
shell-until = até { $time }
shell-any-moment = a qualquer momento
shell-in-seconds = { $count ->
    [1] em 1 segundo
   *[other] em { $count } segundos
}
shell-in-minutes = { $count ->
    [1] em 1 minuto
   *[other] em { $count } minutos
}
shell-in-hours = { $count ->
    [1] em 1 hora
   *[other] em { $count } horas
}
shell-in-days = { $count ->
    [1] em 1 dia
   *[other] em { $count } dias
}
shell-unsent-title = Ainda não enviado
shell-unsent-why = Sua sessão terminou, então nada foi enviado nem salvo. O que você digitou fica nesta página: entre na sua conta em outra aba, volte e envie o formulário de novo.
shell-unsent-sign-in = Entrar na conta em outra aba
shell-unsent-again = Enviar o formulário de novo
shell-no-country = Não definido
shell-number-meant = A qual número você se refere?
shell-number-unsure = Sem +, os mesmos dígitos podem ser um número de outro país. Escolha o número a que você se refere, ou escreva-o com + e o código do país.
shell-number-none = não é um número internacional
shell-number-national = No seu país, seria { $number }: se você se refere a esse número, escreva-o assim.
shell-settings = Configurações
shell-members = Membros
shell-more = Mais
shell-account-menu = Menu da conta:
shell-welcome = Mensagens para os seus clientes no WhatsApp, de um serviço que a sua própria empresa opera.
shell-filters = Filtros
shell-number-read = Lido como { $number }
shell-users = Usuários
