fields-title = Campos de los contactos
fields-name = Nombre
fields-kind = Contiene
fields-kind-hint = No se puede cambiar después.
fields-kind-text = Texto
fields-kind-number = Número
fields-kind-date = Fecha
fields-in-templates = En plantillas
fields-first = Los contactos todavía no tienen campos propios. Un campo guarda algo que usted sabe de cada contacto, como la fecha de nacimiento.
fields-first-hint = Cree uno aquí, o hágalo de una columna cuando importe un archivo.
fields-new = Campo nuevo
fields-create = Crear campo
fields-created = El campo se creó.
fields-save = Guardar
fields-saved = El campo se guardó.
fields-delete = Eliminar campo
fields-deleted = El campo se eliminó. Sus contactos se quedan.
fields-delete-question = { $count ->
    [0] Ningún contacto tiene un valor de este campo. Eliminarlo no se puede deshacer.
    [1] 1 contacto tiene un valor de este campo y lo pierde. Los mensajes que aún esperan se envían como a contactos sin valor. Esto no se puede deshacer.
   *[other] { $count } contactos tienen un valor de este campo y lo pierden. Los mensajes que aún esperan se envían como a contactos sin valor. Esto no se puede deshacer.
}
fields-count = { $count ->
    [1] 1 contacto tiene un valor
   *[other] { $count } contactos tienen un valor
}
fields-name-taken = Otro campo tiene este nombre, o todos los contactos tienen un campo con este nombre.
fields-name-wrong = El nombre de un campo tiene de 1 a { $most } caracteres y ningún salto de línea.
fields-too-many = Hay { $most } campos y no puede haber más. Elimine uno primero.
fields-all = Todos los campos
fields-back = Volver a los contactos
fields-text-wrong = Este texto tiene un carácter que no se puede guardar. Escríbalo otra vez.
fields-number-wrong = Indique un número de 15 dígitos como máximo, 12 antes del punto y 6 después.
fields-date-wrong = Indique una fecha como 2026-01-31.
