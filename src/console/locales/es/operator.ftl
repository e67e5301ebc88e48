operator-title = Operador
operator-health = Estado
operator-node = Este nodo
operator-ready = listo
operator-not-ready = no listo
operator-database = La base de datos responde en
operator-provider = Canales en WhatsApp
operator-streams = Páginas en vivo abiertas
operator-slow = Quién va lento
operator-none-slow = No espera nada que pueda salir.
operator-channel = Canal
operator-search = Buscar empresas y canales
operator-no-channels = No hay ningún canal así.
operator-add = Añadir empresa
operator-company-added = La empresa «{ $name }» se añadió.
operator-name-taken = Otra empresa tiene este nombre.
operator-tier-end = por un tiempo; de nuevo { $tier }
operator-tier-changed = El canal «{ $channel }» está en el plan { $tier }. Lo aplica en un segundo.
operator-tier-options = Opciones propias
operator-tier-options-hint = Valores que solo tiene este canal. Lo que no está marcado es como dice el plan.
operator-tier-until = Hasta
operator-tier-until-hint = Después vuelven a contar el plan y las opciones que el canal tenía de forma permanente. Sin una hora, el cambio es permanente.
operator-steps = Próximos pasos
operator-step-tier = Dele un plan
operator-step-tier-why = El plan dice con qué rapidez envían sus canales nuevos y cuántas peticiones de API puede hacer.
operator-step-owner = Invite a un propietario
operator-step-owner-why = Un propietario invita a las demás personas y crea claves de API.
operator-step-number = Conecte un número
operator-step-number-why = Un propietario añade un canal en la consola; los operadores también pueden.
operator-company-change = Nombre y plan
operator-company-tier-hint = Los canales nuevos empiezan con él, y limita las peticiones de API. Los canales conservan el suyo, así que los envíos en curso no cambian.
operator-company-save = Guardar
operator-company-saved = Guardado.
operator-company-members = { $members ->
    [1] Un miembro
   *[other] { $members } miembros
}, { $owners ->
    [1] un propietario
   *[other] { $owners } propietarios
} entre ellos
operator-company-channels = { $channels ->
    [1] Un canal
   *[other] { $channels } canales
}, { $connected ->
    [1] 1 conectado
   *[other] { $connected } conectados
}
operator-company-keys = Claves de API válidas
operator-company-since = Añadida
operator-company-no-members = Nadie pertenece todavía a esta empresa.
operator-company-access = Acceso
operator-company-disable-what = Mientras una empresa está desactivada, sus claves de API se rechazan, nadie puede elegirla en la consola y sus envíos quedan en pausa. Los mensajes entrantes y los avisos de entrega se siguen registrando.
operator-company-disable = Desactivar la empresa
operator-company-disable-question = Las claves de API de { $name } se rechazan, su gente tiene que salir y sus envíos se pausan.
operator-company-enable = Activar la empresa
operator-company-disabled-why = Esta empresa está desactivada: su gente y sus programas no entran.
operator-company-is-disabled = La empresa está desactivada. Sus envíos se pausan en dos segundos.
operator-company-is-enabled = La empresa está activa otra vez. Sus envíos quedan en pausa hasta que alguien de la empresa los reanude.
