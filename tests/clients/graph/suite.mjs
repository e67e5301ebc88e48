// What the suites in JavaScript share: the target, the rows of the table, and a receiver of webhooks.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";

// What targets.mjs wrote of the target, and the number of the person whom this suite writes to.
export const target = JSON.parse(await readFile(process.argv[2], "utf8"));
export const person = process.argv[3];
// A name and texts outside ASCII, which are escaped in webhooks.
export const personName = "João";
let isSound = true;

/** Runs a row of the table, and returns its value. */
export const row = async (name, check, { offered = true } = {}) => {
  let value;
  let result = offered ? "ok" : "no";
  try {
    value = await check();
  } catch (error) {
    console.error(`${name}:\n${error.stack ?? error}`);
    [result, isSound] = ["FAILED", false];
  }
  console.log(`${name}\t${result}`);
  return value;
};

export const end = () => process.exit(isSound ? 0 : 1);

/** A part of a film. */
const box = (name, content) => {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(content.length + 8);
  head.write(name, 4);
  return Buffer.concat([head, content]);
};

/** A small file of this kind. */
export const sample = async (kind) => {
  const [name, type] = {
    image: ["photo.png", "image/png"],
    video: ["film.mp4", "video/mp4"],
    audio: ["voice.ogg", "audio/ogg"],
    document: ["list.pdf", "application/pdf"],
    sticker: ["sticker.webp", "image/webp"],
  }[kind];
  let bytes = await readFile(`${target.files}/${name}`);
  // It says that it has 512 by 512 pixels, which a sticker needs.
  if (kind === "sticker") bytes.set([0, 2, 0, 2], 26);
  // A film needs pictures: a track at the end of its second box.
  if (kind === "video") {
    const handler = Buffer.concat([Buffer.alloc(8), Buffer.from("vide"), Buffer.alloc(13)]);
    const moov = Buffer.concat([bytes.subarray(36, 144), box("trak", box("mdia", box("hdlr", handler)))]);
    bytes = Buffer.concat([bytes.subarray(0, 28), box("moov", moov), bytes.subarray(144)]);
  }
  return { name, type, bytes };
};

export const ask = async (method, url, body, headers = {}) => {
  const answer = await fetch(url, {
    method,
    headers: { "content-type": "application/json", ...headers },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(20_000),
  });
  const text = await answer.text();
  return { status: answer.status, body: text ? JSON.parse(text) : undefined };
};

/** Lets the person write to the number of the target. */
export const write = async (content) => {
  const written = { to: target.write_to, from: person, name: personName, ...content };
  const { status, body } = await ask("POST", `${target.simulator}/_sim/write`, written);
  assert.equal(status, 200, JSON.stringify(body));
};

/** The provider's id of the newest message to the person: the one that an answer names. */
export const newest = async () => {
  const query = new URLSearchParams({ channel: target.write_to, person });
  const { body } = await ask("GET", `${target.simulator}/_sim/conversation?${query}`);
  return body.data.findLast(({ by }) => by === "channel").id;
};

/** Lets messages to `target.failing` fail after they are accepted. A web session's do so by themselves, perhaps so soon that
 * the door refuses them at once. */
export const letFail = async () => {
  if (target.is_web) return;
  const outcome = { async_failed: { code: 131026 } };
  const script = { match: { to_suffix: target.failing.slice(-4) }, outcome };
  assert.equal((await ask("POST", `${target.simulator}/_sim/script`, script)).status, 200);
};

/** Waits until `wanted` finds something. */
export const until = async (wanted, what, seconds = 30) => {
  for (const last = Date.now() + seconds * 1000; Date.now() < last; ) {
    const found = wanted();
    if (found) return found;
    await new Promise((later) => setTimeout(later, 20));
  }
  throw new Error(`${what} did not come`);
};

/** Aims the webhooks of the number at an address; returns how to end that. */
export const aim = async (url) => {
  const { url: place, headers, body } = target.webhook;
  const added = await ask("POST", place, { ...body, url }, headers);
  assert.ok([200, 201].includes(added.status), JSON.stringify(added));
  return async () => added.body?.id && ask("DELETE", `${place}/${added.body.id}`, undefined, headers);
};

/** Gets webhooks: `challenge` is the client's answer to a handshake, `read` gets each body with its signature. */
export const receive = async ({ challenge, read }) => {
  const handshakes = [];
  const server = createServer(async (request, response) => {
    if (request.method === "GET") {
      const asked = Object.fromEntries(new URL(request.url, "http://receiver").searchParams);
      handshakes.push(asked);
      response.end(String(challenge(asked)));
      return;
    }
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    response.end();
    try {
      await read(Buffer.concat(chunks).toString(), request.headers["x-hub-signature-256"]);
    } catch (error) {
      console.error(`a webhook cannot be read: ${error.stack}\n${Buffer.concat(chunks)}`);
      isSound = false;
    }
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const ended = await aim(`http://127.0.0.1:${server.address().port}/hook`);
  return { handshakes, close: async () => (await ended(), server.close()) };
};
