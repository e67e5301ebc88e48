overview-title = Resumen
overview-pace = Ritmo actual
overview-unit = mensajes por segundo
overview-queue = En espera de salir
overview-queue-of = en { $sends ->
    [1] 1 envío
   *[other] { $sends } envíos
}
overview-oldest = Envío más antiguo en espera
overview-channels = Canales
overview-add-channel = Añadir un canal
overview-hour = La última hora
overview-sends = Envíos en curso
overview-send = Envío
overview-recipients = Destinatarios
overview-waits = Estado
overview-goes = saliendo
overview-no-sends = No hay nada en curso.
overview-new-send = Nuevo envío
overview-failures = Fallos de hoy
overview-cause = Causa
overview-messages = Mensajes
overview-since = Contado desde que arrancó el servicio:
overview-no-failures = Ningún mensaje falló.
overview-no-channels = Bienvenido. Antes de enviar algo, esta empresa necesita un canal: el número desde el que salen los mensajes.
