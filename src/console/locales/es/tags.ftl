tags-title = Etiquetas
tags-search = Buscar etiquetas
tags-find = Buscar
tags-name = Nombre
tags-contacts = Contactos
tags-since = Agregada
tags-none = Todavía no hay una etiqueta así.
tags-new = Nueva etiqueta
tags-create = Crear etiqueta
tags-created = La etiqueta se creó.
tags-send = Enviar a estos contactos
tags-save = Guardar
tags-saved = La etiqueta se guardó. Sus contactos se encuentran por el nuevo nombre en unos instantes.
tags-delete = Eliminar etiqueta
tags-deleted = La etiqueta se eliminó. Los contactos permanecen.
tags-delete-question = La etiqueta se quita de todos sus contactos, que permanecen. Esto no se puede deshacer.
tags-color = Color
tags-color-hint = Las páginas muestran el más cercano de cinco colores que se leen bien, en claro y en oscuro.
tags-color-wrong = Indique un color como #22aa66.
tags-name-taken = Otra etiqueta tiene ese nombre.
tags-name-wrong = El nombre de una etiqueta no tiene punto y coma ni salto de línea.
tags-count = { $count ->
    [1] 1 contacto tiene esta etiqueta
   *[other] { $count } contactos tienen esta etiqueta
}
tags-all = Todas las etiquetas
tags-back = Volver a los contactos
tags-first = Todavía no hay etiquetas. Una etiqueta agrupa contactos, para que un envío llegue a todos.
tags-first-hint = Cree una aquí, o indique etiquetas al importar contactos.
tags-show-all = Mostrar todas las etiquetas
