overview-title = Visão geral
