shell-skip = Ir al contenido
shell-navigation = Navegación principal
shell-overview = Resumen
shell-inbox = Bandeja
shell-unread = sin leer
shell-sends = Envíos
shell-contacts = Contactos
shell-templates = Plantillas
shell-media = Multimedia
shell-channels = Canales
shell-suppressions = Exclusiones
shell-keys = Claves de API
shell-replies = Respuestas rápidas
shell-automatic = Respuestas automáticas
shell-programs = Programas
shell-webhooks = Webhooks
shell-costs = Costos
shell-company = Empresa
shell-operation = Operación
shell-operator = Todas las empresas
shell-nodes = Nodos
shell-tiers = Planes
shell-prices = Precios
shell-changes = Cambios
shell-account = Su cuenta
shell-company-change = Elegir otra empresa
shell-company-none = Elegir una empresa
shell-sign-out = Cerrar sesión
shell-language = Idioma
shell-reference = Referencia de la API
shell-copy = Copiar
shell-copy-what = Copiar { $what }
shell-copied = Copiado
shell-uploading = Subiendo el archivo
shell-id = ID
shell-confirm = Sí: { $what }
shell-pages = Páginas
shell-page-first = Primera
shell-page-before = Anterior
shell-page-next = Siguiente
shell-page-last = Última
shell-page-of = Página { $page } de { $pages } ({ $total ->
    [1] 1 registro
   *[other] { $total } registros
})
shell-chart = ahora { $now }, valor más alto { $highest } { $unit }
shell-chart-over = valor más alto { $highest } { $unit }
shell-chart-limit = Línea discontinua: el límite, { $limit } { $unit }
shell-status-connected = conectado
shell-status-connecting = conectando
shell-status-disconnected = desconectado
shell-status-blocked = bloqueado
shell-status-pairing = sin vincular
shell-close = Cerrar
shell-explain = ¿Qué significa “{ $what }”?
shell-help = Qué significa
shell-in-english = Detalles (en inglés)
shell-until = hasta { $time }
shell-any-moment = en cualquier momento
shell-in-seconds = { $count ->
    [1] dentro de 1 segundo
   *[other] dentro de { $count } segundos
}
shell-in-minutes = { $count ->
    [1] dentro de 1 minuto
   *[other] dentro de { $count } minutos
}
shell-in-hours = { $count ->
    [1] dentro de 1 hora
   *[other] dentro de { $count } horas
}
shell-in-days = { $count ->
    [1] dentro de 1 día
   *[other] dentro de { $count } días
}
shell-unsent-title = Aún no se envió
shell-unsent-why = Su sesión terminó, así que no se envió ni se guardó nada. Lo que escribió se conserva en esta página: inicie sesión en otra pestaña, vuelva y envíe el formulario de nuevo.
shell-unsent-sign-in = Iniciar sesión en otra pestaña
shell-unsent-again = Enviar el formulario de nuevo
shell-no-country = Sin definir
shell-number-meant = ¿A qué número se refiere?
shell-number-unsure = Sin +, los mismos dígitos pueden ser un número de otro país. Elija el número al que se refiere, o escríbalo con + y el código del país.
shell-number-none = no es un número internacional
shell-number-national = En su país sería { $number }: si se refiere a ese número, escríbalo así.
shell-settings = Ajustes
shell-members = Miembros
shell-more = Más
shell-account-menu = Menú de la cuenta:
shell-welcome = Mensajes para sus clientes en WhatsApp, desde un servicio que su propia empresa opera.
shell-filters = Filtros
shell-number-read = Se lee como { $number }
shell-users = Usuarios
