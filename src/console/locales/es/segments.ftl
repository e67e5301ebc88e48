segments-title = Segmentos
segments-hint = Los contactos que un segmento selecciona cuando se acepta el envío.
segments-name = Nombre del segmento
segments-name-wrong = El nombre de un segmento tiene 100 caracteres como máximo y ningún salto de línea.
segments-name-taken = Otro segmento tiene ese nombre.
segments-full = Hay { $most } segmentos. Elimine uno que nadie necesite.
segments-nothing = Esta lista no está filtrada, o nadie puede estar en ella, así que no es un segmento.
segments-save = Guardar esta lista como segmento
segments-save-new = Guardar segmento
segments-saved = El segmento se guardó.
segments-open = Segmento abierto:
segments-replace = Reemplazar «{ $name }» por esta lista
segments-changed = El segmento se cambió. Los envíos aceptados antes conservan sus destinatarios.
segments-rename = Cambiar el nombre
segments-count = { $count ->
    [1] 1 contacto está ahora en este segmento
   *[other] { $count } contactos están ahora en este segmento
}
segments-send = Enviar a estos contactos
segments-delete = Eliminar segmento
segments-delete-question = Los contactos permanecen, y también los destinatarios de los envíos aceptados antes. Esto no se puede deshacer.
segments-deleted = El segmento se eliminó.
segments-lacks-tag = Este segmento menciona una etiqueta que se eliminó.
segments-lacks-send = Este segmento menciona un envío cuyos registros se eliminaron.
segments-lacks-field = Este segmento menciona un campo de contactos que se eliminó.
segments-unreadable = Una versión posterior de Pombo guardó este segmento, y esta versión no puede leerlo.
segments-outdated = Hasta que se reemplace, no hay nadie en él.
