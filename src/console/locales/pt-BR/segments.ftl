segments-title = Segmentos
segments-hint = Os contatos que um segmento seleciona quando o envio é aceito.
segments-name = Nome do segmento
segments-name-wrong = O nome de um segmento tem no máximo 100 caracteres e nenhuma quebra de linha.
segments-name-taken = Outro segmento tem esse nome.
segments-full = Há { $most } segmentos. Exclua um de que ninguém precise.
segments-nothing = Esta lista não está filtrada, ou ninguém pode estar nela, por isso não é um segmento.
segments-save = Salvar esta lista como segmento
segments-save-new = Salvar segmento
segments-saved = O segmento foi salvo.
segments-open = Segmento aberto:
segments-replace = Substituir “{ $name }” por esta lista
segments-changed = O segmento foi alterado. Os envios aceitos antes mantêm seus destinatários.
segments-rename = Mudar o nome
segments-count = { $count ->
    [1] 1 contato está neste segmento agora
   *[other] { $count } contatos estão neste segmento agora
}
segments-send = Enviar para estes contatos
segments-delete = Excluir segmento
segments-delete-question = Os contatos permanecem, e também os destinatários dos envios aceitos antes. Isso não pode ser desfeito.
segments-deleted = O segmento foi excluído.
segments-lacks-tag = Este segmento cita uma etiqueta que foi excluída.
segments-lacks-send = Este segmento cita um envio cujos registros foram removidos.
segments-lacks-field = Este segmento cita um campo de contatos que foi excluído.
segments-unreadable = Uma versão posterior do Pombo salvou este segmento, e esta versão não consegue lê-lo.
segments-outdated = Até ser substituído, ninguém está nele.
