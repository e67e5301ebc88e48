overview-title = Resumen
overview-new-send = Nuevo envío
overview-first = Primeros pasos
overview-first-why = Tres pasos hasta su primer mensaje.
overview-first-done = hecho
overview-first-channel = Conecte un número
overview-first-channel-why = Los mensajes salen de él: una cuenta comercial en Meta, o un teléfono que usted vincula.
overview-first-channel-ask = Los mensajes salen de él. Un propietario de la empresa puede añadirlo.
overview-add-channel = Añadir un canal
overview-first-contacts = Importe sus contactos
overview-first-contacts-why = De una hoja de cálculo o de un archivo CSV. Las etiquetas dicen quién recibe qué.
overview-import = Importar un archivo
overview-first-send = Envíe una prueba
overview-first-send-why = Primero a su propio número: usted ve cómo llega antes que los demás.
overview-alert-disconnected = { $name } está desconectado: nada sale de este número.
overview-alert-blocked = { $name } está bloqueado por el proveedor: nada sale de este número.
overview-alert-channel-see = Ver el motivo y qué hacer
overview-alert-template-paused = El proveedor ha pausado la plantilla { $name }: los envíos con ella esperan.
overview-alert-template-disabled = El proveedor ha desactivado la plantilla { $name }: ya no se puede enviar.
overview-alert-template-rejected = El proveedor ha rechazado la plantilla { $name }.
overview-alert-template-see = Ver la plantilla
overview-alert-quota = { $name } casi ha agotado un límite ({ $limit }): quedan { $left } de { $most }.
overview-alert-quota-see = Ver los límites
overview-alert-token = El token de acceso de { $name } vence pronto, y entonces no sale nada de este número:
overview-alert-token-see = Ver cómo darle otro
overview-alert-key = La clave de API { $name } caduca pronto:
overview-alert-key-see = Ver las claves
overview-today = Hoy
overview-week = Últimos 7 días
overview-sent = Enviados
overview-delivered = Entregados
overview-read = Leídos
overview-failed = Fallidos
overview-counting = Se están contando los mensajes …
overview-latest = Últimos envíos
overview-all-sends = Todos los envíos
overview-to = { $count ->
    [1] a 1 destinatario
   *[other] a { $count } destinatarios
}
overview-pace = Ritmo actual
overview-unit = mensajes por segundo
overview-queue = En espera de salir
overview-queue-of = en { $sends ->
    [1] 1 envío
   *[other] { $sends } envíos
}
overview-oldest = Envío más antiguo en espera
overview-channels = Canales
overview-hour = La última hora
overview-sends = Envíos que esperan
overview-send = Envío
overview-recipients = Destinatarios
overview-waits = Por qué
overview-failures = Fallos de hoy
overview-cause = Causa
overview-messages = Mensajes
overview-no-failures = Ningún mensaje falló.
