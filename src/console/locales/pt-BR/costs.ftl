costs-title = Custos
costs-hint = O que custam as mensagens que chegaram por contas comerciais, pelos preços publicados pela Meta. É uma estimativa e não a fatura da Meta. Mensagens por telefones vinculados não custam nada lá.
costs-months = Meses
costs-none = Neste mês não chegou nenhuma mensagem faturada.
costs-none-hint = A Meta diz como fatura uma mensagem quando a mensagem chega. Faltam as mensagens de antes desta contagem. Os meses são em UTC.
costs-amount = Valor
costs-messages = Mensagens
costs-charged = Mensagens cobradas
costs-unpriced = { $count ->
    [1] De 1 mensagem não se conhece o preço; ela não está no valor.
   *[other] De { $count } mensagens não se conhece o preço; elas não estão no valor.
}
costs-prices-of = Pelos preços a partir de { $day }. A Meta pode cobrar menos por volume. Os meses são em UTC.
costs-no-card = Não se conhecem preços deste mês.
costs-by-channel = Por canal
costs-by-category = Por categoria
costs-by-country = Por país
costs-file = Baixar como CSV
costs-all-channels = Todos os canais
costs-removed-channel = Um canal removido
costs-what = O quê
costs-country = País
costs-price = Preço
costs-no-price = desconhecido
costs-no-country = País desconhecido
costs-marketing = Marketing
costs-utility = Utilidade
costs-authentication = Autenticação
costs-authentication-international = Autenticação do exterior
costs-service = Serviço
costs-other = Outra
costs-about = Custo estimado: { $amount }
costs-at-most = Custo estimado: no máximo { $amount }
costs-basis = Pelos preços publicados pela Meta a partir de { $day }, categoria { $category }. É uma estimativa e não a fatura da Meta: só são cobradas as mensagens que chegam, algumas são grátis depois que uma pessoa escreveu, e os preços podem cair com o volume.
costs-free-service = A Meta não cobra as primeiras 1.000 mensagens sem modelo de um número em cada mês.
costs-from-abroad = Em alguns países, a Meta tem um preço mais alto para mensagens de autenticação de empresas do exterior.
costs-send = Custo
costs-so-far = Até agora: { $amount }
costs-arrived = { $count ->
    [1] 1 mensagem chegou e é faturada
   *[other] { $count } mensagens chegaram e são faturadas
}, { $free } delas grátis
costs-nothing-yet = A Meta ainda não disse como fatura uma mensagem deste envio.
