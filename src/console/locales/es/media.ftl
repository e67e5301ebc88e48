media-title = Multimedia
media-hint = Archivos que envía: imágenes (JPEG, PNG), vídeos (MP4, 3GP), sonidos (MP3, M4A, AAC, AMR, Ogg con Opus), stickers (WebP) y documentos de cualquier tipo.
media-file = Archivo
media-as = Enviar como
media-as-hint = Una imagen o un vídeo más grande de lo que WhatsApp muestra se puede enviar como documento.
media-as-it-is = Lo que es
media-as-document = Un documento
media-upload = Subir
media-broken = La subida se interrumpió. Compruebe la conexión y envíe el archivo otra vez.
media-kept = { $name } está en la biblioteca.
media-none = Todavía no hay archivos.
media-none-hint = Suba un archivo y elíjalo cuando escriba un mensaje.
media-used-space = { $files ->
    [1] 1 archivo, { $size } de { $most }
   *[other] { $files } archivos, { $size } de { $most }
}
media-used = Usado
media-uploaded = Subido
media-send = Enviar este archivo
media-link = Enlace para programas
media-delete = Eliminar { $name }
media-delete-question = El archivo ya no se podrá elegir. Los mensajes que esperan su envío aún lo tienen.
media-deleted = { $name } se eliminó.
media-unreachable = Las cuentas comerciales no pueden enviar archivos de la biblioteca: WhatsApp tiene que descargarlos y este servicio no tiene dirección pública. El operador la indica como server.public_url. Los teléfonos vinculados sí pueden enviarlos.
media-no-file = Ninguno: usar la dirección
media-from-library = O un archivo de la biblioteca
media-open-library = Subir un archivo
media-kilobytes = { $size } kB
media-megabytes = { $size } MB
media-gigabytes = { $size } GB
media-fault-none = Elija un archivo.
media-fault-large = El archivo es demasiado grande para WhatsApp: una imagen tiene 5 MB como máximo, un vídeo o un sonido 16 MB, un sticker 500 kB, un documento 100 MB.
media-fault-unusable = WhatsApp no acepta este archivo: está vacío o dañado, o es una imagen WebP que no es un sticker de 512 por 512 píxeles. Elija otro o envíelo como documento.
media-fault-full = La biblioteca está llena. Elimine archivos que ya no se necesitan.
media-fault-store = No se pudo guardar el archivo: el servicio no tiene espacio o está ocupado. Inténtelo más tarde o avise al operador.
