// Sends with the TypeScript client that was generated from the reference, and reads the results.

import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

declare const process: { argv: string[] };

type Send = components["schemas"]["BusinessSend"];

const [baseUrl = "", key = "", operatorKey = "", channel = ""] = process.argv.slice(2);
const company = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
const operator = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${operatorKey}` } });

/** The data of an answer; any other one ends the program. */
function told<T>(answer: { data?: T; error?: unknown; response: Response }): T {
  if (answer.data === undefined) {
    throw new Error(`${answer.response.status} ${JSON.stringify(answer.error)}`);
  }
  return answer.data;
}

async function send(body: Send): Promise<string> {
  const params = { path: { id: channel } };
  const queued = told(await company.POST("/api/v1/chat/{id}/messages", { params, body }));
  if (queued.recipients_count !== 1) throw new Error(JSON.stringify(queued));
  return (queued as components["schemas"]["Queued"]).send_id;
}

/** A template whose text has variables, and a value for each. */
async function templateWithVariables(): Promise<Send> {
  const params = { path: { id: channel }, query: { limit: 100 } };
  const { data } = told(await company.GET("/api/v1/chat/{id}/templates", { params }));
  for (const template of data) {
    const text = template.components.find((part) => part.type === "BODY")?.text ?? "";
    const names = [...new Set(text.match(/\{\{\w+\}\}/g) ?? [])].map((name) => name.slice(2, -2));
    if (names.length === 0 || template.components.some((part) => part.type === "BUTTONS")) continue;
    if (template.components.some((part) => part.type === "HEADER")) continue;
    const parameters = names.map((name) => ({
      type: "text" as const,
      text: `value of ${name}`,
      ...(template.parameter_format === "NAMED" ? { parameter_name: name } : {}),
    }));
    return {
      type: "template",
      phone_number: "+999 900 000 002",
      template_id: template.id,
      components: [{ type: "body", parameters }],
    };
  }
  throw new Error("no template has variables in its text alone");
}

async function isSent(id: string): Promise<boolean> {
  const { state, counts } = told(await company.GET("/api/v1/sends/{id}", { params: { path: { id } } }));
  if (counts.failed > 0) throw new Error(`send ${id}: ${JSON.stringify(counts)}`);
  return state === "finished" && counts.sent + counts.delivered + counts.read === 1;
}

const sends = [
  await send({ type: "text", phone_number: ["+999 900 000 001"], message: "from TypeScript" }),
  await send(await templateWithVariables()),
  await send({
    type: "interactive",
    phone_number: 999900000003,
    interactive: {
      type: "button",
      body: { text: "Will you come?" },
      action: { buttons: [{ type: "reply", reply: { id: "yes", title: "Yes" } }] },
    },
  }),
];
const end = Date.now() + 30_000;
for (const id of sends) {
  while (!(await isSent(id))) {
    if (Date.now() > end) throw new Error(`send ${id} is not finished`);
    await new Promise<void>((resume) => setTimeout(resume, 100));
  }
}

const first = sends[0] ?? "";
const query = { recipient: "+999 900 000 001", limit: 1 };
const found = told(await company.GET("/api/v1/messages", { params: { query } }));
if (found.data[0]?.send_id !== first) throw new Error(JSON.stringify(found));
const ofFirst = { params: { path: { id: first } } };
const messages = told(await company.GET("/api/v1/sends/{id}/messages", ofFirst));
if (messages.data[0]?.ordinal !== 0 || messages.next_cursor !== undefined) throw new Error(JSON.stringify(messages));
const lines = told(await company.GET("/api/v1/sends/{id}/messages/export", { ...ofFirst, parseAs: "text" }));
if (JSON.parse(lines).recipient !== messages.data[0].recipient) throw new Error(lines);

const limits = told(await company.GET("/api/v1/chat/{id}/limits", { params: { path: { id: channel } } }));
if (!limits.limits.some(({ limit }) => limit === "template_quota")) throw new Error(JSON.stringify(limits));

const file = "phone,first_name\n+999 900 000 007,Gil\n";
const imported = told(
  await company.POST("/api/v1/contacts/imports", {
    params: { query: { start: true } },
    body: { file },
    bodySerializer: () => {
      const form = new FormData();
      form.set("file", new Blob([file], { type: "text/csv" }), "people.csv");
      return form;
    },
  }),
);
if (imported.file_name !== "people.csv") throw new Error(JSON.stringify(imported));

const numbers = told(
  await company.POST("/api/v1/numbers/check", { body: { phone_number: ["+999 900 000 001", "12"] } }),
);
if (numbers.valid_count !== 1) throw new Error(JSON.stringify(numbers));

const { data: tiers } = told(await operator.GET("/operator/v1/tiers"));
const quota: number | "unlimited" | undefined = tiers.find(({ name }) => name === "standard")?.template_quota;
if (quota !== "unlimited" && !(Number(quota) >= 1)) throw new Error(JSON.stringify(tiers));
const replaced = told(
  await operator.PUT("/operator/v1/tiers/{name}", {
    params: { path: { name: "standard" }, query: { dry_run: true } },
    body: { kind: "business_account", messages_per_second: "80/s", template_quota: 2000 },
  }),
);
const change = replaced.difference.find(({ option }) => option === "template_quota");
if (quota !== 2000 && change?.new !== 2000) throw new Error(JSON.stringify(replaced));

declare const console: { log(line: string): void };
console.log(`TypeScript: ${sends.length} messages were sent; the quota of templates is ${quota}`);
