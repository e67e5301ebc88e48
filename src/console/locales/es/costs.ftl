costs-title = Costos
costs-hint = Lo que cuestan los mensajes que llegaron por cuentas de empresa, según los precios publicados por Meta. Es una estimación y no la factura de Meta. Los mensajes por teléfonos vinculados no cuestan nada allí.
costs-months = Meses
costs-none = En este mes no llegó ningún mensaje facturado.
costs-none-hint = Meta dice cómo factura un mensaje cuando el mensaje llega. Faltan los mensajes de antes de este recuento. Los meses son en UTC.
costs-amount = Importe
costs-messages = Mensajes
costs-charged = Mensajes cobrados
costs-unpriced = { $count ->
    [1] De 1 mensaje no se conoce el precio; no está en el importe.
   *[other] De { $count } mensajes no se conoce el precio; no están en el importe.
}
costs-prices-of = Según los precios desde el { $day }. Meta puede cobrar menos por volumen. Los meses son en UTC.
costs-no-card = No se conocen precios de este mes.
costs-by-channel = Por canal
costs-by-category = Por categoría
costs-by-country = Por país
costs-file = Descargar como CSV
costs-all-channels = Todos los canales
costs-removed-channel = Un canal eliminado
costs-what = Qué
costs-country = País
costs-price = Precio
costs-no-price = no se conoce
costs-no-country = País desconocido
costs-marketing = Marketing
costs-utility = Utilidad
costs-authentication = Autenticación
costs-authentication-international = Autenticación desde el extranjero
costs-service = Servicio
costs-other = Otra
costs-about = Costo estimado: { $amount }
costs-at-most = Costo estimado: como máximo { $amount }
costs-basis = Según los precios publicados por Meta desde el { $day }, categoría { $category }. Es una estimación y no la factura de Meta: solo se cobran los mensajes que llegan, algunos son gratis después de que una persona escribió, y los precios pueden bajar con el volumen.
costs-free-service = Meta no cobra los primeros 1000 mensajes sin plantilla de un número en cada mes.
costs-from-abroad = En algunos países, Meta tiene un precio más alto para mensajes de autenticación de empresas del extranjero.
costs-send = Costo
costs-so-far = Hasta ahora: { $amount }
costs-arrived = { $count ->
    [1] 1 mensaje llegó y se factura
   *[other] { $count } mensajes llegaron y se facturan
}, { $free } de ellos gratis
costs-nothing-yet = Meta todavía no ha dicho cómo factura un mensaje de este envío.
