tiers-title = Planes
tiers-one = Plan { $name }
tiers-none = No hay planes.
tiers-name = Plan
tiers-kind = Para
tiers-business = cuentas de empresa
tiers-web = sesiones web
tiers-pace = Mensajes como máximo
tiers-pace-hint = De 1 a 1.000.000. El nivel de Meta para el número cuenta si es menor.
tiers-span = En
tiers-span-second = un segundo
tiers-span-minute = un minuto
tiers-span-hour = una hora
tiers-span-day = un día
tiers-span-unlimited = sin límite
tiers-each-second = { $count } por segundo
tiers-each-minute = { $count } por minuto
tiers-each-hour = { $count } por hora
tiers-each-day = { $count } por día
tiers-seconds = { $seconds ->
    [1] 1 segundo
   *[other] { $seconds } segundos
}
tiers-usual = como es habitual
tiers-other-value = Otro valor: { $option }
tiers-changed = Cambiado
tiers-burst = Mensajes de golpe tras una pausa
tiers-burst-hint = De 1 a 1.000.000. En blanco: el uno por ciento de los mensajes por segundo, al menos 1.
tiers-pair-interval = Segundos entre mensajes a una persona
tiers-pair-interval-hint = De 0, que lo desactiva, a 86.400. En blanco: 6, como quiere Meta.
tiers-pair-burst = Mensajes de golpe a una persona
tiers-pair-burst-hint = Se toman de los intervalos siguientes. Como máximo 1.000.000. En blanco: 10.
tiers-quota = Personas alcanzadas por plantillas en 24 horas
tiers-quota-hint = Un número entero desde 1. En blanco: sin límite.
tiers-requests = Peticiones de API de una empresa
tiers-requests-hint = De 1 a 1.000.000, de todas sus claves juntas. Las demás se rechazan hasta más tarde.
tiers-unknown = Cuando el resultado es desconocido
tiers-jitter = Segundos aleatorios entre mensajes
tiers-jitter-hint = Hasta tantos se suman cada vez: de 0 a 86.400. En blanco: ninguno.
tiers-daily-cap = Mensajes en 24 horas
tiers-warm-up = Máximo en cada uno de los primeros días
tiers-warm-up-hint = Un número para cada día, como 20, 40, 80, que sube y no pasa del límite de 24 horas. En blanco: ninguno.
tiers-quiet-hours = Horas de silencio
tiers-quiet-hours-hint = Los envíos con varios destinatarios descansan en estas horas. En blanco: no descansan nunca.
tiers-quiet-from = Desde
tiers-quiet-to = Hasta
tiers-quiet-zone = Según los relojes de
tiers-fault-rate = Escriba un número entero de 1 a 1.000.000 y elija un plazo, o elija “sin límite”.
tiers-fault-count = Escriba un número entero de 1 a 1.000.000.
tiers-fault-seconds = Escriba un número de segundos de 0 a 86.400, que es un día.
tiers-fault-quota = Escriba un número entero desde 1, o déjelo en blanco para que no haya límite.
tiers-fault-days = Escriba un número desde 1 para cada día, con comas entre ellos. Suben y no pasan del límite de 24 horas.
tiers-fault-hours = Dé dos horas distintas y una ciudad, o deje las tres en blanco.
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
tiers-what-if = ¿Y si cada plan tuviera otros valores?
tiers-what-if-hint = Valores para probar. No se cambia nada.
tiers-what-if-show = Mostrar el efecto
tiers-what-if-none = Ningún plan puede tener estos valores a la vez.
tiers-unknown-resend = Enviar de nuevo: algunas personas pueden recibirlo dos veces
tiers-unknown-hold = No enviar de nuevo: algunas personas pueden no recibirlo
