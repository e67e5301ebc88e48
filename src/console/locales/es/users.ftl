users-title = Usuarios
users-search = Buscar por nombre o correo
users-none = Nadie tiene este nombre ni este correo.
users-last-sign-in = Último acceso
users-more-companies = { $count ->
    [1] y una más
   *[other] y { $count } más
}
users-active = puede entrar
users-disabled = desactivado
users-no-password = aún no tiene contraseña
users-since = Añadido
users-access = Acceso
users-link-what = Los enlaces sirven una vez, durante 24 horas. Entréguelos usted.
users-sign-in-link = Crear enlace de acceso
users-password-link = Crear enlace para contraseña nueva
users-link = Enlace
users-link-once = Copie este enlace y déselo a la persona. Se muestra una sola vez.
users-disable = Desactivar
users-disable-question = { $name } sale de todas partes y no puede entrar. Los enlaces y las invitaciones de esta persona terminan.
users-disabled-what = Esta persona no puede entrar.
users-enable = Dejar entrar otra vez
users-is-disabled = La persona ha salido y no puede entrar.
users-is-enabled = La persona puede entrar otra vez.
