sign-in-title = Iniciar sesión
sign-in-email = Correo electrónico
sign-in-password = Contraseña
sign-in-code = Código
sign-in-code-hint = Los seis dígitos que muestra su aplicación de autenticación, o un código de recuperación.
sign-in-button = Iniciar sesión
sign-in-other = Iniciar sesión con otra cuenta
sign-in-help = ¿No tiene cuenta u olvidó la contraseña? Pida un enlace a un propietario de su empresa o a un operador de este servicio.
sign-in-wrong = El correo o la contraseña no son correctos.
sign-in-wrong-code = El código no es correcto o ya se usó.
sign-in-again = Inicie sesión de nuevo: tardó demasiado, o su contraseña o su segundo factor cambió.
sign-in-too-many = Demasiados intentos. Inténtelo de nuevo en { $seconds ->
    [1] 1 segundo
   *[other] { $seconds } segundos
}.
sign-in-ended = Su sesión terminó. Inicie sesión para continuar.
sign-in-ended-idle = Su sesión se cerró tras { $hours } horas sin actividad. Inicie sesión para continuar.
sign-in-ended-old = Su sesión se cerró { $days } días después de iniciarla. Inicie sesión para continuar.
sign-in-kept = Lo que escribió está guardado: lo encuentra de nuevo después de iniciar sesión.
