media-title = Media
media-hint = Files that you send: pictures (JPEG, PNG), videos (MP4, 3GP), sounds (MP3, M4A, AAC, AMR, Ogg with Opus), stickers (WebP), and documents of any type.
media-file = File
media-as = Send as
media-as-hint = A picture or a video that is larger than WhatsApp shows can be sent as a document.
media-as-it-is = What it is
media-as-document = A document
media-upload = Upload
media-broken = The upload was interrupted. Check the connection and send the file again.
media-kept = { $name } is in the library.
media-none = There are no files yet.
media-none-hint = Upload a file, and choose it when you write a message.
media-used-space = { $files ->
    [1] 1 file, { $size } of { $most }
   *[other] { $files } files, { $size } of { $most }
}
media-used = Used
media-uploaded = Uploaded
media-send = Send this file
media-link = Link for programs
media-delete = Delete { $name }
media-delete-question = The file can no longer be chosen. Messages that wait to be sent still have it.
media-deleted = { $name } is deleted.
media-unreachable = Business accounts cannot send files of the library: WhatsApp has to fetch them, and this service has no public address. The operator sets it as server.public_url. Linked phones can send them.
media-no-file = No file: use the address
media-from-library = Or a file of the library
media-open-library = Upload a file
media-kilobytes = { $size } kB
media-megabytes = { $size } MB
media-gigabytes = { $size } GB
media-fault-none = Choose a file.
media-fault-large = The file is too large for WhatsApp: a picture has at most 5 MB, a video or a sound 16 MB, a sticker 500 kB, a document 100 MB.
media-fault-unusable = WhatsApp does not take this file: it is empty or damaged, or a WebP picture that is no sticker of 512 by 512 pixels. Choose another one, or send it as a document.
media-fault-full = The library is full. Delete files that are not needed any more.
media-fault-store = The file could not be kept: the service has no room for it, or is busy. Try again later, or tell the operator.
