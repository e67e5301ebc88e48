fields-title = Campos dos contatos
fields-name = Nome
fields-kind = Contém
fields-kind-hint = Isto não pode ser alterado depois.
fields-kind-text = Texto
fields-kind-number = Número
fields-kind-date = Data
fields-in-templates = Em modelos
fields-first = Os contatos ainda não têm campos próprios. Um campo guarda algo que você sabe de cada contato, como a data de nascimento.
fields-first-hint = Crie um aqui, ou faça um de uma coluna quando importar um arquivo.
fields-new = Novo campo
fields-create = Criar campo
fields-created = O campo foi criado.
fields-save = Salvar
fields-saved = O campo foi salvo.
fields-delete = Excluir campo
fields-deleted = O campo foi excluído. Os contatos continuam.
fields-delete-question = { $count ->
    [0] Nenhum contato tem um valor deste campo. A exclusão não pode ser desfeita.
    [1] 1 contato tem um valor deste campo e perde o valor. As mensagens que ainda esperam são enviadas como a contatos sem valor. Isso não pode ser desfeito.
   *[other] { $count } contatos têm um valor deste campo e perdem o valor. As mensagens que ainda esperam são enviadas como a contatos sem valor. Isso não pode ser desfeito.
}
fields-count = { $count ->
    [1] 1 contato tem um valor
   *[other] { $count } contatos têm um valor
}
fields-name-taken = Outro campo tem este nome, ou todos os contatos têm um campo com este nome.
fields-name-wrong = O nome de um campo tem de 1 a { $most } caracteres e nenhuma quebra de linha.
fields-too-many = Há { $most } campos, e não pode haver mais. Exclua um primeiro.
fields-all = Todos os campos
fields-back = Voltar aos contatos
fields-text-wrong = Este texto tem um caractere que não pode ser guardado. Digite de novo.
fields-number-wrong = Informe um número de no máximo 15 dígitos, 12 antes do ponto e 6 depois.
fields-date-wrong = Informe uma data como 2026-01-31.
