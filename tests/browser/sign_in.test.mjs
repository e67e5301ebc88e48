// Signing in, and refused sign-ins.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';

import { assertQuiet, Browser, Demo, eventually } from './stage.mjs';

let demo, browser;
before(async () => {
    demo = await Demo.start();
    browser = await Browser.start();
});
after(async () => {
    await browser?.stop();
    await demo?.stop();
});

/** A person with a password, made by an invitation. */
async function member(name, password) {
    const email = `${name}@example.com`;
    const { link } = await demo.command('user', 'invite', email, '--company', demo.said.companies[0].name, '--role', 'member');
    const person = await browser.person();
    const { page } = person;
    await page.goto(demo.url + new URL(link).pathname);
    if (await page.getByLabel('Name', { exact: true }).count()) await page.getByLabel('Name', { exact: true }).fill(name);
    for (const field of await page.locator('input[type=password]').all()) await field.fill(password);
    await page.locator('main form button').first().click();
    await page.waitForURL(`${demo.url}/console`);
    return { email, person };
}

async function signIn(page, email, password) {
    await page.goto(`${demo.url}/console/sign-in`);
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
}

test('an invited person signs in, and returns to the page where they were', async () => {
    const { email } = await member('maria', 'correct horse battery');
    const person = await browser.person();
    const { page } = person;
    await page.goto(`${demo.url}/console/keys?of=me`);
    assert.match(page.url(), /sign-in/);
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password', { exact: true }).fill('correct horse battery');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(/\/console\/keys/);
    assertQuiet(person, demo);
});

test('wrong passwords are refused alike, and after several of them a person has to wait', async () => {
    const { email } = await member('pedro', 'correct horse battery');
    const { page } = await browser.person();
    const said = [];
    for (const [who, password] of [[email, 'wrong'], ['nobody@example.com', 'wrong']]) {
        await signIn(page, who, password);
        said.push(await page.getByRole('alert').first().textContent());
    }
    assert.equal(said[0], said[1]);
    await eventually(async () => {
        await signIn(page, email, 'wrong');
        return /again in/i.test(await page.getByRole('alert').first().textContent());
    });
});

test('with a second factor, the password alone is not enough', async () => {
    const { email, person } = await member('ana', 'correct horse battery');
    const { page } = person;
    await page.goto(`${demo.url}/console/account`);
    await page.locator('form[action="/console/account/totp"] input[type="password"]').fill('correct horse battery');
    await page.getByRole('button', { name: 'Set up' }).click();
    const secret = (await page.getByRole('group', { name: 'Secret' }).locator('code').textContent()).replaceAll(' ', '');
    await page.getByLabel('Code', { exact: true }).fill(code(secret, 0));
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('Recovery codes').first().waitFor();

    const other = await browser.person();
    await signIn(other.page, email, 'correct horse battery');
    await other.page.getByLabel('Code', { exact: true }).fill(code(secret, 1));
    await other.page.getByRole('button', { name: 'Sign in' }).click();
    await other.page.waitForURL(`${demo.url}/console`);
    assertQuiet(other, demo);
});

/** The six digits of this moment, or of this many steps later (RFC 6238). */
function code(secret, later) {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
    const bits = [...secret.replace(/=+$/, '')].map(letter => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
    const key = Buffer.from(bits.match(/.{8}/g).map(byte => Number.parseInt(byte, 2)));
    const step = Buffer.alloc(8);
    step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + later));
    const hash = createHmac('sha1', key).update(step).digest();
    const place = hash[19] & 15;
    return String((hash.readUInt32BE(place) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}
