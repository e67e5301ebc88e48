send-template = Plantilla
send-channel = Canal
send-starts = Empieza
send-expires = Caduca
send-ended = Terminó
send-restored = La base de datos se restauró desde una copia de seguridad mientras este envío estaba en curso. Los mensajes sin respuesta pueden haberse enviado después de la copia: repita los desconocidos donde sea correcto.
send-skipped = Omitidos
send-repeats = Vuelve a enviar mensajes de este envío:
send-repeated = Enviado de nuevo por:
send-progress-title = Progreso
send-progress = { $all ->
    [one] { $sent } de { $all } mensaje enviado
   *[other] { $sent } de { $all } mensajes enviados
}
send-rate = { $rate } mensajes por segundo ahora
send-end = Terminará probablemente:
send-waits = Está esperando:
send-pace = Ritmo
send-pace-unit = mensajes por segundo
send-counting = Se están contando los mensajes. Las cifras aparecerán aquí en un momento.
send-counted = Contado
send-by-state = Mensajes por estado
send-causes = Por qué no llegaron mensajes
send-cause = Motivo
send-code = Código del proveedor
send-state = Estado
send-messages = Mensajes
send-recipient = Destinatario
send-heard = Última noticia
send-narrow = Filtrar los mensajes
send-any = Todos
send-show = Mostrar
send-csv = Resultados en CSV
send-none = Ningún mensaje coincide con el filtro.
send-none-yet = Ningún mensaje del n.º { $from } al { $to } coincide con el filtro. Los demás no se han examinado todavía.
send-first = Desde el principio
send-further = Más mensajes
send-pause = Pausar
send-resume = Reanudar
send-cancel = Cancelar
send-cancel-question = Los mensajes que no han empezado no se enviarán nunca. No se puede deshacer.
send-is-paused = Pausado: nada de este envío sale hasta que se reanude.
send-is-resumed = Reanudado.
send-is-canceled = Cancelado: lo que no había empezado no se enviará.
send-again = Enviar de nuevo a los que fallaron
send-again-rest = Enviar a los que no alcanzó
send-again-title = Enviar de nuevo
send-again-back = Volver al envío
send-again-which = Qué mensajes
send-again-code = Solo mensajes con este código; vacío para todos.
send-again-check = Comprobar
send-again-send = Enviar
send-again-looking = Se están revisando los mensajes. Lo que se enviaría aparece aquí en un momento.
send-again-nobody = no queda nadie. Ningún mensaje está en uno de estos estados con este código, todos ya se enviaron de nuevo, todos pidieron no recibir más, o nadie escribió en las últimas 24 horas.
send-again-done = { $count ->
    [1] Se aceptó un nuevo envío a 1 destinatario.
   *[other] Se aceptó un nuevo envío a { $count } destinatarios.
}
send-refused = No se enviaría nada:
send-check-title = Qué se enviaría
send-check-count = { $count ->
    [1] 1 destinatario
   *[other] { $count } destinatarios
}
send-check-end = Terminará probablemente el
send-check-no-end = Solo las respuestas del proveedor limitan cuánto tarda.
send-check-limit = Lo que decide cuánto tarda:
send-check-instead = { $count ->
    [0] Nadie necesita la plantilla: todos escribieron en las últimas 24 horas.
    [1] 1 de ellos no escribió en las últimas 24 horas y recibe la plantilla.
   *[other] { $count } de ellos no escribieron en las últimas 24 horas y reciben la plantilla.
}
send-instead = Quienes no escribieron en las últimas 24 horas reciben una plantilla:
send-instead-open = Abrir ese envío
send-instead-all = Nadie de este envío escribió en las últimas 24 horas: todos reciben la plantilla.
send-instead-of = En lugar de este envío, a quienes no escribieron en las últimas 24 horas:
send-check-skipped = { $count ->
    [1] 1 entrada queda fuera
   *[other] { $count } entradas quedan fuera
}
send-limit-rate = el ritmo del canal
send-limit-level = a cuántas personas deja escribir el proveedor al número
send-limit-back-off = el proveedor rechazó hace poco que se enviara tanto
send-limit-pair = la pausa entre mensajes a la misma persona
send-limit-quota = a cuántas personas se puede escribir primero en un día
send-limit-quiet = las horas de silencio
send-kind-text = Texto
send-kind-image = Imagen
send-kind-video = Vídeo
send-kind-audio = Audio
send-kind-document = Documento
send-kind-sticker = Sticker
send-kind-location = Ubicación
send-kind-contacts = Contactos
send-kind-reaction = Reacción
send-kind-template = Plantilla
send-kind-interactive = Interactivo
send-stage-scheduled = Programado
send-stage-active = Activo
send-stage-paused = Pausado
send-stage-finished = Terminado
send-stage-canceled = Cancelado
send-stage-expired = Caducado
send-state-queued = En cola
send-state-sending = Enviando
send-state-sent = Enviado
send-state-delivered = Entregado
send-state-read = Leído
send-state-failed = Falló
send-state-expired = Caducado
send-state-canceled = Cancelado
send-state-unknown = Desconocido
send-state-suppressed = No quiere recibir
send-cause-expired = Su plazo terminó antes de empezar
send-cause-canceled = El envío se canceló antes de empezar
send-cause-suppressed = El destinatario pidió no recibir mensajes antes del envío
send-cause-unknown = No se sabe si el proveedor lo tiene
send-check-lacking = { $count ->
    [1] 1 destinatario no tiene un campo de contacto que el mensaje necesita y no recibe mensaje.
   *[other] { $count } destinatarios no tienen un campo de contacto que el mensaje necesita y no reciben mensaje.
}
send-check-lacking-part = De los primeros { $checked } destinatarios, { $count ->
    [1] 1 no tiene un campo de contacto que el mensaje necesita y no recibe mensaje.
   *[other] { $count } no tienen un campo de contacto que el mensaje necesita y no reciben mensaje.
} Los demás no se miraron.
send-made = Creado
send-about = Sobre este envío
send-to = Para
send-message = El mensaje
send-people = { $count ->
    [1] 1 persona
   *[other] { $count } personas
}
send-group = Un grupo
send-entries = { $count ->
    [1] 1 entrada que no puede recibirlo
   *[other] { $count } entradas que no pueden recibirlo
}
send-step-paused = Pausado
send-step-resumed = Reanudado
send-step-canceled = Cancelado
send-details = Detalles
send-reference = Referencia
send-codes = Qué dijo el proveedor
send-said = Sus palabras
send-by-code = Por código
send-personal = Cada persona recibe sus propios valores.
send-template-gone = La plantilla ya no existe, por eso solo se muestra su nombre.
send-share-answered = Respondido
send-share-waits = En espera
send-share-left-out = No enviados
send-share-unclear = Dudosos
send-name-to-people = { $what } para { $count ->
    [1] 1 persona
   *[other] { $count } personas
}
send-name-to-group = { $what } para un grupo
send-name-to-tags = { $what } para { $tags }
send-name-to-more-tags = { $what } para { $tags } y { $more ->
    [1] 1 etiqueta más
   *[other] { $more } etiquetas más
}
send-without = Sin:
send-step-moved = Movido
send-duplicate = Duplicar
send-move = Mover el inicio
send-move-button = Mover
send-is-moved = Movido: nada de este envío sale antes de su nuevo inicio.
send-move-fault = Indique una hora en el futuro, como máximo un año después y antes del final del envío.
send-move-begun = El envío ya empezó: su inicio ya no se puede mover.
send-move-over = El envío terminó: su inicio ya no se puede mover.
send-edit = Editar
send-edit-question = Lo que está aceptado no se puede cambiar. Por eso este envío se cancela y se abre un borrador con su contenido, sus destinatarios y sus horas. Nada sale hasta que envíe el borrador.
send-show-contacts = Mostrar estos contactos:
send-received = Lo recibieron
send-not-received = No lo recibieron
send-was-read = Lo leyeron
send-not-read = No lo leyeron
send-was-answered = Respondieron
send-not-answered = No respondieron
send-step-disabled = Un operador de este servicio había desactivado la empresa. Reanude el envío cuando deba continuar.
send-results = Resultados en su archivo
send-result-state = Estado
send-result-error = Error
send-result-time = Hora
send-result-skipped = Omitido
