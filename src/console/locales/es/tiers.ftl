tiers-title = Planes
tiers-one = Plan { $name }
tiers-none = No hay planes.
tiers-name = Plan
tiers-kind = Para
tiers-business = cuentas de empresa
tiers-web = sesiones web
tiers-pace = Mensajes por segundo
tiers-pace-hint = Por ejemplo 80/s, 10/min o unlimited.
tiers-changed = Cambiado
tiers-burst = De golpe tras una pausa
tiers-pair-interval = Distancia entre mensajes a una persona
tiers-pair-burst = De golpe a una persona
tiers-quota = Personas alcanzadas por plantillas en 24 horas
tiers-requests = Peticiones de API de una empresa
tiers-unknown = Cuando el resultado es desconocido
tiers-jitter = Tiempo aleatorio entre mensajes
tiers-daily-cap = Mensajes en 24 horas
tiers-warm-up = Límites de los primeros días
tiers-quiet-hours = Horas de silencio
tiers-quiet-hours-hint = Los envíos con varios destinatarios descansan en estas horas, por ejemplo 21:00-08:00 Europe/Madrid.
tiers-cold = Personas nuevas en 24 horas
tiers-description = Descripción
tiers-check = Mostrar qué cambia
tiers-would-change = Qué cambia
tiers-nothing = Nada: el plan ya es así.
tiers-apply = Aplicar
tiers-applied = El plan { $name } cambió. Los canales lo siguen en un segundo.
tiers-option = Opción
tiers-options = Opciones
tiers-effect = Envíos en curso
tiers-no-effect = Ningún envío masivo corre ahora con este plan.
tiers-left = Quedan
tiers-end-before = Fin como está
tiers-end-after = Fin después
tiers-history = Historial
tiers-no-history = Nadie lo ha cambiado todavía.
tiers-as-file = Como archivo
tiers-go-back = Volver a esto
tiers-use = Uso
tiers-used = Lo usan { $channels ->
    [1] un canal
   *[other] { $channels } canales
} y { $companies ->
    [1] una empresa
   *[other] { $companies } empresas
}.
tiers-new-name = Nuevo nombre
tiers-new-name-hint = De 1 a 40 letras minúsculas, cifras y guiones. Sus canales y empresas lo siguen.
tiers-rename = Cambiar el nombre
tiers-renamed = El plan ahora se llama { $name }.
tiers-name-taken = Otro plan tiene este nombre: elija otro.
tiers-name-invalid = El nombre de un plan tiene de 1 a 40 letras minúsculas, cifras y guiones.
tiers-delete = Eliminar el plan
tiers-delete-question = Nadie usa el plan { $name }. Su historial se conserva, y la línea de comandos puede recuperarlo.
tiers-deleted = El plan { $name } está eliminado.
tiers-what-if = ¿Y si cada plan tuviera otras opciones?
tiers-what-if-hint = Por ejemplo messages_per_second=60/s. No se cambia nada.
tiers-what-if-show = Mostrar el efecto
tiers-unknown-resend = Enviar de nuevo: algunas personas pueden recibirlo dos veces
tiers-unknown-hold = No enviar de nuevo: algunas personas pueden no recibirlo
