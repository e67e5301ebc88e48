alerts-title = Alertas por e-mail
alerts-what = O Pombo escreve para { $address } quando algo disto acontece. Ninguém verificou se este endereço chega a você: envie um e-mail de teste para si. Os e-mails são no idioma da sua conta, e em inglês enquanto ela não tiver um.
alerts-off = Nada é enviado: este serviço não tem servidor de e-mail. O operador configura mail.host, mail.from e server.public_url.
alerts-no-company = Você ainda não pertence a nenhuma empresa.
alerts-of = { $company }: avisar-me de
alerts-save = Salvar alertas
alerts-saved = A escolha foi salva.
alerts-test = Enviar-me um e-mail de teste
alerts-test-sent = O servidor de e-mail aceitou um e-mail de teste para { $address }. Respondeu: { $said }
alerts-test-failed = O e-mail de teste para { $address } não foi enviado: { $error }
alerts-test-again = O servidor de e-mail aceitou há pouco um e-mail de teste para { $address }. Procure-o lá, também entre os e-mails indesejados. Alguns minutos depois, outro pode ser enviado.
alerts-test-subject = Teste dos alertas
alerts-test-arrived = Os e-mails deste serviço chegam.
alerts-test-why = Você recebe isto porque pediu um e-mail de teste.
alerts-kind-channel = Canais que não podem enviar, e que voltam a enviar
alerts-kind-send = Envios a vários destinatários que terminaram
alerts-kind-quota = Limites de um dia quase ou totalmente esgotados
alerts-kind-key = Chaves de API que expiram em menos de uma semana
alerts-kind-template = Modelos pausados, rejeitados ou desativados
alerts-kind-webhook = Webhooks que foram parados, e que voltam a funcionar
alerts-about = O que acontece
alerts-people = Quem recebe um e-mail
alerts-events = Eventos para webhooks
alerts-nobody = Ninguém
alerts-more-people = { $count ->
    [one] e mais uma pessoa
   *[other] e mais { $count }
}
alerts-who = Cada pessoa escolhe em “Sua conta”. Os proprietários recebem tudo menos os fins de envios, até escolherem outra coisa.
alerts-choose = Escolher seus alertas
alerts-webhook = Um programa recebe o mesmo por um webhook que tenha estes eventos.
alerts-webhook-see = Ver os webhooks
alerts-hello = Olá { $name },
alerts-open = Abrir a página
alerts-why = Você recebe isto porque é avisado dos alertas de { $company }. Os horários são do fuso { $zone }.
alerts-change = Escolher quais alertas você recebe
alerts-several = { $count ->
    [one] um alerta
   *[other] { $count } alertas
}
alerts-more = { $count ->
    [one] Mais um assunto
   *[other] Mais { $count } assuntos
}
alerts-changes = { $count ->
    [one] Uma mudança desde { $since }
   *[other] { $count } mudanças desde { $since }
}
alerts-removed = (removido)
alerts-channel-disconnected = { $name } está desconectado
alerts-channel-blocked = { $name } está restrito pelo WhatsApp
alerts-channel-connected = { $name } está conectado de novo
alerts-do-channel = A fila dele é mantida. A página dele diz como reconectá-lo.
alerts-do-channel-blocked = A fila dele é mantida. Resolva com o WhatsApp; um token novo não ajuda.
alerts-do-channel-better = A fila dele continua sozinha. Não há nada a fazer.
alerts-send-finished = “{ $name }” terminou
alerts-send-canceled = “{ $name }” foi cancelado
alerts-send-expired = “{ $name }” expirou
alerts-recipients = Destinatários: { $count }
alerts-figures = Destinatários: { $recipients }. Enviadas: { $sent }, das quais entregues: { $delivered } e lidas: { $read }. Com falha: { $failed }. Não enviadas ou desconhecidas: { $others }.
alerts-do-send = Recibos ainda podem chegar. A página tem os números de agora e cada mensagem.
alerts-quota-low = { $name }: um limite está quase esgotado ({ $limit }): restam { $left } de { $most }
alerts-quota-used-up = { $name }: um limite se esgotou ({ $limit }): nada resta de { $most }
alerts-do-quota = O que o excede espera, e sai quando passam as 24 horas das mensagens anteriores. Um operador pode dar outro plano ao canal.
alerts-key-expiring = A chave de API “{ $name }” expira em { $at }
alerts-do-key = Crie outra chave e dê-a ao programa antes disso. Depois, as solicitações dele são recusadas.
alerts-template-paused = O WhatsApp pausou o modelo “{ $name }” ({ $language })
alerts-template-rejected = O WhatsApp rejeitou o modelo “{ $name }” ({ $language })
alerts-template-disabled = O WhatsApp desativou o modelo “{ $name }” ({ $language })
alerts-template-reason = O motivo nas palavras do WhatsApp: { $reason }
alerts-do-template = Os envios com ele esperam. Corrija o modelo no WhatsApp ou cancele os envios.
alerts-webhook-stopped = O webhook { $name } foi parado
alerts-webhook-recovered = O webhook { $name } voltou a funcionar
alerts-webhook-gone = O receptor respondeu que não quer mais eventos.
alerts-webhook-failing = Todas as tentativas de cinco dias falharam.
alerts-do-webhook = Os eventos dele esperam. Conserte o receptor e ative o webhook na página dele.
alerts-do-webhook-better = Ele recebe os eventos que esperavam. Não há nada a fazer.
