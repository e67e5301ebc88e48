// Drives the simulator with whatsapp-api-js, and receives its webhooks with it.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { WhatsAppAPI } from "whatsapp-api-js";
import { ActionButtons, Body, Button, Image, Interactive, Language, Template, Text } from "whatsapp-api-js/messages";

const [baseUrl, version] = process.argv.slice(2);
const [number, person, appSecret] = ["106540352242924", "5511999990001", "app-secret"];

/** The library knows one address only: the provider's. */
const toSimulator = (url, options) => fetch(String(url).replace("https://graph.facebook.com", baseUrl), options);
const whatsapp = new WhatsAppAPI({ token: "T-1", appSecret, v: version, ponyfill: { fetch: toSimulator } });

const ask = async (path, body) => {
  const answer = await fetch(`${baseUrl}/_sim${path}`, { method: "POST", body: JSON.stringify(body) });
  assert.equal(answer.status, 200, await answer.text());
};
const idOf = (answer) => {
  assert.ok(answer.messages?.[0].id.startsWith("wamid."), JSON.stringify(answer));
  return answer.messages[0].id;
};

// Files.
const form = new FormData();
form.set("file", new Blob(["some text"], { type: "text/plain" }), "a.txt");
const { id: media } = await whatsapp.uploadMedia(number, form);
const described = await whatsapp.retrieveMedia(media, number);
assert.deepEqual([described.mime_type, Number(described.file_size)], ["text/plain", 9]);
assert.equal(await (await whatsapp.fetchMedia(described.url)).text(), "some text");
assert.deepEqual(await whatsapp.deleteMedia(media), { success: true });
assert.equal((await whatsapp.retrieveMedia(media)).error.code, 100);

// Messages, and their webhooks.
const waiting = [];
const told = [];
const tell = (event) => (waiting.length > 0 ? waiting.shift()(event) : told.push(event));
const next = () => (told.length > 0 ? Promise.resolve(told.shift()) : new Promise((heard) => waiting.push(heard)));
whatsapp.on.status = (status) => tell({ status });
whatsapp.on.message = (message) => tell({ message });
const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString();
  await whatsapp.post(JSON.parse(body), body, request.headers["x-hub-signature-256"]);
  response.end();
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
await ask("/webhook", {
  url: `http://127.0.0.1:${server.address().port}/hook`,
  app_secret: appSecret,
  phone_number_id: number,
  delivered_after: "10ms",
  read_after: "10ms",
  read_probability: 1,
  // The library looks at the first status of a webhook alone.
  batch: 1,
});

const sent = idOf(await whatsapp.sendMessage(number, person, new Text("hello"), undefined, "k-1"));
// Each status comes in a webhook of its own, and webhooks may overtake one another.
const states = [];
for (let heard = 0; heard < 3; heard += 1) {
  const { status } = await next();
  states.push(status.status);
  assert.deepEqual(
    [status.id, status.phone, status.biz_opaque_callback_data, status.contact.profile?.name !== undefined],
    [sent, person, "k-1", true],
  );
}
assert.deepEqual(states.sort(), ["delivered", "read", "sent"]);
await ask("/script", { webhook: { inbound: { phone_number_id: number, from: person, text: "olá" } } });
const { message } = await next();
assert.deepEqual([message.message.text.body, message.from], ["olá", person]);
assert.deepEqual(await message.received(), { success: true });
const answered = idOf(await message.reply(new Text("Oi!"), true));
assert.equal((await next()).status.id, answered);
server.close();

const buttons = new ActionButtons(new Button("yes", "Yes"), new Button("no", "No"));
for (const content of [
  new Image("https://example.com/a.png", false, "look"),
  new Interactive(buttons, new Body("Will you come?")),
  new Template("hello_world", new Language("en_US")),
]) {
  idOf(await whatsapp.sendMessage(number, person, content));
}

// Blocked people; the library asks for them without a version.
const blocked = await whatsapp.blockUser(number, { phone: person });
assert.equal(blocked.block_users?.added_users[0].wa_id, person, JSON.stringify(blocked));
const refused = await whatsapp.sendMessage(number, person, new Text("still there?"));
assert.equal(refused.error?.code, 130403, JSON.stringify(refused));
const unblocked = await whatsapp.unblockUser(number, { phone: person });
assert.equal(unblocked.block_users?.removed_users[0].wa_id, person, JSON.stringify(unblocked));

console.log("whatsapp-api-js: files, messages, webhooks and blocked people");
process.exit(0);
