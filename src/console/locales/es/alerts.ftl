alerts-title = Alertas por correo
alerts-what = Pombo escribe a { $address } cuando ocurre algo de esto. Nadie ha comprobado que esta dirección le llega: envíese un correo de prueba. Los correos están en el idioma de su cuenta, y en inglés mientras no tenga ninguno.
alerts-off = No se envía nada: este servicio no tiene servidor de correo. Su operador configura mail.host, mail.from y server.public_url.
alerts-no-company = Aún no pertenece a ninguna empresa.
alerts-of = { $company }: avisarme de
alerts-save = Guardar alertas
alerts-saved = La elección se guardó.
alerts-test = Enviarme un correo de prueba
alerts-test-sent = El servidor de correo aceptó un correo de prueba a { $address }. Respondió: { $said }
alerts-test-failed = El correo de prueba a { $address } no se envió: { $error }
alerts-test-again = El servidor de correo aceptó hace poco un correo de prueba a { $address }. Búsquelo allí, también entre el correo no deseado. Unos minutos más tarde se puede enviar otro.
alerts-test-subject = Prueba de las alertas
alerts-test-arrived = Los correos de este servicio llegan.
alerts-test-why = Recibe esto porque pidió un correo de prueba.
alerts-kind-channel = Canales que no pueden enviar, y que vuelven a enviar
alerts-kind-send = Envíos a varios destinatarios que terminaron
alerts-kind-quota = Límites de un día casi o del todo agotados
alerts-kind-key = Claves de API que caducan en menos de una semana
alerts-kind-template = Plantillas pausadas, rechazadas o desactivadas
alerts-kind-webhook = Webhooks que se detuvieron, y que vuelven a funcionar
alerts-about = Qué ocurre
alerts-people = Quién recibe un correo
alerts-events = Eventos para webhooks
alerts-nobody = Nadie
alerts-more-people = { $count ->
    [one] y una persona más
   *[other] y { $count } más
}
alerts-who = Cada persona elige en «Su cuenta». Los propietarios reciben todo menos los finales de envíos, hasta que elijan otra cosa.
alerts-choose = Elegir sus alertas
alerts-webhook = Un programa recibe lo mismo por un webhook que tenga estos eventos.
alerts-webhook-see = Ver los webhooks
alerts-hello = Hola { $name }:
alerts-open = Abrir la página
alerts-why = Recibe esto porque se le avisa de las alertas de { $company }. Las horas son de la zona { $zone }.
alerts-change = Elegir qué alertas recibe
alerts-several = { $count ->
    [one] una alerta
   *[other] { $count } alertas
}
alerts-more = { $count ->
    [one] Un asunto más
   *[other] { $count } asuntos más
}
alerts-changes = { $count ->
    [one] Un cambio desde { $since }
   *[other] { $count } cambios desde { $since }
}
alerts-removed = (eliminado)
alerts-channel-disconnected = { $name } está desconectado
alerts-channel-blocked = { $name } está restringido por WhatsApp
alerts-channel-connected = { $name } está conectado de nuevo
alerts-do-channel = Su cola se conserva. Su página dice cómo conectarlo de nuevo.
alerts-do-channel-blocked = Su cola se conserva. Resuélvalo con WhatsApp; un token nuevo no ayuda.
alerts-do-channel-better = Su cola continúa sola. No hay nada que hacer.
alerts-send-finished = «{ $name }» terminó
alerts-send-canceled = «{ $name }» se canceló
alerts-send-expired = «{ $name }» caducó
alerts-recipients = Destinatarios: { $count }
alerts-figures = Destinatarios: { $recipients }. Enviados: { $sent }, de ellos entregados: { $delivered } y leídos: { $read }. Fallidos: { $failed }. No enviados o desconocidos: { $others }.
alerts-do-send = Aún pueden llegar acuses. La página tiene las cifras de ahora y cada mensaje.
alerts-quota-low = { $name }: un límite está casi agotado ({ $limit }): quedan { $left } de { $most }
alerts-quota-used-up = { $name }: un límite está agotado ({ $limit }): no queda nada de { $most }
alerts-do-quota = Lo que lo supera espera, y sale cuando pasan las 24 horas de los mensajes anteriores. Un operador puede dar otro plan al canal.
alerts-key-expiring = La clave de API «{ $name }» caduca el { $at }
alerts-do-key = Cree otra clave y désela al programa antes. Después, sus solicitudes se rechazan.
alerts-template-paused = WhatsApp pausó la plantilla «{ $name }» ({ $language })
alerts-template-rejected = WhatsApp rechazó la plantilla «{ $name }» ({ $language })
alerts-template-disabled = WhatsApp desactivó la plantilla «{ $name }» ({ $language })
alerts-template-reason = El motivo en palabras de WhatsApp: { $reason }
alerts-do-template = Los envíos con ella esperan. Corrija la plantilla en WhatsApp o cancele los envíos.
alerts-webhook-stopped = El webhook { $name } se detuvo
alerts-webhook-recovered = El webhook { $name } vuelve a funcionar
alerts-webhook-gone = Su receptor respondió que no quiere más eventos.
alerts-webhook-failing = Todos los intentos de cinco días fallaron.
alerts-do-webhook = Sus eventos esperan. Arregle el receptor y active el webhook en su página.
alerts-do-webhook-better = Recibe los eventos que esperaban. No hay nada que hacer.
