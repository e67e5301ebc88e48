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
contacts-with-tag = Contactos con la etiqueta
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
    [1] El único que la búsqueda encuentra
   *[other] Los { $count } que la búsqueda encuentra
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
contacts-back = Volver a los contactos
contacts-show-all = Mostrar todos los contactos
contacts-lid-wrong = Una hoja de cálculo redondeó este ID de WhatsApp. Indique el ID completo o deje el campo vacío.
