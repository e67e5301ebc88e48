contacts-title = Contatos
contacts-search = Buscar contatos
contacts-find = Buscar
contacts-new = Novo contato
contacts-add = Adicionar contato
contacts-import = Importar um arquivo
contacts-export = Baixar como CSV
contacts-tags = Etiquetas
contacts-tags-hint = Separadas por ponto e vírgula. Um nome novo vira uma etiqueta nova.
contacts-name = Nome
contacts-first-name = Nome
contacts-last-name = Sobrenome
contacts-number = Telefone
contacts-number-hint = Com o código do país, como +55 11 98888-7777.
contacts-number-taken = Outro contato tem esse número. Altere aquele ou mescle os dois.
contacts-number-wrong = Este não é um número internacional: ele tem de 7 a 15 dígitos e começa com o código do país.
contacts-nameless = Um contato precisa de um telefone ou de um e-mail.
contacts-email = E-mail
contacts-lid = ID do WhatsApp
contacts-picture = Endereço de uma foto
contacts-since = Adicionado
contacts-changed = alterado
contacts-save = Salvar
contacts-saved = O contato foi salvo.
contacts-added = O contato foi adicionado.
contacts-merged = Os contatos foram mesclados.
contacts-doubles = Talvez a mesma pessoa
contacts-doubles-hint = Estes contatos têm o mesmo número ou o mesmo e-mail.
contacts-merge = Mesclar neste contato
contacts-merge-question = Este contato mantém o que tem, recebe o resto e todas as etiquetas dos outros, e os outros são excluídos.
contacts-nothing-found = Nenhum contato corresponde a esta busca.
contacts-none-tagged = Nenhum contato tem esta etiqueta.
contacts-nobody = Ainda não há contatos. Importe um arquivo ou adicione o primeiro.
contacts-total = { $count ->
    [1] 1 contato
   *[other] { $count } contatos
}
contacts-pick = Selecionar { $name }
contacts-do = Com estes contatos
contacts-scope-picked = Os selecionados
contacts-scope-found = { $count ->
    [1] O único encontrado
   *[other] Todos os { $count } encontrados
}
contacts-scope-tagged = { $count ->
    [1] O único contato com esta etiqueta
   *[other] Todos os { $count } contatos com esta etiqueta
}
contacts-scope-everybody = { $count ->
    [1] O único contato
   *[other] Todos os { $count } contatos
}
contacts-none-picked = Selecione pelo menos um contato ou escolha todos.
contacts-tag = Etiqueta
contacts-tag-name-wrong = O nome de uma etiqueta não tem ponto e vírgula nem quebra de linha, e tem no máximo 100 caracteres.
contacts-tag-unknown = Não há etiqueta com esse nome.
contacts-do-tag = Colocar etiqueta
contacts-do-untag = Tirar etiqueta
contacts-do-delete = Excluir
contacts-tagged = { $count ->
    [1] 1 contato recebeu a etiqueta.
   *[other] { $count } contatos receberam a etiqueta.
}
contacts-untagged = { $count ->
    [1] A etiqueta foi tirada de 1 contato.
   *[other] A etiqueta foi tirada de { $count } contatos.
}
contacts-deleted = { $count ->
    [1] 1 contato foi excluído.
   *[other] { $count } contatos foram excluídos.
}
contacts-goes-on = São muitos contatos: a alteração continua, mesmo que você saia desta página.
contacts-delete-title = Excluir contatos
contacts-delete-question = { $count ->
    [1] 1 contato será excluído. Isso não pode ser desfeito.
   *[other] { $count } contatos serão excluídos. Isso não pode ser desfeito.
}
contacts-delete-sure = { $count ->
    [1] Sim: excluir 1 contato
   *[other] Sim: excluir { $count } contatos
}
contacts-erase = Apagar conversas
contacts-erase-question = { $count ->
    [1] Tudo o que há na conversa com esta pessoa será apagado, com arquivos e notas, para todos. O contato permanece. Não é possível desfazer.
   *[other] Tudo o que há nas { $count } conversas com esta pessoa será apagado, com arquivos e notas, para todos. O contato permanece. Não é possível desfazer.
}
contacts-erased = As conversas com esta pessoa foram apagadas.
contacts-back = Voltar aos contatos
contacts-show-all = Mostrar todos os contatos
contacts-lid-wrong = Uma planilha arredondou este ID do WhatsApp. Informe o ID completo ou deixe o campo vazio.
contacts-by-tags = Filtrar por etiquetas
contacts-having = Com todas estas etiquetas
contacts-lacking = Com nenhuma destas etiquetas
contacts-show = Mostrar
contacts-own-fields = Campos
contacts-by-fields = Filtrar por campos
contacts-own-field = Campo
contacts-own-none = Escolha um campo
contacts-own-test = Condição
contacts-own-value = Valor
contacts-own-value-hint = Uma data como 2026-01-31, um número como 12.5 ou um texto inteiro.
contacts-own-is = é
contacts-own-not = não é
contacts-own-least = é no mínimo
contacts-own-most = é no máximo
contacts-own-known = tem algum valor
contacts-own-unknown = não tem valor
contacts-own-order = Textos não têm ordem. Escolha outra condição.
contacts-own-many = Uma lista tem no máximo { $most } condições. Remova uma primeiro.
contacts-in-use = Em uso agora; escolha um para remover
contacts-with = Com { $tag }
contacts-without = Sem { $tag }
contacts-tag-open = Alterar esta etiqueta
contacts-scope-page = { $count ->
    [1] O único desta página
   *[other] Todos os { $count } desta página
}
contacts-selected = Selecionados: { $count }
contacts-do-send = Enviar mensagem a eles
contacts-do-export = Baixar
contacts-send-by-tag = Um envio vai para pessoas com uma etiqueta, para um segmento, ou para até 100 pessoas. Salve primeiro esta lista como segmento, ou coloque uma etiqueta nestes contatos, e depois faça o envio.
contacts-write = Enviar uma mensagem
contacts-more-fields = ID do WhatsApp e foto
contacts-details = Detalhes
contacts-outdated = Outra pessoa alterou este contato enquanto você o editava, por isso nada foi salvo. Isto é o que está salvo agora. Se você salvar de novo, isto será substituído pelo que você digitou.
contacts-empty-now = vazio
contacts-consent = Bloqueio de envio
contacts-consent-nowhere = Este contato não tem um telefone que possa receber mensagens.
contacts-consent-all = Recebe todas as mensagens
contacts-consent-none = Não recebe
contacts-opt-out = Bloquear envios
contacts-opt-out-question = Seus envios deixam este contato de fora a partir de agora, até que alguém aqui libere o contato de novo.
contacts-opt-in = Liberar envios de novo
contacts-opt-in-question = Este contato recebe mensagens de novo. Faça isso somente se a pessoa pediu.
contacts-messages = Últimas mensagens
contacts-no-messages = Nenhuma mensagem foi enviada a este contato ainda.
contacts-by-send = Filtrar por um envio
contacts-send = Envio
contacts-any-send = Qualquer um
contacts-outcome = Resultado
contacts-notes = Notas
contacts-no-notes = Ainda não há notas sobre este contato.
contacts-note = Nota
contacts-note-new = Nova nota
contacts-note-add = Adicionar nota
contacts-note-added = A nota foi adicionada.
contacts-note-change = Alterar a nota
contacts-note-changed = A nota foi alterada.
contacts-note-delete = Excluir nota
contacts-note-delete-question = A nota é excluída para todos. Isso não pode ser desfeito.
contacts-note-deleted = A nota foi excluída.
contacts-notes-full = Este contato tem { $most } notas. Exclua uma de que ninguém precise.
