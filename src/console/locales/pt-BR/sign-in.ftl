sign-in-title = Entrar
sign-in-email = E-mail
sign-in-password = Senha
sign-in-code = Código
sign-in-code-hint = Os seis dígitos que o seu aplicativo autenticador mostra, ou um código de recuperação.
sign-in-button = Entrar
sign-in-other = Entrar com outra conta
sign-in-help = Não tem conta ou esqueceu a senha? Peça um link a um proprietário da sua empresa ou a um operador deste serviço.
sign-in-wrong = E-mail ou senha incorretos.
sign-in-wrong-code = O código está incorreto ou já foi usado.
sign-in-again = Entre de novo: demorou demais, ou sua senha ou seu segundo fator mudou.
sign-in-too-many = Tentativas demais. Tente de novo em { $seconds ->
    [1] 1 segundo
   *[other] { $seconds } segundos
}.
sign-in-ended = Sua sessão terminou. Entre para continuar.
sign-in-ended-idle = Sua sessão foi encerrada após { $hours } horas sem atividade. Entre para continuar.
sign-in-ended-old = Sua sessão foi encerrada { $days } dias depois da entrada. Entre para continuar.
sign-in-kept = O que você digitou está guardado: você o encontra de novo depois de entrar.
