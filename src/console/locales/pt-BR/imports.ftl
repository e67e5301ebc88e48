imports-title = Importar contatos
imports-hint = Um arquivo do Excel (.xlsx) ou CSV cuja primeira linha dá nome às colunas: de uma planilha, ou uma exportação do Google Contatos, do Outlook, do HubSpot ou deste console. Você vê os contatos resultantes antes de importar qualquer coisa.
imports-file = Arquivo
imports-import = Importar
imports-tags = Etiquetas para todos os contatos do arquivo
imports-tags-hint = Separadas por ponto e vírgula. Pode ficar vazio.
imports-tag-wrong = O nome de uma etiqueta tem no máximo 100 caracteres e nenhuma quebra de linha.
imports-tags-too-many = Um contato recebe no máximo { $most } etiquetas de uma vez.
imports-no-file = Escolha um arquivo.
imports-too-many = Já há { $most } arquivos que ainda não foram importados. Termine ou descarte um deles antes.
imports-too-large = O arquivo tem mais de { $most } MB, o máximo que este serviço aceita. Divida-o.
imports-broken = O envio do arquivo foi interrompido. Verifique a conexão e envie o arquivo de novo.
imports-wrong-file = Este arquivo não pode ser importado: { $said }
imports-too-many-columns = O arquivo tem mais de { $most } colunas. Retire as colunas que não fazem parte de um contato.
imports-before = Importações
imports-state = Estado
imports-rows = Linhas
imports-created = Criados
imports-updated = Atualizados
imports-unchanged = Sem alteração
imports-rejected = Rejeitadas
imports-numberless = Sem número válido
imports-when = Enviado
imports-started = Início
imports-ended = Fim
imports-back = Voltar aos contatos
imports-see-contacts = Ver os contatos
imports-no-number = Nenhuma coluna contém números de telefone. Os contatos são importados, mas não é possível enviar mensagens a eles.
imports-all = Todas as importações
imports-columns = As colunas do arquivo
imports-column = Coluna
imports-holds = Contém
imports-holds-what = O que { $column } contém
imports-example = Exemplo
imports-encoding = Codificação
imports-encoding-hint = Altere se as letras com acento aparecerem erradas abaixo.
imports-check = Verificar de novo
imports-discard = Descartar o arquivo
imports-mapping-needed = Diga qual coluna contém o telefone ou o e-mail.
imports-mapping-wrong = O que foi dito das colunas não combina com o arquivo nesta codificação.
imports-more-columns = São mostradas só as primeiras { $count } colunas; as outras são importadas pelos seus nomes.
imports-outlook = O que vai acontecer
imports-outlook-all = { $count ->
    [1] Da única linha:
   *[other] De todas as { $count } linhas:
}
imports-outlook-first = { $count ->
    [1] Da primeira linha:
   *[other] Das primeiras { $count } linhas:
}
imports-would-create = { $count ->
    [1] 1 contato novo
   *[other] { $count } contatos novos
}
imports-would-update = { $count ->
    [1] 1 contato conhecido é atualizado
   *[other] { $count } contatos conhecidos são atualizados
}
imports-would-keep = { $count ->
    [1] 1 contato conhecido fica como está
   *[other] { $count } contatos conhecidos ficam como estão
}
imports-would-reject = { $count ->
    [1] 1 linha é rejeitada
   *[other] { $count } linhas são rejeitadas
}
imports-line = Linha { $line }
imports-cancel = Parar a importação
imports-cancel-question = As linhas já importadas ficam; as outras não são importadas.
imports-progress = Andamento
imports-percent = { $percent } % lidos
imports-goes-on = A importação continua quando você fecha esta página.
imports-download = { $count ->
    [1] Baixar a linha rejeitada
   *[other] Baixar { $count } linhas rejeitadas
}
imports-state-uploading = Enviando
imports-state-ready = Espera por você
imports-state-running = Em andamento
imports-state-finished = Concluída
imports-state-failed = Falhou
imports-state-canceled = Parada
imports-field-first-name = Nome
imports-field-last-name = Sobrenome
imports-field-name = Nome completo
imports-field-email = E-mail
imports-field-number = Telefone
imports-field-lid = ID do WhatsApp
imports-field-picture = Endereço de uma foto
imports-field-tags = Etiquetas
imports-field-ignored = Nada: deixar de fora
imports-csv-line = linha
imports-csv-reason = motivo
imports-reject-field-count = A linha tem { $found } campos, e o cabeçalho tem { $wanted }
imports-reject-nul = { $field }: contém um caractere NUL
imports-reject-too-long = { $field }: tem mais de { $most } caracteres
imports-reject-too-many-tags = Tem mais de 100 etiquetas
imports-reject-picture = O endereço da foto não começa com https:// nem http://
imports-reject-nobody = Não tem telefone nem e-mail que identifique o contato
imports-reject-no-digits = O telefone não tem dígitos, e não há e-mail que identifique o contato
imports-reject-number-short = O telefone tem menos de 7 dígitos, e não há e-mail que identifique o contato
imports-reject-number-long = O telefone tem mais de 15 dígitos, e não há e-mail que identifique o contato
imports-reject-zero = O telefone começa com 0 em vez do código do país, e não há e-mail que identifique o contato
imports-reject-national = O telefone parece nacional: falta o código do país
imports-reject-lid = No lugar do telefone há um ID do WhatsApp, que esconde o número
imports-reject-id = No lugar do telefone há um ID do WhatsApp que não é o número de uma pessoa
imports-reject-address = No lugar do telefone há um e-mail
imports-reject-extension = O telefone tem um ramal
imports-reject-several = Há mais de um telefone no campo
imports-reject-date = No lugar do telefone há uma data
imports-reject-letters = O telefone tem letras entre os dígitos
imports-reject-unclear = O telefone tem entre os dígitos caracteres que não são separadores
imports-reject-rounded = Uma planilha arredondou o telefone para { $number }: formate a coluna como texto e salve de novo
imports-reject-stray-quote = Há aspas dentro de um campo: um campo com aspas deve estar entre aspas, e cada uma delas duplicada
imports-reject-unclosed-quote = Aspas são abertas aqui e nunca fechadas corretamente
imports-reject-line = A linha tem mais de 256 KiB
imports-country-missing = Escolha o país dos números.
imports-names-kept = Nomes bons mantidos
imports-field-middle-name = Nome do meio
imports-field-organization = Organização
imports-column-unnamed = Coluna { $place } (sem nome)
imports-column-repeated = { $name } (coluna { $place })
imports-numbers = Números sem +
imports-numbers-international = são internacionais: começam com o código do país
imports-numbers-national = estão escritos como se escrevem no país abaixo
imports-country = País dos números
imports-country-hint = Fica guardado para a empresa. Um número com + é sempre internacional.
imports-names = Nomes com letras que parecem erradas
imports-names-replace = Deixar que substituam os nomes bons dos contatos conhecidos
imports-wrong-bytes = { $count ->
    [1] O arquivo está em UTF-8, mas a linha { $line } tem um byte inválido. A linha é rejeitada se o byte está num campo do contato. Para mantê-la, corrija o arquivo e envie-o de novo.
   *[other] O arquivo está em UTF-8, mas { $count } bytes são inválidos, o primeiro na linha { $line }. As linhas deles são rejeitadas se os bytes estão em campos dos contatos. Para mantê-las, corrija o arquivo e envie-o de novo.
}
imports-look-national = { $count ->
    [1] 1 destas linhas tem um número que parece nacional. Se os números estão escritos como se escrevem neste país ({ $country }), escolha essa opção abaixo.
   *[other] { $count } destas linhas têm números que parecem nacionais. Se os números estão escritos como se escrevem neste país ({ $country }), escolha essa opção abaixo.
}
imports-look-garbled = { $count ->
    [1] 1 destas linhas tem um nome com letras que parecem erradas, e o contato tem um nome bom. O contato mantém o nome. Talvez o arquivo tenha outra codificação: escolha-a abaixo.
   *[other] { $count } destas linhas têm nomes com letras que parecem erradas, e os contatos têm nomes bons. Os contatos mantêm os nomes. Talvez o arquivo tenha outra codificação: escolha-a abaixo.
}
imports-vcard = Este é um arquivo vCard (.vcf). Importe-o em uma agenda que exporte CSV e envie o arquivo exportado: no Google Contatos, escolha Importar e depois Exportar como CSV do Google; no Outlook, Pessoas, Gerenciar contatos, Exportar.
imports-reject-wrong-byte = { $field }: tem um byte que não é válido na codificação do arquivo
imports-reject-lid-rounded = Uma planilha arredondou o ID do WhatsApp para { $lid }: formate a coluna como texto e salve de novo
imports-old-workbook = Este é um arquivo antigo do Excel (.xls) ou um com senha. Abra-o, remova a senha, salve-o como .xlsx ou “CSV UTF-8” e envie o arquivo salvo.
imports-open-document = Este é um arquivo OpenDocument (.ods). Abra-o, salve-o como .xlsx ou como CSV em UTF-8 e envie o arquivo salvo.
imports-numbers-file = Este é um arquivo do Numbers. Escolha Arquivo, Exportar para, Excel ou CSV e envie o arquivo exportado.
imports-binary-workbook = Este é um arquivo binário do Excel (.xlsb). Abra-o, salve-o como .xlsx ou “CSV UTF-8” e envie o arquivo salvo.
imports-archive = Este é um arquivo compactado (.zip) ou de outro programa. Descompacte-o, ou salve a tabela como .xlsx ou “CSV UTF-8”, e envie esse arquivo.
imports-damaged-workbook = Não é possível ler este arquivo do Excel: está incompleto ou danificado. Abra-o em uma planilha, salve-o de novo como .xlsx ou “CSV UTF-8” e envie o arquivo salvo.
imports-large-workbook = Este arquivo do Excel é grande demais para ser lido. Divida-o, ou salve a tabela como “CSV UTF-8”, e envie esse arquivo.
imports-no-sheet = Este arquivo do Excel não tem nenhuma planilha com células. Salve a tabela de contatos como .xlsx ou “CSV UTF-8” e envie esse arquivo.
imports-sheet = É lida a planilha “{ $name }”. O arquivo tem { $count } planilhas: se os seus contatos estão em outra, mova-a para o início, salve e envie o arquivo de novo.
imports-separator = Entre várias etiquetas em uma célula
imports-separator-hint = Um ponto e vírgula sempre separa etiquetas.
imports-separator-semicolon = só ponto e vírgula (;)
imports-separator-comma = também vírgulas (,)
imports-separator-bar = também barras (|)
imports-emails-left-out = Sem o e-mail errado
imports-would-leave-out = { $count ->
    [1] 1 contato sem o seu e-mail, que não é válido
   *[other] { $count } contatos sem os seus e-mails, que não são válidos
}
imports-contacts = Os primeiros contatos, como serão salvos
imports-no-contacts = Nenhuma das primeiras linhas é um contato. Veja as linhas com problemas.
imports-no-messages = sem número válido
imports-is-new = novo
imports-is-updated = é atualizado
imports-is-unchanged = fica como está
imports-given-tags = Etiquetas que estas linhas recebem
imports-tag-contacts = { $count ->
    [1] 1 contato
   *[other] { $count } contatos
}
imports-tag-new = nova
imports-more = e mais { $count }
imports-problems = Linhas com problemas
imports-row = Linha { $row }
imports-is-rejected = rejeitada
imports-is-without-email = sem e-mail
imports-wrong-email = “{ $address }” não é um endereço de e-mail. O contato é importado sem ele. Corrija o endereço no arquivo para mantê-lo.
imports-more-problems = { $count ->
    [1] Mais 1 destas linhas tem um problema. Depois da importação, você pode baixar todas as linhas rejeitadas.
   *[other] Mais { $count } destas linhas têm problemas. Depois da importação, você pode baixar todas as linhas rejeitadas.
}
imports-reject-wrong-address = “{ $address }” não é um endereço de e-mail, e não há número de telefone que identifique o contato
imports-do-save-again = Salve o arquivo de novo em uma planilha, como .xlsx ou “CSV UTF-8”.
imports-do-write-again = Escreva o texto de novo no arquivo ou escolha outra codificação acima.
imports-do-shorten = Encurte o texto.
imports-do-remove-tags = Remova algumas das etiquetas.
imports-do-picture = Corrija o endereço ou deixe a coluna de fora acima.
imports-do-identify = Acrescente um número de telefone ou um e-mail.
imports-do-address = Corrija o endereço ou acrescente um número de telefone.
imports-do-national = Escreva-o com + e o código do país ou escolha o país dos números acima.
imports-do-one-number = Deixe um só número na célula, com + e o código do país.
imports-do-number = Escreva o número com + e o código do país ou acrescente um e-mail.
imports-new-field = Novo campo: { $kind }
imports-reject-field-number = { $field }: “{ $cell }” não é um número.
imports-reject-field-thousand = { $field }: “{ $cell }” pode ser um milhar ou ter três decimais.
imports-reject-field-date = { $field }: “{ $cell }” não é uma data.
imports-reject-field-day = { $field }: em “{ $cell }” o dia ou o mês pode vir primeiro.
imports-do-field-number = Escreva o número sem separador de milhares, como 1234.5.
imports-do-field-date = Escreva a data como 2026-01-31, ou escolha acima o país dos números do arquivo: as datas dele são lidas do mesmo jeito.
