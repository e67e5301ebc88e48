"""Drives the simulator with heyoo, and reads its webhooks with it."""

import json
import os
import sys
import tempfile

from heyoo import WhatsApp

from receiver import Receiver, ask

base_url, version = sys.argv[1:]
NUMBER, PERSON = "106540352242923", "5511999990001"

heyoo = WhatsApp("T-1", phone_number_id=NUMBER)
# The library knows one address only: the provider's.
heyoo.base_url = heyoo.v15_base_url = f"{base_url}/{version}"
heyoo.url = f"{heyoo.base_url}/{NUMBER}/messages"


def id_of(answer):
    assert answer.get("messages"), answer
    return answer["messages"][0]["id"]


with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    with open("a.txt", "wb") as file:
        file.write(b"some text")
    media = heyoo.upload_media("a.txt")["id"]
    address = heyoo.query_media_url(media)
    with open(heyoo.download_media(address, "text/plain", "fetched"), "rb") as file:
        assert file.read() == b"some text"
    id_of(heyoo.send_document(media, PERSON, caption="look", link=False))
    assert heyoo.delete_media(media) == {"success": True}
    assert heyoo.query_media_url(media) is None

receiver = Receiver(base_url, NUMBER)
sent = id_of(heyoo.send_message("hello", PERSON))
# Each status comes in a webhook of its own, and webhooks may overtake one another.
heard = []
while len(heard) < 3:
    told = json.loads(receiver.next()[0])
    assert heyoo.changed_field(told) == "messages", told
    assert not heyoo.is_message(told), told
    statuses = told["entry"][0]["changes"][0]["value"]["statuses"]
    assert heyoo.get_delivery(heyoo.preprocess(told) and told) == statuses[0]["status"], told
    assert heyoo.get_mobile(told) == PERSON, told
    assert {status["id"] for status in statuses} == {sent}, told
    heard += [status["status"] for status in statuses]
assert sorted(heard) == ["delivered", "read", "sent"], heard

ask(base_url, "/script", {"webhook": {"inbound": {"phone_number_id": NUMBER, "from": PERSON, "text": "olá"}}})
told = json.loads(receiver.next()[0])
assert heyoo.is_message(told) and heyoo.get_message_type(told) == "text", told
assert (heyoo.get_message(told), heyoo.get_mobile(told)) == ("olá", PERSON), told
assert heyoo.get_name(told), told
assert heyoo.mark_as_read(heyoo.get_message_id(told)) == {"success": True}

receiver.server.shutdown()
id_of(heyoo.reply_to_message(sent, PERSON, "again"))
id_of(heyoo.send_template("hello_world", PERSON, [], "en_US"))
id_of(heyoo.send_location("37.75", "-122.42", "HQ", "1 Hacker Way", PERSON))
id_of(heyoo.send_image("https://example.com/a.png", PERSON))
id_of(heyoo.send_audio("https://example.com/a.ogg", PERSON))
id_of(heyoo.send_video("https://example.com/a.mp4", PERSON))
id_of(heyoo.send_reaction("😀", sent, PERSON))
button = {"type": "button", "body": {"text": "Will you come?"}}
button["action"] = {"buttons": [{"type": "reply", "reply": {"id": "yes", "title": "Yes"}}]}
id_of(heyoo.send_reply_button(button, PERSON))

print("heyoo: files, messages and webhooks")
