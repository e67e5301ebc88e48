contacts-title = Contactos
contacts-search = Buscar contactos
contacts-find = Buscar
contacts-new = Nuevo contacto
contacts-add = Agregar contacto
contacts-import = Importar un archivo
contacts-export = Descargar como CSV
contacts-tags = Etiquetas
contacts-tags-hint = Separadas por punto y coma. Un nombre nuevo se convierte en una etiqueta nueva.
contacts-name = Nombre
contacts-first-name = Nombre
contacts-last-name = Apellido
contacts-number = Teléfono
contacts-number-hint = Con el código del país, como +55 11 98888-7777.
contacts-number-taken = Otro contacto tiene ese número. Cambie aquel o combine los dos.
contacts-number-wrong = Este no es un número internacional: tiene de 7 a 15 dígitos y empieza con el código del país.
contacts-nameless = Un contacto necesita un teléfono o un correo electrónico.
contacts-email = Correo electrónico
contacts-lid = ID de WhatsApp
contacts-picture = Dirección de una foto
contacts-since = Agregado
contacts-changed = cambiado
contacts-save = Guardar
contacts-saved = El contacto se guardó.
contacts-added = El contacto se agregó.
contacts-merged = Los contactos se combinaron.
contacts-doubles = Quizá la misma persona
contacts-doubles-hint = Estos contactos tienen el mismo número o el mismo correo electrónico.
contacts-merge = Combinar en este contacto
contacts-merge-question = Este contacto conserva lo que tiene, toma el resto y todas las etiquetas de los otros, y los otros se eliminan.
contacts-nothing-found = Ningún contacto coincide con esta búsqueda.
contacts-none-tagged = Ningún contacto tiene esta etiqueta.
contacts-nobody = Todavía no hay contactos. Importe un archivo o agregue el primero.
contacts-total = { $count ->
    [1] 1 contacto
   *[other] { $count } contactos
}
contacts-pick = Seleccionar { $name }
contacts-do = Con estos contactos
contacts-scope-picked = Los seleccionados
contacts-scope-found = { $count ->
    [1] El único que se encontró
   *[other] Los { $count } que se encontraron
}
contacts-scope-tagged = { $count ->
    [1] El único contacto con esta etiqueta
   *[other] Los { $count } contactos con esta etiqueta
}
contacts-scope-everybody = { $count ->
    [1] El único contacto
   *[other] Los { $count } contactos
}
contacts-none-picked = Seleccione al menos un contacto o elija todos.
contacts-tag = Etiqueta
contacts-tag-name-wrong = El nombre de una etiqueta no tiene punto y coma ni salto de línea, y tiene como máximo 100 caracteres.
contacts-tag-unknown = No hay ninguna etiqueta con ese nombre.
contacts-do-tag = Poner etiqueta
contacts-do-untag = Quitar etiqueta
contacts-do-delete = Eliminar
contacts-tagged = { $count ->
    [1] 1 contacto recibió la etiqueta.
   *[other] { $count } contactos recibieron la etiqueta.
}
contacts-untagged = { $count ->
    [1] La etiqueta se quitó de 1 contacto.
   *[other] La etiqueta se quitó de { $count } contactos.
}
contacts-deleted = { $count ->
    [1] Se eliminó 1 contacto.
   *[other] Se eliminaron { $count } contactos.
}
contacts-goes-on = Son muchos contactos: el cambio continúa aunque salga de esta página.
contacts-delete-title = Eliminar contactos
contacts-delete-question = { $count ->
    [1] Se eliminará 1 contacto. Esto no se puede deshacer.
   *[other] Se eliminarán { $count } contactos. Esto no se puede deshacer.
}
contacts-delete-sure = { $count ->
    [1] Sí: eliminar 1 contacto
   *[other] Sí: eliminar { $count } contactos
}
contacts-erase = Borrar conversaciones
contacts-erase-question = { $count ->
    [1] Se borra todo lo de la conversación con esta persona, con archivos y notas, para todos. El contacto se conserva. Esto no se puede deshacer.
   *[other] Se borra todo lo de las { $count } conversaciones con esta persona, con archivos y notas, para todos. El contacto se conserva. Esto no se puede deshacer.
}
contacts-erased = Las conversaciones con esta persona se borraron.
contacts-back = Volver a los contactos
contacts-show-all = Mostrar todos los contactos
contacts-lid-wrong = Una hoja de cálculo redondeó este ID de WhatsApp. Indique el ID completo o deje el campo vacío.
contacts-by-tags = Filtrar por etiquetas
contacts-having = Con todas estas etiquetas
contacts-lacking = Con ninguna de estas etiquetas
contacts-show = Mostrar
contacts-own-fields = Campos
contacts-by-fields = Filtrar por campos
contacts-own-field = Campo
contacts-own-none = Elija un campo
contacts-own-test = Condición
contacts-own-value = Valor
contacts-own-value-hint = Una fecha como 2026-01-31, un número como 12.5 o un texto completo.
contacts-own-is = es
contacts-own-not = no es
contacts-own-least = es como mínimo
contacts-own-most = es como máximo
contacts-own-known = tiene algún valor
contacts-own-unknown = no tiene valor
contacts-own-order = Los textos no tienen orden. Elija otra condición.
contacts-own-many = Una lista tiene { $most } condiciones como máximo. Quite una primero.
contacts-in-use = En uso ahora; elija uno para quitarlo
contacts-with = Con { $tag }
contacts-without = Sin { $tag }
contacts-tag-open = Cambiar esta etiqueta
contacts-scope-page = { $count ->
    [1] El único de esta página
   *[other] Los { $count } de esta página
}
contacts-selected = Seleccionados: { $count }
contacts-do-send = Enviarles un mensaje
contacts-do-export = Descargar
contacts-send-by-tag = Un envío llega a personas con una etiqueta, a un segmento, o a 100 personas como máximo. Guarde primero esta lista como segmento, o ponga una etiqueta a estos contactos, y luego haga el envío.
contacts-write = Enviar un mensaje
contacts-more-fields = ID de WhatsApp y foto
contacts-details = Detalles
contacts-outdated = Otra persona cambió este contacto mientras usted lo editaba, así que no se guardó nada. Esto es lo que está guardado ahora. Si guarda otra vez, se reemplaza con lo que usted escribió.
contacts-empty-now = vacío
contacts-consent = Exclusión
contacts-consent-nowhere = Este contacto no tiene un teléfono al que puedan llegar mensajes.
contacts-consent-all = Recibe todos los mensajes
contacts-consent-none = No recibe
contacts-opt-out = Excluir
contacts-opt-out-question = Sus envíos omiten a este contacto desde ahora, hasta que alguien aquí lo incluya otra vez.
contacts-opt-in = Incluir otra vez
contacts-opt-in-question = Este contacto recibe mensajes otra vez. Hágalo solo si la persona lo pidió.
contacts-messages = Últimos mensajes
contacts-no-messages = Todavía no se envió ningún mensaje a este contacto.
contacts-by-send = Filtrar por un envío
contacts-send = Envío
contacts-any-send = Cualquiera
contacts-outcome = Resultado
contacts-notes = Notas
contacts-no-notes = Todavía no hay notas sobre este contacto.
contacts-note = Nota
contacts-note-new = Nueva nota
contacts-note-add = Agregar nota
contacts-note-added = La nota se agregó.
contacts-note-change = Cambiar la nota
contacts-note-changed = La nota se cambió.
contacts-note-delete = Eliminar nota
contacts-note-delete-question = La nota se elimina para todos. Esto no se puede deshacer.
contacts-note-deleted = La nota se eliminó.
contacts-notes-full = Este contacto tiene { $most } notas. Elimine una que nadie necesite.
