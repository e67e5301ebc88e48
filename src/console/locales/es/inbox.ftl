inbox-title = Bandeja
inbox-conversations = Conversaciones
inbox-conversation = Conversación
inbox-messages = Mensajes
inbox-choose = Elija una conversación para leerla y responder.
inbox-none = No hay conversaciones. Aquí aparece lo que las personas escriben a sus números.
inbox-none-found = Ninguna conversación coincide con la búsqueda.
inbox-more = Más conversaciones
inbox-back = Todas las conversaciones
inbox-you = Usted:
inbox-closed = Cerrada
inbox-somebody = otra persona
inbox-arrived = Mensajes nuevos en la bandeja

# The filters
inbox-search = Buscar conversaciones
inbox-find = Buscar
inbox-views = Qué conversaciones
inbox-view-open = Abiertas
inbox-view-unread = Sin leer
inbox-view-mine = Mías
inbox-view-unassigned = Sin asignar
inbox-view-closed = Cerradas
inbox-view-groups = Grupos
inbox-all = Todos
inbox-channel = Canal
inbox-tag = Etiqueta
inbox-show = Mostrar

# What tells of arrivals
inbox-notify = Avisarme en este navegador
inbox-sound = Reproducir un sonido

# The window
inbox-window-open = Puede escribir libremente
inbox-window-closed = La persona no escribió en las últimas 24 horas, por lo que solo se puede enviar una plantilla. Cuando responda, podrá volver a escribir libremente.
inbox-window-none = Puede escribir en cualquier momento: es un teléfono vinculado.
inbox-window-unsure = No se conoce el último mensaje de la persona. WhatsApp acepta un texto solo dentro de las 24 horas siguientes.
inbox-window-never = No se puede responder: el canal se quitó, es un grupo o no se conoce el número de la persona.
inbox-window-free = La persona vino de un anuncio: los mensajes no cuestan nada
inbox-fault-window = Pasaron las 24 horas desde el último mensaje de la persona. Envíe una plantilla; su texto se conserva.

# Messages
inbox-earlier = Mensajes anteriores
inbox-latest = Últimos mensajes
inbox-no-messages = No hay mensajes, o ya no se conservan.
inbox-echo = Escrito en su teléfono o con otro programa
inbox-bulk = un envío a varias personas
inbox-bulk-of = Parte de
inbox-gone = El envío se eliminó, y con él lo que decía.
inbox-edited = editado
inbox-deleted = Este mensaje se eliminó.
inbox-not-kept = El contenido ya no se conserva.
inbox-forwarded = Reenviado
inbox-from-advertisement = Vino de un anuncio o de una página
inbox-quoted-earlier = Responde a un mensaje anterior
inbox-reply = Responder
inbox-reply-not = Responder sin citar
inbox-file-pending = El archivo aún no está aquí.
inbox-kind-answer = Eligió
inbox-kind-flow = Rellenó un formulario
inbox-kind-order = Pedido
inbox-kind-call = Llamada
inbox-kind-system = Aviso de WhatsApp
inbox-kind-other = Mensaje
inbox-unsupported = Un tipo de mensaje que no se puede mostrar aquí
inbox-as-it-came = Tal como llegó

# The answer
inbox-answer = Respuesta
inbox-answer-hint = Ctrl y Enter la envían.
inbox-send = Enviar
inbox-attach = Adjuntar un archivo
inbox-upload = Enviar un archivo nuevo
inbox-upload-hint = El archivo se guarda en la biblioteca y queda junto a su respuesta.
inbox-only-looks = Su rol permite leer conversaciones, pero no responderlas.
inbox-use-template = Enviar una plantilla
inbox-use-text = Escribir un texto
inbox-other-template = Elegir otra plantilla
inbox-template = Plantilla
inbox-take-template = Rellenar
inbox-no-template = No hay ninguna plantilla aprobada para este número.
inbox-quick = Respuesta rápida
inbox-quick-take = Insertar
inbox-writing = { $names }: escribiendo una respuesta…

# What can be done
inbox-about = Detalles
inbox-number = Número
inbox-id = Id
inbox-since = Primer mensaje
inbox-to-contact = Abrir el contacto
inbox-assigned = Asignada a
inbox-assign = Asignar
inbox-assign-me = Asignármela
inbox-nobody = Nadie
inbox-assigned-done = La conversación está asignada.
inbox-mark-read = Marcar como leída
inbox-mark-unread = Marcar como no leída
inbox-close = Cerrar
inbox-reopen = Reabrir
inbox-closed-done = La conversación está cerrada. Un mensaje de la persona la vuelve a abrir.
inbox-reopened-done = La conversación está abierta de nuevo.
inbox-tags = Etiquetas
inbox-no-tags = Sin etiquetas.
inbox-tag-add = Añadir
inbox-tag-remove = Quitar
inbox-tag-remove-which = Quitar la etiqueta { $tag }
inbox-tags-done = Las etiquetas se cambiaron.
inbox-consent = Consentimiento
inbox-opted-out-done = Los envíos omiten a esta persona desde ahora.
inbox-opted-in-done = Los envíos vuelven a llegar a esta persona.
inbox-notes = Notas
inbox-no-notes = Sin notas. La persona nunca las ve.
inbox-note = Nota
inbox-note-new = Nota nueva
inbox-note-add = Añadir nota
inbox-note-added = La nota se añadió.
inbox-note-change = Cambiar
inbox-note-save = Guardar
inbox-note-changed = La nota se cambió.
inbox-note-delete = Eliminar
inbox-note-delete-question = ¿Eliminar esta nota?
inbox-note-deleted = La nota se eliminó.
