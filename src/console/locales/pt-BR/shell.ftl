shell-skip = Ir para o conteúdo
shell-navigation = Navegação principal
shell-overview = Visão geral
shell-sends = Envios
shell-contacts = Contatos
shell-templates = Modelos
shell-channels = Canais
shell-suppressions = Bloqueios
shell-keys = Chaves de API
shell-company = Empresa
shell-operation = Operação
shell-operator = Todas as empresas
shell-tiers = Planos
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
    [one] 1 registro
   *[other] { $total } registros
})
shell-chart = agora { $now }, no máximo { $highest } { $unit }
shell-chart-limit = Tracejado: o limite, { $limit } { $unit }
