// Receives a company's webhooks with the public library `standardwebhooks`, which verifies every delivery.
//
// The endpoint is added, tested and deleted with the TypeScript client that was generated from the reference, and the
// reference has the types of the events, too.

import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import createClient from "openapi-fetch";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import type { components, paths, webhooks } from "./api.js";

type EventType = components["schemas"]["EventType"];
type AnyEvent = components["schemas"]["Event"];
type EventOf<T extends EventType> = webhooks[T]["post"]["requestBody"]["content"]["application/json"];
/** What the library looks at, and the body as it came. */
type Delivery = { headers: Record<string, string>; body: Buffer; event: AnyEvent };

/** How long a delivery may take. */
const PATIENCE = 30_000;

const [baseUrl = "", key = "", channel = ""] = process.argv.slice(2);
const company = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });

function check(holds: boolean, sentence: string): asserts holds {
  if (holds) return;
  console.error(`TypeScript receiver: ${sentence}`);
  process.exit(1);
}

/** The data of an answer; any other one ends the program. */
function told<T>(answer: { data?: T; error?: unknown; response: Response }): T {
  check(answer.data !== undefined, `${answer.response.status} ${JSON.stringify(answer.error)}`);
  return answer.data;
}

/** The secrets of which one has to verify a delivery. */
let secrets: string[] = [];
const accepted: Delivery[] = [];
let wake = () => {};

/** The event of a delivery that this secret signed; nothing for any other one. */
function verified(secret: string, body: Buffer, headers: Record<string, string>): AnyEvent | undefined {
  try {
    return new Webhook(secret).verify(body, headers) as AnyEvent;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return undefined;
    throw error;
  }
}

function own(headers: IncomingHttpHeaders): Record<string, string> {
  const named = Object.entries(headers).filter(([name]) => name.startsWith("webhook-"));
  return Object.fromEntries(named.map(([name, value]) => [name, String(value)]));
}

const server = createServer(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  const [body, headers] = [Buffer.concat(parts), own(request.headers)];
  const event = secrets.map((secret) => verified(secret, body, headers)).find((event) => event !== undefined);
  if (event !== undefined) {
    accepted.push({ headers, body, event });
    wake();
  }
  response.writeHead(event === undefined ? 401 : 204).end();
});
await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

/** The next accepted delivery. */
async function nextDelivery(what: string): Promise<Delivery> {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const delivery = accepted.shift();
    if (delivery !== undefined) return delivery;
    const left = end - Date.now();
    check(left > 0, `${what} did not come within ${PATIENCE / 1_000} seconds`);
    await new Promise<void>((resume) => {
      const timer = setTimeout(resume, left);
      wake = () => {
        clearTimeout(timer);
        resume();
      };
    });
  }
}

const types = ["message.*", "send.finished"];
const added = told(await company.POST("/api/v1/webhooks", { body: { url, types } }));
const { id, secret: first } = added;
const endpoint = { params: { path: { id } } };
secrets = [first];

/** The delivery of an example of this type of event. */
async function tested(type: EventType): Promise<Delivery> {
  const result = told(await company.POST("/api/v1/webhooks/{id}/test", { ...endpoint, body: { type } }));
  check(result.is_delivered, `the test of ${type} failed: ${JSON.stringify(result)}`);
  for (;;) {
    const delivery = await nextDelivery(`the example of ${type}`);
    // An event that happened meanwhile may come between.
    if (delivery.event.id.startsWith("example.")) return delivery;
  }
}

const reference = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as {
  webhooks: Record<string, unknown>;
  components: { schemas: { EventType: { enum: EventType[] } } };
};
const catalogue = reference.components.schemas.EventType.enum;
check(catalogue.length > 0, "the reference has no types of events");
for (const type of catalogue) {
  check(reference.webhooks[type] !== undefined, `the reference has no request with ${type}`);
  const { event } = await tested(type);
  check(event.type === type, `the test of ${type} sent ${JSON.stringify(event)}`);
}

const { headers, body, event } = await tested("message.failed");
const failed = event as EventOf<"message.failed">;
check((failed.data.error?.message ?? "") !== "", `a message failed without a reason: ${JSON.stringify(failed)}`);
const later = String(Number(headers["webhook-timestamp"]) + 1);
const changes: [string, Buffer, Record<string, string>][] = [
  ["another body", Buffer.concat([body, Buffer.from(" ")]), headers],
  ["another id", body, { ...headers, "webhook-id": "another" }],
  ["another time", body, { ...headers, "webhook-timestamp": later }],
  ["another signature", body, { ...headers, "webhook-signature": `v1,${"A".repeat(43)}=` }],
];
const posted = async (body: Buffer, headers: Record<string, string>): Promise<number> =>
  (await fetch(url, { method: "POST", body: body.toString(), headers, signal: AbortSignal.timeout(PATIENCE) })).status;
for (const [change, body, headers] of changes) {
  check((await posted(body, headers)) === 401, `the receiver accepted ${change}`);
}
check((await posted(body, headers)) === 204, "the receiver refused a delivery that was repeated as it was");

const message = { type: "text" as const, phone_number: "+999 900 000 010", message: "heard from TypeScript" };
const sent = await company.POST("/api/v1/chat/{id}/messages", { params: { path: { id: channel } }, body: message });
const { send_id } = told(sent) as components["schemas"]["Queued"];
const missing = new Set(["message", "send"]);
for (const end = Date.now() + PATIENCE; missing.size > 0; ) {
  check(Date.now() < end, `no event ${[...missing].join(" or ")}.… of send ${send_id} came`);
  const { event } = await nextDelivery(`an event of send ${send_id}`);
  const [kind = ""] = event.type.split(".");
  if ("send_id" in event.data && event.data.send_id === send_id) missing.delete(kind);
}

const rotate = "/api/v1/webhooks/{id}/rotate-secret";
const rotated = told(await company.POST(rotate, { ...endpoint, body: { overlap: "1h" } }));
check(rotated.former_until !== null, `the secret was not replaced: ${JSON.stringify(rotated.former_until)}`);
secrets = [rotated.secret];
const both = await tested("message.read");
for (const [name, secret] of [["new", rotated.secret], ["former", first]] as const) {
  const is = (body: Buffer) => verified(secret, body, both.headers) !== undefined;
  check(is(both.body), `the ${name} secret does not verify during the overlap`);
  check(!is(Buffer.concat([both.body, Buffer.from(" ")])), `the ${name} secret verifies another body`);
}

const last = told(await company.POST(rotate, { ...endpoint, body: { overlap: "0s" } }));
secrets = [last.secret];
const alone = await tested("message.read");
for (const secret of [first, rotated.secret]) {
  const is = verified(secret, alone.body, alone.headers) !== undefined;
  check(!is, "a secret that was replaced still verifies");
}

await company.DELETE("/api/v1/webhooks/{id}", endpoint);
server.close();
server.closeAllConnections();
console.log(`TypeScript: ${catalogue.length} types of events and those of a send came, each verified`);
