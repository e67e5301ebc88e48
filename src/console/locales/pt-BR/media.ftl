media-title = Mídia
media-hint = Arquivos que você envia: imagens (JPEG, PNG), vídeos (MP4, 3GP), sons (MP3, M4A, AAC, AMR, Ogg com Opus), figurinhas (WebP) e documentos de qualquer tipo.
media-file = Arquivo
media-as = Enviar como
media-as-hint = Uma imagem ou um vídeo maior do que o WhatsApp mostra pode ser enviado como documento.
media-as-it-is = O que ele é
media-as-document = Um documento
media-upload = Enviar arquivo
media-broken = O envio foi interrompido. Verifique a conexão e envie o arquivo novamente.
media-kept = { $name } está na biblioteca.
media-none = Ainda não há arquivos.
media-none-hint = Envie um arquivo e escolha-o ao escrever uma mensagem.
media-used-space = { $files ->
    [1] 1 arquivo, { $size } de { $most }
   *[other] { $files } arquivos, { $size } de { $most }
}
media-used = Usado
media-uploaded = Enviado
media-send = Usar em uma mensagem
media-link = Link para programas
media-delete = Excluir { $name }
media-delete-question = O arquivo não poderá mais ser escolhido. Mensagens que aguardam envio ainda o têm.
media-deleted = { $name } foi excluído.
media-unreachable = Contas comerciais não podem enviar arquivos da biblioteca: o WhatsApp precisa baixá-los e este serviço não tem endereço público. O operador o define como server.public_url. Telefones vinculados podem enviá-los.
media-no-file = Nenhum: usar o endereço
media-from-library = Ou um arquivo da biblioteca
media-open-library = Enviar um arquivo
media-kilobytes = { $size } kB
media-megabytes = { $size } MB
media-gigabytes = { $size } GB
media-fault-none = Escolha um arquivo.
media-fault-large = O arquivo é grande demais para o WhatsApp: uma imagem tem no máximo 5 MB, um vídeo ou um som 16 MB, uma figurinha 500 kB, um documento 100 MB.
media-fault-unusable = O WhatsApp não aceita este arquivo: está vazio ou danificado, ou é uma imagem WebP que não é uma figurinha de 512 por 512 pixels. Escolha outro ou envie-o como documento.
media-fault-full = A biblioteca está cheia. Exclua arquivos que não são mais necessários.
media-fault-store = Não foi possível guardar o arquivo: o serviço não tem espaço ou está ocupado. Tente mais tarde ou avise o operador.
