tags-title = Etiquetas
tags-search = Buscar etiquetas
tags-find = Buscar
tags-name = Nome
tags-contacts = Contatos
tags-since = Adicionada
tags-none = Ainda não há uma etiqueta assim.
tags-new = Nova etiqueta
tags-create = Criar etiqueta
tags-created = A etiqueta foi criada.
tags-send = Enviar para estes contatos
tags-save = Salvar
tags-saved = A etiqueta foi salva. Seus contatos são encontrados pelo novo nome em instantes.
tags-delete = Excluir etiqueta
tags-deleted = A etiqueta foi excluída. Os contatos permanecem.
tags-delete-question = A etiqueta é tirada de todos os seus contatos, que permanecem. Isso não pode ser desfeito.
tags-color = Cor
tags-color-hint = As páginas mostram a mais próxima de cinco cores fáceis de ler, no claro e no escuro.
tags-color-wrong = Informe uma cor como #22aa66.
tags-name-taken = Outra etiqueta tem esse nome.
tags-name-wrong = O nome de uma etiqueta não tem ponto e vírgula nem quebra de linha.
tags-count = { $count ->
    [1] 1 contato tem esta etiqueta
   *[other] { $count } contatos têm esta etiqueta
}
tags-all = Todas as etiquetas
tags-back = Voltar aos contatos
tags-first = Ainda não há etiquetas. Uma etiqueta reúne contatos, para que um envio alcance todos eles.
tags-first-hint = Crie uma aqui, ou informe etiquetas ao importar contatos.
tags-show-all = Mostrar todas as etiquetas
