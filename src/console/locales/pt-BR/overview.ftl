overview-title = Visão geral
overview-pace = Ritmo agora
overview-unit = mensagens por segundo
overview-queue = Aguardando envio
overview-queue-of = em { $sends ->
    [1] 1 envio
   *[other] { $sends } envios
}
overview-oldest = Envio mais antigo em espera
overview-channels = Canais
overview-add-channel = Adicionar um canal
overview-hour = A última hora
overview-sends = Envios em andamento
overview-send = Envio
overview-recipients = Destinatários
overview-waits = Situação
overview-goes = saindo
overview-no-sends = Nada em andamento.
overview-new-send = Novo envio
overview-failures = Falhas de hoje
overview-cause = Causa
overview-messages = Mensagens
overview-since = Contado desde o início do serviço:
overview-no-failures = Nenhuma mensagem falhou.
overview-no-channels = Boas-vindas. Antes de enviar algo, esta empresa precisa de um canal: o número de onde as mensagens saem.
