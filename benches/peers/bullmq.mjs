// A queue of messages in Redis and a worker that posts them to a provider: what a user would build with BullMQ.
// `run` starts Redis and this; arguments: Redis' socket, the provider's address, jobs, how many at once, and how
// many a second at most (0: no limiter). Prints one line of JSON.

import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import { Pool } from "undici";

const [socket, provider, ...numbers] = process.argv.slice(2);
const [jobs, concurrency, limit] = numbers.map(Number);
const name = `messages-${process.pid}`;
const CHUNK = 5000;

const seconds = (since) => Number(process.hrtime.bigint() - since) / 1e9;
const connect = () => new Redis({ path: socket, maxRetriesPerRequest: null });

async function redisMemory(redis) {
  const text = await redis.info("memory");
  return Number(/^used_memory:(\d+)/m.exec(text)[1]);
}

const redis = connect();
const queue = new Queue(name, { connection: connect() });
await queue.waitUntilReady();
const before = await redisMemory(redis);

const enqueueing = process.hrtime.bigint();
for (let at = 0; at < jobs; at += CHUNK) {
  const chunk = Array.from({ length: Math.min(CHUNK, jobs - at) }, (_, index) => ({
    name: "message",
    data: { to: `+${5511900000000 + at + index}`, text: "hi" },
  }));
  await queue.addBulk(chunk);
}
const enqueued = seconds(enqueueing);
const bytes = (await redisMemory(redis)) - before;

const pool = new Pool(provider, { connections: concurrency });
async function post({ id, data }) {
  const { statusCode, body } = await pool.request({
    method: "POST",
    path: "/v25.0/1/messages",
    headers: { authorization: "Bearer bench", "content-type": "application/json" },
    body: JSON.stringify({
      messaging_product: "whatsapp",
      recipient_type: "individual",
      text: { body: data.text, preview_url: false },
      type: "text",
      to: data.to,
      biz_opaque_callback_data: `${name}.${id}`,
    }),
  });
  const answer = await body.json();
  if (statusCode !== 200) throw new Error(`the provider answered ${statusCode}`);
  return answer.messages[0].id;
}

let completed = 0;
let failed = 0;
const working = process.hrtime.bigint();
const cpu = process.cpuUsage();
await new Promise((resolve) => {
  const options = { connection: connect(), concurrency };
  if (limit > 0) options.limiter = { max: limit, duration: 1000 };
  const worker = new Worker(name, post, options);
  const count = () => completed + failed === jobs && resolve();
  worker.on("completed", () => { completed += 1; count(); });
  worker.on("failed", () => { failed += 1; count(); });
});
const worked = seconds(working);
const { user, system } = process.cpuUsage(cpu);

console.log(JSON.stringify({
  jobs,
  failed,
  enqueue_seconds: enqueued,
  redis_bytes_per_job: bytes / jobs,
  jobs_per_second: jobs / worked,
  worker_cpu_microseconds_per_job: (user + system) / jobs,
  worker_rss_bytes: process.memoryUsage.rss(),
  redis_version: /^redis_version:(\S+)/m.exec(await redis.info("server"))[1],
}));
process.exit(0);
