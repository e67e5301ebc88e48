// Large records: a file of 2 GB, two hundred companies, a send of a million messages. No page is slow, and none breaks.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { assertQuiet, Browser, Demo } from './stage.mjs';

const COMPANIES = 200;
const MESSAGES = 1_000_000;
const FIRST = 5_511_900_000_000n;
const BLOCK = 4_096;
const SEND = '01980000-0000-7000-8000-000000000001';
const MIB = 2 ** 20;

let demo, browser;
before(async () => {
    demo = await Demo.start({ contacts: 50 });
    browser = await Browser.start();
    await run(`${companies()}${million()}`);
    await counted();
});
after(async () => {
    await browser?.stop();
    await demo?.stop();
});

/** An id as the database keeps it. */
const blob = id => `x'${id.replaceAll('-', '')}'`;

/** Writes into the demonstration's database, beside its service. */
async function run(sql) {
    const program = 'import sqlite3, sys; sqlite3.connect(sys.argv[1], 30, isolation_level=None).executescript(sys.stdin.read())';
    const database = path.join(demo.directory, 'demo', 'pombo.db');
    const child = spawn('python3', ['-c', program, database], { stdio: ['pipe', 'inherit', 'inherit'] });
    child.stdin.end(sql);
    assert.equal(await new Promise(resolve => child.once('exit', resolve)), 0);
}

/** Companies that the first company's owner may use, too. */
function companies() {
    let sql = 'BEGIN;\n';
    for (let nth = 1; nth <= COMPANIES; nth += 1) {
        const id = `x'${nth.toString(16).padStart(32, '0')}'`;
        sql += `INSERT INTO company (id, name, tier, created_at) VALUES (${id}, 'Branch ${nth}', 'standard', 0);\n`;
        sql += `INSERT INTO membership (user_id, company_id, role, created_at) SELECT id, ${id}, 'owner', 0
            FROM user_account WHERE email = '${demo.said.console.owner.email}';\n`;
    }
    return `${sql}COMMIT;\n`;
}

/** A finished send, with the rows that the service writes: each fiftieth message failed. */
function million() {
    const { id: company, channels: [channel] } = demo.said.companies[0];
    const at = Date.now() - 3_600_000;
    let sql = 'BEGIN;\n';
    for (let first = 0; first < MESSAGES; first += BLOCK) {
        const count = Math.min(BLOCK, MESSAGES - first);
        const packed = Buffer.concat([varint(FIRST + BigInt(first)), Buffer.alloc(count - 1, 1)]).toString('hex');
        sql += `INSERT INTO recipient_block (send_id, first_ordinal, recipients, packed)
            VALUES (${blob(SEND)}, ${first}, ${count}, x'${packed}');\n`;
    }
    sql += `WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${MESSAGES})
        INSERT INTO message (send_id, ordinal, company_id, recipient, state, attempts, error_code, error, updated_at)
        SELECT ${blob(SEND)}, n, ${blob(company)}, ${FIRST} + n, CASE n % 50 WHEN 7 THEN 5 ELSE 3 END, 1,
        CASE n % 50 WHEN 7 THEN 131026 END, CASE n % 50 WHEN 7 THEN 'not there' END, ${at} + n FROM numbers;\n`;
    return `${sql}INSERT INTO send (id, company_id, channel_id, state, content, recipients, high_water, settled, created_at, finished_at)
        VALUES (${blob(SEND)}, ${blob(company)}, ${blob(channel.id)}, 2, '{"type":"text","body":"hi"}', ${MESSAGES}, ${MESSAGES},
        ${MESSAGES}, ${at}, ${at} + ${MESSAGES});\nCOMMIT;\n`;
}

/** A number of Brazil as pages show it. */
function grouped(number) {
    return `+${number}`.replace(/^(\+55)(\d\d)(\d{5})(\d{4})$/, '$1 $2 $3 $4');
}

/** A number in groups of seven bits, lowest first. */
function varint(number) {
    const bytes = [];
    for (; number >= 0x80n; number >>= 7n) bytes.push(Number(number & 0x7fn) | 0x80);
    return Buffer.from([...bytes, Number(number)]);
}

/** A file of zeros that takes no room on the disk. */
async function zeros(bytes) {
    const name = path.join(demo.directory, `zeros-${bytes}.csv`);
    const file = await open(name, 'w');
    await file.truncate(bytes);
    await file.close();
    return name;
}

/** Memory of the service in MiB. */
async function memory() {
    const status = await readFile(`/proc/${demo.child.pid}/status`, 'utf8');
    return Number(status.match(/^VmRSS:\s+(\d+) kB/m)[1]) / 1_024;
}

