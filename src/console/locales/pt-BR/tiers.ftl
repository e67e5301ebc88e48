tiers-title = Planos
tiers-one = Plano { $name }
tiers-none = Não há planos.
tiers-name = Plano
tiers-kind = Para
tiers-business = contas comerciais
tiers-web = sessões web
tiers-pace = Mensagens por segundo
tiers-pace-hint = Por exemplo 80/s, 10/min ou unlimited.
tiers-changed = Alterado
tiers-burst = De uma vez após uma pausa
tiers-pair-interval = Distância entre mensagens a uma pessoa
tiers-pair-burst = De uma vez a uma pessoa
tiers-quota = Pessoas alcançadas por modelos em 24 horas
tiers-requests = Requisições de API de uma empresa
tiers-unknown = Quando o resultado é desconhecido
tiers-jitter = Tempo aleatório entre mensagens
tiers-daily-cap = Mensagens em 24 horas
tiers-warm-up = Limites dos primeiros dias
tiers-quiet-hours = Horário de silêncio
tiers-quiet-hours-hint = Os envios com vários destinatários descansam nestas horas, por exemplo 21:00-08:00 America/Sao_Paulo.
tiers-cold = Pessoas novas em 24 horas
tiers-description = Descrição
tiers-check = Mostrar o que muda
tiers-would-change = O que muda
tiers-nothing = Nada: o plano já é assim.
tiers-apply = Aplicar
tiers-applied = O plano { $name } foi alterado. Os canais seguem em um segundo.
tiers-option = Opção
tiers-options = Opções
tiers-effect = Envios em andamento
tiers-no-effect = Nenhum envio em massa corre neste plano agora.
tiers-left = Restam
tiers-end-before = Fim como está
tiers-end-after = Fim depois
tiers-history = Histórico
tiers-no-history = Ninguém o alterou ainda.
tiers-as-file = Como arquivo
tiers-go-back = Voltar a isto
tiers-use = Uso
tiers-used = { $channels ->
    [1] Um canal
   *[other] { $channels } canais
} e { $companies ->
    [1] uma empresa
   *[other] { $companies } empresas
} usam este plano.
tiers-new-name = Novo nome
tiers-new-name-hint = De 1 a 40 letras minúsculas, algarismos e hifens. Os canais e as empresas acompanham.
tiers-rename = Renomear
tiers-renamed = O plano agora se chama { $name }.
tiers-name-taken = Outro plano tem este nome: escolha outro.
tiers-name-invalid = O nome de um plano tem de 1 a 40 letras minúsculas, algarismos e hifens.
tiers-delete = Excluir o plano
tiers-delete-question = Ninguém usa o plano { $name }. O histórico fica, e a linha de comando pode trazê-lo de volta.
tiers-deleted = O plano { $name } foi excluído.
tiers-what-if = E se cada plano tivesse outras opções?
tiers-what-if-hint = Por exemplo messages_per_second=60/s. Nada é alterado.
tiers-what-if-show = Mostrar o efeito
tiers-unknown-resend = Enviar de novo: algumas pessoas podem receber duas vezes
tiers-unknown-hold = Não enviar de novo: algumas pessoas podem não receber
