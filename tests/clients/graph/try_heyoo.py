"""heyoo: the types of messages that it has, files, signs, webhooks and errors."""

import json
import os
import tempfile

from heyoo import WhatsApp

from suite import NAME, PERSON, Receiver, end, let_fail, row, sample, target, write


def client(key):
    heyoo = WhatsApp(key, phone_number_id=target.number)
    # The library knows one address only: the provider's.
    heyoo.base_url = heyoo.v15_base_url = f"{target.base_url}/{target.version}"
    heyoo.url = f"{heyoo.base_url}/{target.number}/messages"
    return heyoo


heyoo = client(target.key)


def id_of(answer):
    assert answer.get("messages"), answer
    assert answer["contacts"][0]["wa_id"], answer
    return answer["messages"][0]["id"]


@row("files")
def files():
    ids = {}
    with tempfile.TemporaryDirectory() as directory:
        for kind in ("image", "video", "audio", "document", "sticker"):
            content, name, _ = sample(kind)
            place = os.path.join(directory, name)
            with open(place, "wb") as file:
                file.write(content)
            ids[kind] = heyoo.upload_media(place)["id"]
        address = heyoo.query_media_url(ids["document"])
        content, _, mime_type = sample("document")
        with open(heyoo.download_media(address, mime_type, os.path.join(directory, "fetched")), "rb") as file:
            assert file.read() == content
        place = os.path.join(directory, "a.txt")
        with open(place, "w") as file:
            file.write(f"some text for {PERSON}")
        text = heyoo.upload_media(place)["id"]
        assert heyoo.delete_media(text) == {"success": True}
        assert heyoo.query_media_url(text) is None
    return ids


receiver = Receiver(lambda asked: (asked["hub.challenge"], 200))
told = []


def hear(found):
    def read(body, _):
        webhook = json.loads(body)
        assert heyoo.changed_field(webhook) == "messages", webhook
        told.append(webhook)

    return receiver.hear(read, lambda: next((webhook for webhook in told if found(webhook)), None))


def hear_status(sent, word):
    def is_it(webhook):
        statuses = heyoo.preprocess(webhook).get("statuses", [])
        return any(status["id"] == sent for status in statuses) and heyoo.get_delivery(webhook) == word

    return hear(is_it)


def hear_message(kind, text=None):
    def is_it(webhook):
        is_kind = heyoo.is_message(webhook) and heyoo.get_message_type(webhook) == kind and heyoo.get_mobile(webhook) == PERSON
        return is_kind and (text is None or heyoo.get_message(webhook) == text)

    return hear(is_it)


@row("statuses")
def _():
    sent = id_of(heyoo.send_message("hello", PERSON))
    for word in ("sent", "delivered", "read"):
        assert heyoo.get_mobile(hear_status(sent, word)) == PERSON


@row("handshake")
def _():
    [(asked, _)] = receiver.handshakes
    assert asked["hub.verify_token"] == target.verify_token, asked


@row("failed message")
def _():
    let_fail()
    answer = heyoo.send_template("hello_world", target.failing, [], "en_US")
    if target.is_web and "error" in answer:
        assert answer["error"]["code"] == 131000, answer
        return
    failed = hear_status(id_of(answer), "failed")
    [error] = heyoo.preprocess(failed)["statuses"][0]["errors"]
    assert error["code"] > 0 and error["title"] and error["error_data"]["details"], error


@row("inbound text")
def heard():
    write(text="Olá!")
    webhook = hear_message("text", "Olá!")
    assert heyoo.get_name(webhook) == NAME, webhook
    assert int(heyoo.get_message_timestamp(webhook)) > 0, webhook
    return heyoo.get_message_id(webhook)


@row("inbound file")
def _():
    write(document={"file_name": "list.pdf"})
    document = heyoo.get_document(hear_message("document"))
    with tempfile.TemporaryDirectory() as directory:
        place = os.path.join(directory, "fetched")
        with open(heyoo.download_media(heyoo.query_media_url(document["id"]), document["mime_type"], place), "rb") as file:
            assert file.read() == sample("document")[0]


@row("inbound location")
def _():
    write(location={"latitude": -23.5, "longitude": -46.5})
    assert heyoo.get_location(hear_message("location"))["latitude"] == -23.5


@row("read mark and typing")
def _():
    assert heyoo.mark_as_read(heard) == {"success": True}


buttons = {
    "type": "button",
    "body": {"text": "Will you come?"},
    "action": {"buttons": [{"type": "reply", "reply": {"id": "yes", "title": "Yes"}}]},
}
menu = {
    "header": "Menu",
    "body": "What will it be?",
    "footer": "Until nine",
    "action": {"button": "Open", "sections": [{"title": "Hot", "rows": [{"id": "tea", "title": "Tea", "description": ""}]}]},
}
contact = {"name": {"formatted_name": "Ana Sol", "first_name": "Ana"}, "phones": [{"phone": "+999900000001", "type": "CELL"}]}
for kind, send in {
    "text": lambda: heyoo.send_message("*Olá*", PERSON),
    "image": lambda: heyoo.send_image(files["image"], PERSON, caption="look", link=False),
    "video": lambda: heyoo.send_video(files["video"], PERSON, caption="look", link=False),
    "audio": lambda: heyoo.send_audio(files["audio"], PERSON, link=False),
    "document": lambda: heyoo.send_document(files["document"], PERSON, caption="look", link=False),
    "sticker": lambda: heyoo.send_sticker(files["sticker"], PERSON, link=False),
    "location": lambda: heyoo.send_location("37.75", "-122.42", "HQ", "1 Hacker Way", PERSON),
    "contacts": lambda: heyoo.send_contacts([contact], PERSON),
    "reaction": lambda: heyoo.send_reaction("😀", heard, PERSON),
    "template": lambda: heyoo.send_template("hello_world", PERSON, [], "en_US"),
    "buttons": lambda: heyoo.send_reply_button(buttons, PERSON),
    "list": lambda: heyoo.send_button(menu, PERSON),
    "answer": lambda: heyoo.reply_to_message(heard, PERSON, "Oi!"),
}.items():
    row(f"send {kind}")(lambda: id_of(send()))


@row("error of a message")
def _():
    error = heyoo.send_template("no_such_template", PERSON, [], "en_US")["error"]
    assert (error["code"], error["type"]) == (132001, "OAuthException"), error


@row("error of a key")
def _():
    assert client("EXPIRED-key").send_message("hello", PERSON)["error"]["code"] == 190


receiver.close()
end()