/** The highest growth of the service's memory in MiB during some work. */
async function growth(done) {
    const before = await memory();
    let most = before;
    const look = setInterval(async () => {
        most = Math.max(most, await memory());
    }, 20);
    try {
        await done();
    } finally {
        clearInterval(look);
    }
    return Math.max(most, await memory()) - before;
}

/** A member of many companies, who chose the first. */
async function ofAcme(options = {}) {
    const person = await browser.signedIn(demo, 'owner', options);
    await person.page.goto(`${demo.url}/console/companies`);
    const choose = person.page.getByRole('button', { name: `Choose ${demo.said.companies[0].name}`, exact: true });
    await choose.click();
    await person.page.waitForURL(`${demo.url}/console`);
    return person;
}

/** Waits until the overview has counted the messages of the send, so that no growth of the memory is theirs. */
async function counted() {
    const { page, context } = await ofAcme();
    await page.locator('#latest').getByText('980,000').first().waitFor();
    await context.close();
}

/** Uploads the file, with tags. */
async function upload(page, file) {
    await page.goto(`${demo.url}/console/contacts/import`);
    await page.getByLabel('Tags for all contacts of the file').fill('feira; Olá');
    await page.getByLabel('File', { exact: true }).setInputFiles(file);
    await page.getByRole('button', { name: 'Import' }).first().click();
}

for (const [script, size, words] of [
    [true, 2_048 * MIB, /larger than 268\.4 MB/],
    [false, 2_048 * MIB, /larger than 268\.4 MB/],
    [true, 250 * MIB, /line 1 holds NUL characters/],
]) {
    test(`a file of ${size / MIB} MiB of zeros is refused in plain words, ${script ? 'with' : 'without'} script`, async () => {
        const person = await ofAcme({ script });
        const { page } = person;
        page.setDefaultTimeout(40_000);
        const grown = await growth(async () => {
            await upload(page, await zeros(size));
            await page.getByText(words).waitFor();
        });
        assert.equal(await page.getByLabel('Tags for all contacts of the file').inputValue(), 'feira; Olá');
        assert.ok(grown < 32, `the service grew by ${grown} MiB`);
        assertQuiet(person, demo);
        await person.context.close();
    });
}

test('the page of an upload whose connection breaks says so and keeps the input', async () => {
    const person = await ofAcme();
    const { page } = person;
    await page.route(/contacts\/import$/, route => (route.request().method() === 'POST' ? route.abort('connectionreset') : route.continue()));
    await upload(page, await zeros(MIB));
    await page.getByText('The upload was interrupted.').waitFor();
    assert.equal(await page.getByLabel('Tags for all contacts of the file').inputValue(), 'feira; Olá');
    assertQuiet(person, demo);
    await person.context.close();
});

test('one of two hundred companies is found while a person types, and chosen', async () => {
    const person = await browser.signedIn(demo);
    const { page } = person;
    const answer = await page.goto(`${demo.url}/console/companies`);
    await answer.finished();
    assert.ok(answer.request().timing().responseEnd < 1_000, 'the chooser is quick');
    await page.getByLabel('Search companies').pressSequentially('branch 177');
    await page.getByRole('button', { name: 'Choose Branch 177' }).waitFor();
    await page.getByRole('button', { name: 'Choose Branch 16' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Choose Branch 177' }).click();
    await page.locator('.who').getByText('Branch 177').waitFor();
    assertQuiet(person, demo);
    await person.context.close();
});

test('a send of a million messages opens at once, counts itself and is narrowed', async () => {
    const person = await ofAcme();
    const { page } = person;
    const address = `${demo.url}/console/sends/${SEND}`;
    const answer = await page.goto(address);
    await answer.finished();
    assert.ok(answer.request().timing().responseEnd < 1_000, 'the page is quick');
    await page.getByText('980,000 of 1,000,000 messages sent').first().waitFor();
    await page.getByRole('cell', { name: '20,000', exact: true }).first().waitFor();
    await page.getByRole('img', { name: 'Sent 980,000, Delivered 980,000, Failed 20,000', exact: true }).waitFor();
    await page.goto(`${address}?from=999950`);
    await page.getByText(grouped(FIRST + BigInt(MESSAGES - 1))).waitFor();
    await page.getByLabel('State').selectOption('failed');
    await page.getByText('By code', { exact: true }).click();
    await page.getByLabel("Provider's code").fill('131026');
    await page.getByRole('button', { name: 'Show' }).click();
    const list = page.locator('#list tbody tr');
    assert.equal(await list.count(), 50);
    await page.getByRole('link', { name: 'Further messages' }).click();
    await page.getByRole('link', { name: grouped(FIRST + 2_507n), exact: true }).waitFor();
    assert.equal(await list.count(), 50);
    await page.getByLabel('State').selectOption('canceled');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText('No message from no. 0 to 20,000 matches.').waitFor();
    assertQuiet(person, demo);
    await person.context.close();
});
