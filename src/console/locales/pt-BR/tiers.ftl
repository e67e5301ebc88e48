tiers-title = Planos
tiers-one = Plano { $name }
tiers-none = Não há planos.
tiers-name = Plano
tiers-kind = Para
tiers-business = contas comerciais
tiers-web = sessões web
tiers-pace = Mensagens no máximo
tiers-pace-hint = De 1 a 1.000.000. O nível da Meta para o número vale se for menor.
tiers-span = Em
tiers-span-second = um segundo
tiers-span-minute = um minuto
tiers-span-hour = uma hora
tiers-span-day = um dia
tiers-span-unlimited = sem limite
tiers-each-second = { $count } por segundo
tiers-each-minute = { $count } por minuto
tiers-each-hour = { $count } por hora
tiers-each-day = { $count } por dia
tiers-seconds = { $seconds ->
    [1] 1 segundo
   *[other] { $seconds } segundos
}
tiers-usual = como de costume
tiers-other-value = Outro valor: { $option }
tiers-changed = Alterado
tiers-burst = Mensagens de uma vez após uma pausa
tiers-burst-hint = De 1 a 1.000.000. Em branco: um por cento das mensagens por segundo, no mínimo 1.
tiers-pair-interval = Segundos entre mensagens a uma pessoa
tiers-pair-interval-hint = De 0, que o desliga, a 86.400. Em branco: 6, como a Meta quer.
tiers-pair-burst = Mensagens de uma vez a uma pessoa
tiers-pair-burst-hint = São tiradas dos intervalos seguintes. No máximo 1.000.000. Em branco: 10.
tiers-quota = Pessoas alcançadas por modelos em 24 horas
tiers-quota-hint = Um número inteiro a partir de 1. Em branco: sem limite.
tiers-requests = Requisições de API de uma empresa
tiers-requests-hint = De 1 a 1.000.000, de todas as chaves juntas. As demais são recusadas até mais tarde.
tiers-unknown = Quando o resultado é desconhecido
tiers-jitter = Segundos aleatórios entre mensagens
tiers-jitter-hint = Até tantos são somados a cada vez: de 0 a 86.400. Em branco: nenhum.
tiers-daily-cap = Mensagens em 24 horas
tiers-warm-up = Máximo em cada um dos primeiros dias
tiers-warm-up-hint = Um número para cada dia, como 20, 40, 80, que sobe e fica dentro do limite de 24 horas. Em branco: nenhum.
tiers-quiet-hours = Horário de silêncio
tiers-quiet-hours-hint = Os envios com vários destinatários descansam nestas horas. Em branco: nunca descansam.
tiers-quiet-from = De
tiers-quiet-to = Até
tiers-quiet-zone = Pelos relógios de
tiers-fault-rate = Escreva um número inteiro de 1 a 1.000.000 e escolha um espaço de tempo, ou escolha “sem limite”.
tiers-fault-count = Escreva um número inteiro de 1 a 1.000.000.
tiers-fault-seconds = Escreva um número de segundos de 0 a 86.400, que é um dia.
tiers-fault-quota = Escreva um número inteiro a partir de 1, ou deixe em branco para não haver limite.
tiers-fault-days = Escreva um número a partir de 1 para cada dia, com vírgulas entre eles. Eles sobem e ficam dentro do limite de 24 horas.
tiers-fault-hours = Dê dois horários diferentes e uma cidade, ou deixe os três em branco.
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
tiers-what-if = E se cada plano tivesse outros valores?
tiers-what-if-hint = Valores para experimentar. Nada é alterado.
tiers-what-if-show = Mostrar o efeito
tiers-what-if-none = Nenhum plano pode ter estes valores juntos.
tiers-unknown-resend = Enviar de novo: algumas pessoas podem receber duas vezes
tiers-unknown-hold = Não enviar de novo: algumas pessoas podem não receber
