imports-title = Importar contactos
imports-hint = Un archivo de Excel (.xlsx) o CSV cuya primera línea da nombre a las columnas: de una hoja de cálculo, o una exportación de Google Contactos, Outlook, HubSpot o esta consola. Verá los contactos resultantes antes de importar nada.
imports-file = Archivo
imports-import = Importar
imports-tags = Etiquetas para todos los contactos del archivo
imports-tags-hint = Separadas por punto y coma. Puede quedar vacío.
imports-tag-wrong = El nombre de una etiqueta tiene como máximo 100 caracteres y ningún salto de línea.
imports-tags-too-many = Un contacto recibe como máximo { $most } etiquetas a la vez.
imports-no-file = Elija un archivo.
imports-too-many = Ya hay { $most } archivos que todavía no se importaron. Termine o descarte uno de ellos antes.
imports-too-large = El archivo supera los { $most } MB, el máximo que acepta este servicio. Divídalo.
imports-broken = El envío del archivo se interrumpió. Compruebe la conexión y vuelva a enviar el archivo.
imports-wrong-file = Este archivo no se puede importar: { $said }
imports-too-many-columns = El archivo tiene más de { $most } columnas. Quite las columnas que no son parte de un contacto.
imports-before = Importaciones
imports-state = Estado
imports-rows = Filas
imports-created = Creados
imports-updated = Actualizados
imports-unchanged = Sin cambios
imports-rejected = Rechazadas
imports-numberless = Sin número válido
imports-when = Subido
imports-started = Inicio
imports-ended = Fin
imports-back = Volver a los contactos
imports-see-contacts = Ver los contactos
imports-no-number = Ninguna columna contiene números de teléfono. Los contactos se importan, pero no se les pueden enviar mensajes.
imports-all = Todas las importaciones
imports-columns = Las columnas del archivo
imports-column = Columna
imports-holds = Contiene
imports-holds-what = Qué contiene { $column }
imports-example = Ejemplo
imports-encoding = Codificación
imports-encoding-hint = Cámbiela si las letras con acento se ven mal abajo.
imports-check = Comprobar de nuevo
imports-discard = Descartar el archivo
imports-mapping-needed = Indique qué columna contiene el teléfono o el correo electrónico.
imports-mapping-wrong = Lo que se dijo de las columnas no corresponde al archivo en esta codificación.
imports-more-columns = Se muestran solo las primeras { $count } columnas; las demás se importan por sus nombres.
imports-outlook = Qué va a pasar
imports-outlook-all = { $count ->
    [1] De la única fila:
   *[other] De las { $count } filas:
}
imports-outlook-first = { $count ->
    [1] De la primera fila:
   *[other] De las primeras { $count } filas:
}
imports-would-create = { $count ->
    [1] 1 contacto nuevo
   *[other] { $count } contactos nuevos
}
imports-would-update = { $count ->
    [1] 1 contacto conocido se actualiza
   *[other] { $count } contactos conocidos se actualizan
}
imports-would-keep = { $count ->
    [1] 1 contacto conocido queda como está
   *[other] { $count } contactos conocidos quedan como están
}
imports-would-reject = { $count ->
    [1] 1 fila se rechaza
   *[other] { $count } filas se rechazan
}
imports-line = Línea { $line }
imports-cancel = Detener la importación
imports-cancel-question = Las filas ya importadas se quedan; las demás no se importan.
imports-progress = Progreso
imports-percent = { $percent } % leído
imports-goes-on = La importación continúa aunque cierre esta página.
imports-download = { $count ->
    [1] Descargar la fila rechazada
   *[other] Descargar { $count } filas rechazadas
}
imports-state-uploading = Subiendo
imports-state-ready = Espera por usted
imports-state-running = En curso
imports-state-finished = Terminada
imports-state-failed = Falló
imports-state-canceled = Detenida
imports-field-first-name = Nombre
imports-field-last-name = Apellido
imports-field-name = Nombre completo
imports-field-email = Correo electrónico
imports-field-number = Teléfono
imports-field-lid = ID de WhatsApp
imports-field-picture = Dirección de una foto
imports-field-tags = Etiquetas
imports-field-ignored = Nada: dejarla fuera
imports-csv-line = línea
imports-csv-reason = motivo
imports-reject-field-count = La fila tiene { $found } campos, y el encabezado tiene { $wanted }
imports-reject-nul = { $field }: contiene un carácter NUL
imports-reject-too-long = { $field }: tiene más de { $most } caracteres
imports-reject-too-many-tags = Tiene más de 100 etiquetas
imports-reject-picture = La dirección de la foto no empieza con https:// ni http://
imports-reject-nobody = No tiene teléfono ni correo que identifique al contacto
imports-reject-no-digits = El teléfono no tiene dígitos, y no hay correo que identifique al contacto
imports-reject-number-short = El teléfono tiene menos de 7 dígitos, y no hay correo que identifique al contacto
imports-reject-number-long = El teléfono tiene más de 15 dígitos, y no hay correo que identifique al contacto
imports-reject-zero = El teléfono empieza con 0 en vez del código de país, y no hay correo que identifique al contacto
imports-reject-national = El teléfono parece nacional: falta el código del país
imports-reject-lid = En lugar del teléfono hay un ID de WhatsApp, que oculta el número
imports-reject-id = En lugar del teléfono hay un ID de WhatsApp que no es el número de una persona
imports-reject-address = En lugar del teléfono hay un correo
imports-reject-extension = El teléfono tiene una extensión
imports-reject-several = Hay más de un teléfono en el campo
imports-reject-date = En lugar del teléfono hay una fecha
imports-reject-letters = El teléfono tiene letras entre los dígitos
imports-reject-unclear = El teléfono tiene entre los dígitos caracteres que no son separadores
imports-reject-rounded = Una hoja de cálculo redondeó el teléfono a { $number }: ponga su columna como texto y guarde de nuevo
imports-reject-stray-quote = Hay comillas dentro de un campo: un campo con comillas debe ir entre comillas, y cada una de ellas duplicada
imports-reject-unclosed-quote = Aquí se abren comillas que nunca se cierran bien
imports-reject-line = La línea tiene más de 256 KiB
imports-country-missing = Elija el país de los números.
imports-names-kept = Nombres buenos conservados
imports-field-middle-name = Segundo nombre
imports-field-organization = Organización
imports-column-unnamed = Columna { $place } (sin nombre)
imports-column-repeated = { $name } (columna { $place })
imports-numbers = Números sin +
imports-numbers-international = son internacionales: empiezan con el código del país
imports-numbers-national = están escritos como se escriben en el país de abajo
imports-country = País de los números
imports-country-hint = Se guarda para la empresa. Un número con + es siempre internacional.
imports-names = Nombres con letras que se ven mal
imports-names-replace = Dejar que sustituyan los nombres buenos de los contactos conocidos
imports-wrong-bytes = { $count ->
    [1] El archivo está en UTF-8, pero la línea { $line } tiene un byte no válido. La fila se rechaza si el byte está en un campo del contacto. Para conservarla, corrija el archivo y vuelva a enviarlo.
   *[other] El archivo está en UTF-8, pero { $count } bytes no son válidos, el primero en la línea { $line }. Sus filas se rechazan si los bytes están en campos de los contactos. Para conservarlas, corrija el archivo y vuelva a enviarlo.
}
imports-look-national = { $count ->
    [1] 1 de estas filas tiene un número que parece nacional. Si los números están escritos como se escriben en este país ({ $country }), elija esa opción abajo.
   *[other] { $count } de estas filas tienen números que parecen nacionales. Si los números están escritos como se escriben en este país ({ $country }), elija esa opción abajo.
}
imports-look-garbled = { $count ->
    [1] 1 de estas filas tiene un nombre con letras que se ven mal, y el contacto tiene uno bueno. El contacto conserva su nombre. Quizá el archivo tenga otra codificación: elíjala abajo.
   *[other] { $count } de estas filas tienen nombres con letras que se ven mal, y los contactos tienen nombres buenos. Los contactos conservan sus nombres. Quizá el archivo tenga otra codificación: elíjala abajo.
}
imports-vcard = Este es un archivo vCard (.vcf). Impórtelo en una agenda que exporte CSV y envíe el archivo exportado: en Google Contactos, elija Importar y luego Exportar como CSV de Google; en Outlook, Personas, Administrar contactos, Exportar.
imports-reject-wrong-byte = { $field }: tiene un byte que no es válido en la codificación del archivo
imports-reject-lid-rounded = Una hoja de cálculo redondeó el ID de WhatsApp a { $lid }: ponga su columna como texto y guarde de nuevo
imports-old-workbook = Este es un archivo antiguo de Excel (.xls) o uno con contraseña. Ábralo, quite la contraseña, guárdelo como .xlsx o “CSV UTF-8” y suba el archivo guardado.
imports-open-document = Este es un archivo OpenDocument (.ods). Ábralo, guárdelo como .xlsx o como CSV en UTF-8 y suba el archivo guardado.
imports-numbers-file = Este es un archivo de Numbers. Elija Archivo, Exportar a, Excel o CSV y suba el archivo exportado.
imports-binary-workbook = Este es un archivo binario de Excel (.xlsb). Ábralo, guárdelo como .xlsx o “CSV UTF-8” y suba el archivo guardado.
imports-archive = Este es un archivo comprimido (.zip) o de otro programa. Descomprímalo, o guarde su tabla como .xlsx o “CSV UTF-8”, y suba ese archivo.
imports-damaged-workbook = No se puede leer este archivo de Excel: está incompleto o dañado. Ábralo en una hoja de cálculo, guárdelo de nuevo como .xlsx o “CSV UTF-8” y suba el archivo guardado.
imports-large-workbook = Este archivo de Excel es demasiado grande para leerlo. Divídalo, o guarde su tabla como “CSV UTF-8”, y suba ese archivo.
imports-no-sheet = Este archivo de Excel no tiene ninguna hoja con celdas. Guarde la tabla de contactos como .xlsx o “CSV UTF-8” y suba ese archivo.
imports-sheet = Se lee la hoja “{ $name }”. El archivo tiene { $count } hojas: si sus contactos están en otra, muévala al principio, guarde y suba el archivo de nuevo.
imports-separator = Entre varias etiquetas en una celda
imports-separator-hint = Un punto y coma siempre separa etiquetas.
imports-separator-semicolon = solo punto y coma (;)
imports-separator-comma = también comas (,)
imports-separator-bar = también barras (|)
imports-emails-left-out = Sin su correo erróneo
imports-would-leave-out = { $count ->
    [1] 1 contacto sin su correo, que no es válido
   *[other] { $count } contactos sin sus correos, que no son válidos
}
imports-contacts = Los primeros contactos, como se guardarán
imports-no-contacts = Ninguna de las primeras filas es un contacto. Vea las filas con problemas.
imports-no-messages = sin número válido
imports-is-new = nuevo
imports-is-updated = se actualiza
imports-is-unchanged = queda como está
imports-given-tags = Etiquetas que reciben estas filas
imports-tag-contacts = { $count ->
    [1] 1 contacto
   *[other] { $count } contactos
}
imports-tag-new = nueva
imports-more = y { $count } más
imports-problems = Filas con problemas
imports-row = Fila { $row }
imports-is-rejected = rechazada
imports-is-without-email = sin correo
imports-wrong-email = “{ $address }” no es una dirección de correo. El contacto se importa sin ella. Corrija la dirección en el archivo para conservarla.
imports-more-problems = { $count ->
    [1] 1 fila más de estas tiene un problema. Después de la importación puede descargar todas las filas rechazadas.
   *[other] { $count } filas más de estas tienen problemas. Después de la importación puede descargar todas las filas rechazadas.
}
imports-reject-wrong-address = “{ $address }” no es una dirección de correo, y no hay un número de teléfono que identifique el contacto
imports-do-save-again = Guarde el archivo de nuevo en una hoja de cálculo, como .xlsx o “CSV UTF-8”.
imports-do-write-again = Escriba el texto de nuevo en el archivo o elija otra codificación arriba.
imports-do-shorten = Acorte el texto.
imports-do-remove-tags = Quite algunas de sus etiquetas.
imports-do-picture = Corrija la dirección o deje la columna fuera arriba.
imports-do-identify = Añada un número de teléfono o una dirección de correo.
imports-do-address = Corrija la dirección o añada un número de teléfono.
imports-do-national = Escríbalo con + y el código del país o elija arriba el país de los números.
imports-do-one-number = Deje un solo número en la celda, con + y el código del país.
imports-do-number = Escriba el número con + y el código del país o añada una dirección de correo.
imports-new-field = Campo nuevo: { $kind }
imports-reject-field-number = { $field }: “{ $cell }” no es un número.
imports-reject-field-thousand = { $field }: “{ $cell }” puede ser un millar o tener tres decimales.
imports-reject-field-date = { $field }: “{ $cell }” no es una fecha.
imports-reject-field-day = { $field }: en “{ $cell }” puede ir primero el día o el mes.
imports-do-field-number = Escriba el número sin separador de millares, como 1234.5.
imports-do-field-date = Escriba la fecha como 2026-01-31, o elija arriba el país de los números del archivo: sus fechas se leen igual.
