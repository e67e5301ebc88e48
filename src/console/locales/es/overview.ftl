overview-title = Resumen
