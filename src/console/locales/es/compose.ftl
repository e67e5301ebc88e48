compose-title = Nuevo envío
compose-no-channel = Todavía no hay por dónde enviar. Agregue una cuenta de empresa o vincule un teléfono.
compose-add-channel = Añadir canal
compose-channel = Canal
compose-type = Tipo
compose-template = Plantilla
compose-choose = Elija
compose-go-on = Continuar
compose-no-template = Esta cuenta de empresa no tiene ninguna plantilla aprobada. Haga que aprueben una en el proveedor y sincronice.
compose-what = Qué
compose-whom = A quién
compose-when = Cuándo
compose-starts = Empieza
compose-starts-hint = Una fecha y una hora.
compose-expires = Caduca
compose-expires-hint = Los mensajes que no hayan empezado para entonces no se envían.
compose-zone = Las horas son de esta zona:
compose-stale = Algo cambió después de comprobarlo. Esto es lo que se enviaría ahora; envíelo si es correcto.
compose-check = Comprobar
compose-send = Enviar
compose-check-first = Compruébelo primero; después se puede enviar.
compose-accepted = { $count ->
    [1] Aceptado para 1 destinatario.
   *[other] Aceptado para { $count } destinatarios.
}
compose-preview = Vista previa
compose-message = Mensaje
compose-link = Dirección del archivo
compose-link-hint = Pública, que empiece por https://
compose-caption = Pie
compose-kind-buttons = Texto con botones
compose-kind-list = Texto con menú
compose-buttons = Botones
compose-buttons-hint = Uno por línea, tres como máximo, cada uno de 20 caracteres como máximo.
compose-menu = Nombre del menú
compose-menu-hint = 20 caracteres como máximo.
compose-rows = Entradas del menú
compose-rows-hint = Una por línea, diez como máximo. Tras una barra puede ir una descripción: Rojo | 19,90. Una línea que termina en dos puntos comienza una sección: Vinos:
compose-unreadable = El proveedor describe esta plantilla de una forma que esta página no puede mostrar. Se puede enviar con la API.
compose-nothing-to-fill = Esta plantilla no tiene nada que rellenar.
compose-header-link = Dirección del archivo de la cabecera
compose-latitude = Latitud
compose-longitude = Longitud
compose-place = Nombre del lugar
compose-address = Dirección del lugar
compose-header-variable = Encabezado { $name }: aparece donde está {"{{"}{ $name }{"}}"}
compose-body-variable = Texto { $name }: aparece donde está {"{{"}{ $name }{"}}"}
compose-button-link = Botón { $number }: final de su dirección
compose-button-code = Botón { $number }: código del cupón
compose-button-payload = Botón { $number }: lo que vuelve al pulsarlo
compose-card = Tarjeta { $number }
compose-unknown-parts = Esta plantilla tiene partes que esta página no conoce. Si necesitan valores, el envío debe hacerse con la API.
compose-deadline = La oferta termina
compose-deadline-hint = En su zona horaria. El mensaje muestra el tiempo que queda.
compose-filename = Nombre del documento
compose-filename-hint = El nombre que ve el destinatario, como factura.pdf. Vacío: el nombre de la dirección.
compose-button-flow = Botón { $number }: token del flujo (opcional)
compose-button-catalog = Botón { $number }: identificador del producto cuya imagen se muestra (opcional)
compose-button-products-title = Botón { $number }: título de la lista de productos
compose-button-products = Botón { $number }: identificadores de los productos
compose-button-products-hint = Uno por línea. El primero se muestra en el mensaje.
compose-same-for-all = Todos reciben los mismos valores, salvo donde hay un valor de cada destinatario.
compose-tags = Etiquetas
compose-tags-hint = Todos los que tengan una de las etiquetas elegidas, cada persona una vez.
compose-numbers = Números
compose-numbers-hint = Con código de país, uno por línea o separados por comas.
compose-find = Buscar personas
compose-find-button = Buscar
compose-found-none = Ningún contacto coincide.
compose-people = Personas
compose-fault-channel = Elija un canal.
compose-fault-choose = Elija una plantilla.
compose-fault-time = Esto no es una fecha con hora.
compose-fault-recipient = Elija una etiqueta, un segmento, un número o una persona.
compose-fault-nobody = No queda nadie: las etiquetas están vacías, los números no son válidos o todos pidieron no recibir mensajes.
compose-fault-too-many = Son demasiados para un envío. Etiquete los contactos y envíe a la etiqueta.
compose-fault-message = Escriba un mensaje.
compose-fault-long = Esto es demasiado largo.
compose-fault-link = Dé la dirección pública del archivo, que empiece por http:// o https://.
compose-fault-schedule = Estas horas no dejan tiempo para enviar, ya pasaron o están a más de un año.
compose-fault-disconnected = El canal está desconectado. Vuelva a conectarlo primero.
compose-fault-template = La plantilla ya no existe o no está aprobada.
compose-fault-interactive = Algo es demasiado largo o falta: indique el texto y lo que ofrece.
compose-fault-values = Los valores no encajan en la plantilla: rellene todos los campos, cada uno en una línea.
compose-to-channels = Ver los canales
compose-to-channel = Abrir el canal
compose-not-linked = este teléfono no está vinculado, o no tiene conexión ahora.
compose-sent-before = Este formulario ya se envió. Este es su envío.
compose-accepted-web = Aceptado. Esta página muestra cuándo WhatsApp tiene el mensaje y cuándo se lee.
compose-kind-product = Producto
compose-kind-products = Lista de productos
compose-header-type = Encima del texto
compose-header = Encabezado
compose-header-hint = Un texto de 60 caracteres como máximo, o la dirección pública del archivo. Puede quedar vacío.
compose-footer = Pie
compose-catalog = Catálogo
compose-catalog-hint = El id del catálogo que pertenece a la cuenta de empresa.
compose-product = Producto
compose-product-hint = El id del producto en el catálogo.
compose-products = Productos
compose-products-hint = Sus id en el catálogo, uno por línea, treinta como máximo. Una línea que termina en dos puntos comienza una sección: Vinos:
compose-pace-hint = El mensaje sale enseguida, cuando le toca al teléfono. Los teléfonos vinculados escriben despacio, como una persona, para que WhatsApp no bloquee el número.
compose-pace-left = quedan { $count }
compose-pace-next = el próximo a las
compose-web-one = Un teléfono vinculado envía un mensaje a una persona o a un grupo. Para escribir a muchas personas, envíe por una cuenta de empresa.
compose-web-to = Enviar a
compose-web-person = Una persona
compose-web-group = Un grupo
compose-web-number = Número
compose-web-number-hint = Con el código del país, como +55 11 98888-7777
compose-web-group-id = Id del grupo
compose-web-group-hint = Como lo llama WhatsApp Web, por ejemplo 120363025246125016@g.us. El teléfono debe estar en el grupo.
compose-web-to-person = Va a
compose-web-to-group = Va al grupo
compose-web-at-once = Sale enseguida.
compose-web-turn = Su turno es a las
compose-web-file = Archivo:
compose-web-size = { $kilobytes } kB
compose-web-plays = { $seconds } s de duración
compose-web-voice = como mensaje de voz
compose-fault-web-type = Un teléfono vinculado envía textos y archivos. Elija otro tipo o una cuenta de empresa.
compose-fault-number = Indique un número con el código del país.
compose-fault-group = Indique el id del grupo, como 120363025246125016@g.us.
compose-fault-not-there = Este número no está en WhatsApp. Revíselo, también el código del país.
compose-fault-session = El teléfono no tiene conexión con WhatsApp ahora. Inténtelo en un minuto o mire el canal.
compose-fault-link-inner = Esta dirección no lleva a la internet abierta. Indique una pública.
compose-fault-file = En esta dirección no hay tal archivo, o no es de este tipo.
compose-fault-file-large = Este archivo es más grande de lo que WhatsApp acepta.
compose-fault-too-soon = El teléfono ya envió cuanto puede por ahora. Inténtelo de nuevo en { $seconds } segundos.
compose-fault-away = Esto no funciona en este momento. No se envió nada. Inténtelo de nuevo en un minuto.
compose-fault-under-way = Este mensaje se está enviando ahora mismo. Mire la lista de envíos.
compose-fault-other-before = Este formulario ya se envió con otro contenido. Mire la lista de envíos o comience uno nuevo.
compose-contact-fields = Un valor de cada destinatario
compose-contact-fields-hint = Ponga uno de estos en un valor, y cada uno recibe lo que usted sabe de él como contacto. Detrás de una barra está el texto para quien no lo tiene. Sin ese texto, quien no lo tiene no recibe mensaje.
compose-contact-name = Nombre y apellido
compose-contact-number = Número de teléfono
compose-fault-contact-field = Dos llaves comienzan un valor de cada destinatario. Copie uno de la lista debajo de estos campos.
compose-preview-made-up = Con valores inventados, porque todavía no se eligió a nadie.
compose-preview-first = Como lo recibe el primer destinatario:
compose-preview-stranger = Como lo recibe el primer destinatario, que no es un contacto:
compose-counting = Son muchos destinatarios, y todavía se están contando. No se envió nada. Pulse Comprobar otra vez en unos segundos.
compose-preview-literal = El texto entre llaves dobles se envía tal cual. Para rellenar valores de cada destinatario, use una plantilla.
compose-fault-past = Esta hora ya pasó. Indique una posterior o empiece ahora.
compose-forgotten = Este formulario ya no está guardado: un formulario comprobado se guarda un día. Rellénelo de nuevo.
compose-find-tag = Buscar una etiqueta
compose-find-tags-button = Buscar etiquetas
compose-no-tag = Ninguna etiqueta coincide.
compose-more-tags = Hay { $count } etiquetas. Sin una búsqueda, la lista muestra las más nuevas.
compose-template-not-now = esta plantilla no se puede enviar ahora. Su estado:
compose-to-template = Ver la plantilla
compose-fault-choose-other = Elija otra plantilla.
compose-name = Nombre
compose-name-hint = Para usted y sus colegas; los destinatarios no lo ven. Vacío: se forma con el mensaje y los destinatarios.
compose-name-more-tags = { $tags } y { $more ->
    [1] 1 etiqueta más
   *[other] { $more } etiquetas más
}
compose-name-tags-numbers = { $what } para { $tags }, { $count ->
    [1] 1 número
   *[other] { $count } números
}
compose-fault-name = Dé un nombre de 100 caracteres como máximo en una línea.
compose-steps = Pasos
compose-back = Atrás
compose-use = Elegir
compose-show = Mostrar
compose-count = Contar
compose-leave-out = Excluir a personas
compose-without = Sin las personas que tengan una de estas etiquetas
compose-reach-nobody = Todavía no se eligió a nadie.
compose-reach-counting = Se están contando. Pulse Contar en unos segundos.
compose-reach = { $count ->
    [1] 1 persona
   *[other] { $count } personas
}
compose-reach-opted-out = { $count ->
    [1] 1 persona pidió no recibir mensajes y no recibe nada.
   *[other] { $count } personas pidieron no recibir mensajes y no reciben nada.
}
compose-reach-others = { $count ->
    [1] 1 entrada queda fuera, por una etiqueta o porque no es un número válido.
   *[other] { $count } entradas quedan fuera, por una etiqueta o porque no son números válidos.
}
compose-more-templates = { $count ->
    [1] 1 plantilla
   *[other] { $count } plantillas. Se muestran las más nuevas; una búsqueda encuentra las demás.
}
compose-find-template = Buscar una plantilla
compose-template-not-found = Ninguna plantilla coincide.
compose-other-template = Elegir otra
compose-example = Por ejemplo: { $value }
compose-window = Sin una plantilla, este mensaje llega solo a quienes le escribieron en las últimas 24 horas. WhatsApp lo rechaza para los demás.
compose-file-anyway = WhatsApp busca el archivo por sí mismo cuando sale el mensaje. Se puede enviar, pero es probable que falle.
compose-file-slow = El archivo no llegó a tiempo.
compose-start = Inicio
compose-now = Ahora
compose-later = A una hora
compose-fault-without = Una etiqueta para excluir ya no existe. Revise la lista otra vez.
