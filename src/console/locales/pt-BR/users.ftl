users-title = Usuários
users-search = Buscar por nome ou e-mail
users-none = Ninguém tem este nome ou e-mail.
users-last-sign-in = Último acesso
users-more-companies = { $count ->
    [1] e mais uma
   *[other] e mais { $count }
}
users-active = pode entrar
users-disabled = desativado
users-no-password = ainda não tem senha
users-since = Adicionado
users-access = Acesso
users-link-what = Os links valem uma vez, por 24 horas. Entregue-os você mesmo.
users-sign-in-link = Criar link de acesso
users-password-link = Criar link para nova senha
users-link = Link
users-link-once = Copie este link e entregue-o à pessoa. Ele aparece só uma vez.
users-disable = Desativar
users-disable-question = { $name } sai de todos os lugares e não pode entrar. Links e convites desta pessoa terminam.
users-disabled-what = Esta pessoa não pode entrar.
users-enable = Deixar entrar de novo
users-is-disabled = A pessoa saiu e não pode entrar.
users-is-enabled = A pessoa pode entrar de novo.
