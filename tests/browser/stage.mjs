// The beginning of every test of the console: a demonstration of its own, a browser, signed-in people, and a check for
// everything that a page must never do.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { AxeBuilder } from '@axe-core/playwright';
import { chromium } from 'playwright-core';

const { POMBO, CHROMIUM } = process.env;

/** The timeout of each step on a busy machine. */
export const PATIENCE = 150_000;

/** A service with a simulated provider, in a temporary directory. */
export class Demo {
    /** Starts a service with this many contacts. */
    static async start({ contacts = 200 } = {}) {
        const directory = await mkdtemp(path.join(tmpdir(), 'pombo-browser-'));
        const child = spawn(
            POMBO,
            ['demo', '--json', '--port', '0', '--contacts', String(contacts), '--data', path.join(directory, 'demo'),
                '--end-with-input'],
            { stdio: ['pipe', 'pipe', 'inherit'] },
        );
        const said = await new Promise((resolve, reject) => {
            createInterface({ input: child.stdout }).once('line', line => resolve(JSON.parse(line)));
            child.once('exit', code => reject(new Error(`the demonstration ended with ${code}`)));
        });
        return new Demo(directory, child, said);
    }

    constructor(directory, child, said) {
        this.directory = directory;
        this.child = child;
        this.said = said;
        this.url = said.base_url;
    }

    /** A link that signs in, valid once: of the `owner` of the first company, or of the `operator`. */
    async link(role) {
        const { link } = await this.command('user', 'sign-in', this.said.console[role].email);
        return this.url + new URL(link).pathname;
    }

    /** The output of a command of the program. */
    async command(...words) {
        const child = spawn(POMBO, [...words, '--json'], {
            env: { ...process.env, POMBO__DATA__DIR: path.join(this.directory, 'demo') },
            stdio: ['ignore', 'pipe', 'inherit'],
        });
        let text = '';
        for await (const piece of child.stdout) text += piece;
        return JSON.parse(text);
    }

    /** The answer to an HTTP client of the first company, which sends JSON or `raw` bytes. */
    async request(method, address, { body, raw, key = this.said.companies[0].api_key, ...headers } = {}) {
        const response = await fetch(`${this.url}${address}`, {
            method,
            headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...headers },
            body: raw ?? (body && JSON.stringify(body)),
        });
        const text = await response.text();
        return { status: response.status, body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text };
    }

    async stop() {
        const ended = new Promise(resolve => this.child.once('exit', resolve));
        this.child.stdin.end();
        await ended;
        await rm(this.directory, { recursive: true, force: true });
    }
}

/** One browser, in which each person has a window of their own. */
export class Browser {
    static async start({ flags = [] } = {}) {
        return new Browser(await chromium.launch({
            executablePath: CHROMIUM,
            // A test needs no sandbox, and a container may have no user namespaces.
            args: ['--no-sandbox', '--disable-dev-shm-usage', ...flags],
        }));
    }

    constructor(browser) {
        this.browser = browser;
    }

    /** A person's window. `seen` collects everything that no page may do. */
    async person({ width = 1280, language = 'en', theme = 'light', script = true } = {}) {
        const context = await this.browser.newContext({
            viewport: { width, height: 900 },
            locale: language,
            colorScheme: theme,
            javaScriptEnabled: script,
            timezoneId: 'America/Sao_Paulo',
            acceptDownloads: true,
        });
        await context.grantPermissions(['clipboard-read', 'clipboard-write']);
        const page = await context.newPage();
        page.setDefaultTimeout(PATIENCE);
        const seen = [];
        page.on('console', message => {
            // The browser itself logs every answer with an error status.
            if (!message.text().startsWith('Failed to load resource')) seen.push(message.text());
        });
        page.on('pageerror', error => seen.push(String(error)));
        page.on('response', response => {
            if (response.status() >= 500) seen.push(`${response.status()} ${response.url()}`);
        });
        const hosts = new Set();
        page.on('request', request => hosts.add(new URL(request.url()).host));
        return { context, page, seen, hosts };
    }

    /** A person who signed in by a link. */
    async signedIn(demo, role = 'owner', options = {}) {
        const person = await this.person(options);
        // The browser leaves the page of the link at once, so the test waits only for its beginning.
        await person.page.goto(await demo.link(role), { waitUntil: 'commit' });
        // With script the page's form submits itself, so the test does not press a button that may be gone.
        if (options.script === false) await person.page.locator('form[data-submit] button').click();
        await person.page.waitForURL(url => url.pathname.startsWith('/console') && !url.pathname.includes('link'));
        return person;
    }

    async stop() {
        await this.browser.close();
    }
}

/** Checks that the browser's console is empty and that no other host got a request. */
export function assertQuiet({ seen, hosts }, demo) {
    assert.deepEqual(seen, []);
    hosts.delete(new URL(demo.url).host);
    assert.deepEqual([...hosts], []);
}

/** Checks the page with axe. `tags` are the sets of rules; without them, all rules apply. */
export async function assertAccessible(page, place, tags = []) {
    // The pages have no frames, so axe needs no blank page of its own: opening one takes longer than most checks.
    const axe = new AxeBuilder({ page }).setLegacyMode(true);
    const { violations } = await (tags.length ? axe.withTags(tags) : axe).analyze();
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(node => node.html).join(' | ')}`);
    assert.deepEqual(found, [], place);
}

/** Waits until `look` finds something. */
export async function eventually(look, patience = PATIENCE) {
    const end = Date.now() + patience;
    for (;;) {
        const found = await look();
        if (found) return found;
        assert.ok(Date.now() < end, `timed out waiting for ${look}`);
        await new Promise(resolve => setTimeout(resolve, 50));
    }
}

/** Waits until the page of a send says that it has finished. If it does not, the error tells what the API says of it. */
export async function untilFinished(page, demo) {
    await page.getByText('Finished').first().waitFor().catch(async ({ message }) => {
        const { body } = await demo.request('GET', `/api/v1/sends/${new URL(page.url()).pathname.split('/').at(-1)}`);
        assert.fail(`${message}\n${JSON.stringify(body)}\n${await page.locator('main').innerText()}`);
    });
}

/** Moves the focus from stop to stop to the wanted one. */
export async function reach(page, wanted, isThere) {
    for (let stops = 0; stops < 80; stops += 1) {
        await page.keyboard.press('Tab');
        if (await page.evaluate(isThere, wanted)) return;
    }
    assert.fail(`no stop is ${wanted}`);
}

/** From now on, the provider permanently refuses messages to numbers with this end. */
export async function failing(demo, suffix) {
    const rule = { match: { to_suffix: suffix }, times: 1, outcome: { error: { code: 131026 } } };
    const response = await fetch(`${demo.said.simulator_url}/_sim/script`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify([rule]),
    });
    assert.ok(response.ok, await response.text());
}
