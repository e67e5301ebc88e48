// What surrounds every page: the account menu, the bar of a phone, folded filters, questions, and faults that take the focus.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { assertAccessible, assertQuiet, Browser, Demo } from './stage.mjs';

let demo, browser;
before(async () => {
    demo = await Demo.start({ contacts: 20 });
    browser = await Browser.start();
});
after(async () => {
    await browser?.stop();
    await demo?.stop();
});

/** Whether the focus is inside of an element. */
const isIn = (page, selector) => page.evaluate(wanted => document.activeElement.closest(wanted) !== null, selector);

test('the account menu opens and closes, and changes the language', async () => {
    const person = await browser.signedIn(demo);
    const { page } = person;
    const menu = page.locator('details.menu');
    await menu.locator('summary').click();
    await page.getByRole('link', { name: 'Your account' }).waitFor();
    await assertAccessible(page, 'the account menu');
    await page.keyboard.press('Escape');
    assert.equal(await menu.getAttribute('open'), null);
    assert.ok(await isIn(page, 'details.menu > summary'), 'the focus is back at the menu');
    await menu.locator('summary').click();
    await page.locator('h1').click();
    assert.equal(await menu.getAttribute('open'), null);
    await menu.locator('summary').click();
    await menu.getByRole('button', { name: 'Español' }).click();
    await page.getByRole('heading', { name: 'Resumen' }).waitFor();
    assertQuiet(person, demo);
    await menu.locator('summary').click();
    await menu.getByRole('button', { name: 'English' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await person.context.close();
});

for (const script of [true, false]) {
    const way = script ? 'with' : 'without';

    test(`on a phone the bar leads to the first entries, and a sheet to all others, ${way} script`, async () => {
        const person = await browser.signedIn(demo, 'owner', { width: 390, script });
        const { page } = person;
        const bar = page.locator('nav.side .bar');
        assert.equal(await bar.locator('li').count(), 5);
        await bar.getByRole('link', { name: 'Sends' }).click();
        await page.waitForURL(`${demo.url}/console/sends`);
        await bar.getByRole('button', { name: 'More' }).click();
        await page.getByRole('link', { name: 'API keys' }).waitFor();
        if (script) await assertAccessible(page, 'the sheet');
        await page.getByRole('link', { name: 'API keys' }).click();
        await page.getByRole('heading', { name: 'API keys' }).waitFor();
        assertQuiet(person, demo);
        await person.context.close();
    });
}

test('filters are folded on a phone alone, unless they are in use', async () => {
    const person = await browser.signedIn(demo, 'owner', { width: 390 });
    const { page } = person;
    await page.goto(`${demo.url}/console/sends?state=expired`);
    assert.ok(await page.getByLabel('State').isVisible());
    await demo.request('POST', `/api/v1/chat/${demo.said.companies[0].channels[0].id}/messages`, {
        body: { type: 'text', message: 'hello', phone_number: '+999 900 000 001' },
    });
    await page.goto(`${demo.url}/console/sends`);
    assert.equal(await page.getByLabel('State').isVisible(), false);
    await page.getByText('Filters').click();
    await page.getByLabel('State').waitFor();
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(`${demo.url}/console/sends`);
    assert.ok(await page.getByLabel('State').isVisible());
    assertQuiet(person, demo);
    await person.context.close();
});

test('a question keeps the focus until it is answered, and gives it back', async () => {
    const person = await browser.signedIn(demo);
    const { page } = person;
    await page.goto(`${demo.url}/console/keys`);
    const revoke = page.getByRole('button', { name: 'Revoke', exact: true }).first();
    await revoke.click();
    await page.getByRole('dialog', { name: 'Revoke' }).waitFor();
    for (let stops = 0; stops < 6; stops += 1) {
        const where = await page.evaluate(() => document.activeElement.closest('dialog') !== null || document.activeElement === document.body);
        assert.ok(where, 'the focus left the question');
        await page.keyboard.press('Tab');
    }
    await assertAccessible(page, 'a question');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Revoke');
    assertQuiet(person, demo);
    await person.context.close();
});

for (const script of [true, false]) {
    test(`the first field with a fault has the focus, ${script ? 'with' : 'without'} script`, async () => {
        const person = await browser.signedIn(demo, 'owner', { script });
        const { page } = person;
        await page.goto(`${demo.url}/console/company`);
        // The browser itself would refuse the field before the service does.
        await page.getByLabel('E-mail', { exact: true }).fill('nobody@nowhere@twice');
        await page.locator('form', { has: page.getByLabel('E-mail', { exact: true }) }).evaluate(form => { form.noValidate = true; });
        await page.getByRole('button', { name: 'Invite' }).click();
        await page.locator('[aria-invalid="true"]').first().waitFor();
        assert.ok(await isIn(page, '[aria-invalid="true"]'));
        await person.context.close();
    });
}
