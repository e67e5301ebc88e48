// Every page looks as it did when a person approved its picture: in two sizes, light and dark. `tests/browser/run PROGRAM --approve`
// keeps the pictures of now in place of those in tests/browser/pictures; look at what Git says has changed before it is committed.

import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { addresses, busy, further, SEARCH } from './pages.mjs';
import { Desk, PLACES, take, TOLERATED } from './pictures.mjs';
import { Browser, Demo, eventually } from './stage.mjs';

const APPROVED = path.join(process.env.ROOT, 'tests/browser/pictures');
/** Where pictures that differ are put. */
const FOUND = path.join(process.env.ROOT, 'target/browser/pictures');
const approves = process.env.APPROVE === 'yes';

let demo, browser, desk;
before(async () => {
    demo = await Demo.start({ contacts: 60 });
    browser = await Browser.start({ flags: ['--font-render-hinting=none', '--disable-lcd-text'] });
    await busy(demo);
    await over();
    desk = await Desk.open(browser);
    await rm(FOUND, { recursive: true, force: true });
});
after(async () => {
    await browser?.stop();
    await demo?.stop();
});

/** Waits until nothing moves any more: all sends but the scheduled one are over, and so is the import. */
async function over() {
    await eventually(async () => {
        const { body: { data: sends } } = await demo.request('GET', '/api/v1/sends?limit=10');
        const { body: { data: imports } } = await demo.request('GET', '/api/v1/contacts/imports?limit=10');
        const { body: { data: [conversation] } } = await demo.request('GET', `/api/v1/conversations?${SEARCH}`);
        const { body: { data: messages } } = await demo.request('GET', `/api/v1/conversations/${conversation.id}/messages`);
        const hasFile = messages.some(({ received }) => received?.content.media?.file?.state === 'kept');
        return sends.every(({ state, send_at: start }) => start || state === 'finished') && imports.every(({ state }) => state !== 'running')
            && hasFile;
    });
}

/** A name for each address, without ids: pages of the same kind are numbered in the order of the list. */
function named(role, all) {
    const taken = new Map();
    return all.map(address => {
        const name = address.replace('/console', role).replace(/&seen=[^&]*/, '').replaceAll(/[0-9a-f-]{36}/g, 'id').replaceAll(/[^a-z0-9]+/g, '-');
        const nth = (taken.get(name) ?? 0) + 1;
        taken.set(name, nth);
        return [nth === 1 ? name : `${name}-${nth}`, address];
    });
}

/** What is wrong with the picture of a page: each fault with its place, and where the pictures are. */
async function faults(name, sheet) {
    const file = path.join(APPROVED, `${name}.webp`);
    if (approves) {
        const kept = await readFile(file).catch(() => null);
        // A picture within the tolerance stays, so that only what differs is a change of the repository.
        const isSame = kept && (await desk.compare(sheet, kept))?.every(({ share }) => share <= TOLERATED);
        if (!isSame) await writeFile(file, sheet);
        return [];
    }
    const approved = await readFile(file).catch(() => null);
    if (!approved) return [`${name}: there is no approved picture; look at the page, then run tests/browser/run PROGRAM --approve`];
    const compared = await desk.compare(sheet, approved);
    if (!compared) return [`${name}: the approved picture has another size`];
    const found = [];
    for (const [nth, { share, images }] of compared.entries()) {
        if (share <= TOLERATED) continue;
        const place = PLACES[nth];
        const begin = path.join(FOUND, `${name}-${place.width}-${place.theme}`);
        await mkdir(FOUND, { recursive: true });
        for (const [kind, bytes] of Object.entries(images)) await writeFile(`${begin}-${kind}.png`, Buffer.from(bytes, 'base64'));
        const percent = (100 * share).toFixed(2);
        found.push(`${name}, ${place.name}: ${percent} % differs (${100 * TOLERATED} % may)\n    now      ${begin}-now.png\n`
            + `    approved ${begin}-approved.png\n    both     ${begin}-difference.png`);
    }
    return found;
}

/** The inbox with one person, because chance decides which others write. */
const quiet = address => (/^\/console\/inbox(\/[^?]+)?$/.test(address) ? `${address}?${SEARCH}` : address);

/** Pages that look as chance has it: whether a person reads a message. */
const BY_CHANCE = /\/messages\/\d+$/;

/** The names of the pages that were looked at. */
const seen = new Set();

for (const role of ['visitor', 'owner', 'operator']) {
    test(`the pictures of the pages of the ${role}`, async () => {
        const { page, context } = role === 'visitor' ? await browser.person() : await browser.signedIn(demo, role);
        await page.route(/\/live(\?|$)/, route => route.abort());
        const found = [];
        await mkdir(APPROVED, { recursive: true });
        const all = role === 'visitor'
            ? ['/console/sign-in', '/console/link/nothing']
            : [...await addresses(demo, role, page), ...await further(demo, role)];
        for (const [name, address] of named(role, all.filter(address => !BY_CHANCE.test(address)))) {
            await page.goto(demo.url + quiet(address));
            seen.add(name);
            found.push(...await faults(name, await desk.sheet(await take(page))));
        }
        await context.close();
        assert.ok(!found.length, `${found.length} pictures differ:\n${found.join('\n')}`);
    });
}

test('every approved picture is of a page', async () => {
    const kept = (await readdir(APPROVED)).map(file => file.replace('.webp', ''));
    const gone = kept.filter(name => !seen.has(name));
    if (approves) for (const name of gone) await rm(path.join(APPROVED, `${name}.webp`));
    else assert.deepEqual(gone, [], 'pictures without a page: delete them, or run tests/browser/run PROGRAM --approve');
});
