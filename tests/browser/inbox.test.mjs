// The inbox as the owner of a shop and an agent use it: people answer a campaign, and are answered, assigned and closed.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { assertAccessible, assertQuiet, Browser, Demo, eventually } from './stage.mjs';

let demo, browser;
before(async () => {
    demo = await Demo.start();
    browser = await Browser.start();
});
after(async () => {
    await browser?.stop();
    await demo?.stop();
});

const ANA = '999900000001';

/** Somebody writes to the shop. */
async function writes(from, text) {
    const to = demo.said.companies[0].channels[0].phone_number_id;
    const body = JSON.stringify({ to, from, text });
    const answer = await fetch(`${demo.said.simulator_url}/_sim/write`, { method: 'POST', body });
    assert.ok(answer.ok, await answer.text());
}

/** The list's row of somebody. */
const row = (page, words) => page.locator('.conversations li').filter({ hasText: words });

test('a campaign goes out, an answer comes in while the page is open, and is answered, assigned, closed and reopened', async () => {
    const { channels: [channel] } = demo.said.companies[0];
    const owner = await browser.signedIn(demo);
    const { page } = owner;
    await page.goto(`${demo.url}/console/inbox`);
    const campaign = { type: 'text', name: 'Spring', message: 'Fresh cake today', phone_number: [`+${ANA}`, '+999900000002'] };
    const sent = await demo.request('POST', `/api/v1/chat/${channel.id}/messages`, { body: campaign });
    assert.equal(sent.status, 202, JSON.stringify(sent.body));
    await writes(ANA, 'one with lemon, please');
    await row(page, 'one with lemon').waitFor();
    assert.match(await page.title(), /^\(\d+\) Inbox/);
    await assertAccessible(page, 'the list');

    // What the campaign said stands above the answer, with a link to it.
    await row(page, 'one with lemon').getByRole('link').click();
    await page.locator('.spoken.bulk').getByRole('link', { name: 'Spring' }).waitFor();
    await page.locator('#thread').getByText('one with lemon, please').waitFor();
    await eventually(async () => (await page.locator('#thread').getAttribute('data-unread')) === '0');
    await assertAccessible(page, 'a conversation');

    // What is typed is there after a reload; Ctrl and Enter send it.
    const answer = page.getByLabel('Answer', { exact: true }).last();
    const kept = page.waitForResponse(response => response.url().includes('/draft'));
    await answer.pressSequentially('it is yours');
    await kept;
    await page.reload();
    assert.equal(await page.locator('textarea[name=message]').inputValue(), 'it is yours');
    await page.locator('textarea[name=message]').press('Control+Enter');
    await page.locator('.spoken.own').getByText('it is yours').waitFor();
    await page.locator('.spoken.own').getByText(/^(Delivered|Read)$/).last().waitFor();

    await page.getByRole('button', { name: 'Assign to me' }).click();
    await page.getByText('The conversation is assigned.').waitFor();
    await page.getByRole('button', { name: 'Close', exact: true }).first().click();
    await page.getByText('The conversation is closed.').waitFor();
    assert.equal(await row(page, 'it is yours').count(), 0);
    await writes(ANA, 'thank you');
    await row(page, 'thank you').waitFor();
    assertQuiet(owner, demo);
    await owner.context.close();
});

test('a second person sees who is writing, and what arrives', async () => {
    await writes('999900000003', 'is anybody there?');
    const [one, other] = [await browser.signedIn(demo), await browser.signedIn(demo, 'operator')];
    await one.page.goto(`${demo.url}/console/inbox`);
    await row(one.page, 'is anybody there?').getByRole('link').click();
    await one.page.locator('textarea[name=message]').waitFor();
    const [company] = demo.said.companies;
    await other.page.goto(`${demo.url}/console/companies?next=/console/inbox`);
    await other.page.getByRole('button', { name: `Choose ${company.name}` }).click();
    await row(other.page, 'is anybody there?').getByRole('link').click();
    await other.page.locator('textarea[name=message]').waitFor();
    await one.page.locator('textarea[name=message]').pressSequentially('we are');
    await other.page.getByText(/writing an answer/).waitFor();
    await writes('999900000003', 'hello?');
    for (const { page } of [one, other]) await page.locator('#thread').getByText('hello?').waitFor();
    for (const person of [one, other]) {
        assertQuiet(person, demo);
        await person.context.close();
    }
});

test('the keyboard leads through the list, and a phone shows one pane', async () => {
    for (const from of ['999900000004', '999900000005']) await writes(from, `hello from ${from}`);
    const person = await browser.signedIn(demo, 'owner', { width: 390 });
    const { page } = person;
    await page.goto(`${demo.url}/console/inbox`);
    await row(page, 'hello from 999900000005').waitFor();
    await page.keyboard.press('Alt+ArrowDown');
    await page.waitForURL(/\/console\/inbox\/[0-9a-f-]{36}/);
    assert.equal(await page.locator('#conversations').isVisible(), false);
    await assertAccessible(page, 'a conversation on a phone');
    const [first] = page.url().match(/[0-9a-f-]{36}/);
    await page.keyboard.press('Alt+ArrowDown');
    await page.waitForURL(url => !url.pathname.includes(first) && /inbox\/[0-9a-f-]{36}/.test(url.pathname));
    await page.getByRole('link', { name: 'All conversations' }).click();
    await page.locator('#conversations').waitFor();
    assertQuiet(person, demo);
    await person.context.close();
});

test('without script a conversation is read and answered', async () => {
    await writes('999900000006', 'are you open?');
    const person = await browser.signedIn(demo, 'owner', { script: false });
    const { page } = person;
    await page.goto(`${demo.url}/console/inbox?search=00006`);
    await row(page, 'are you open?').getByRole('link').click();
    await page.getByRole('button', { name: 'Reply' }).last().click();
    await page.locator('textarea[name=message]').fill('until eight');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.locator('.spoken.own').getByText('until eight').waitFor();
    assertQuiet(person, demo);
    await person.context.close();
});

test('an emoji is chosen with the keyboard and inserted at the caret', async () => {
    await writes('999900000005', 'do you have cake?');
    const person = await browser.signedIn(demo);
    const { page } = person;
    await page.goto(`${demo.url}/console/inbox`);
    await row(page, 'do you have cake?').getByRole('link').click();
    const answer = page.locator('textarea[name=message]');
    await answer.fill('yes!');
    await answer.press('ArrowLeft');
    const button = page.getByRole('button', { name: 'Insert an emoji' });
    await button.press('Enter');
    assert.equal(await button.getAttribute('aria-expanded'), 'true');
    await assertAccessible(page, 'the emoji');
    for (const key of ['ArrowRight', 'Enter', 'ArrowDown', 'ArrowUp', 'Enter']) await page.keyboard.press(key);
    assert.equal(await answer.inputValue(), 'yes😃😃!');
    await page.keyboard.press('Escape');
    assert.equal(await button.getAttribute('aria-expanded'), 'false');
    await page.keyboard.type('?');
    assert.equal(await answer.inputValue(), 'yes😃😃?!');
    await button.click();
    await page.getByRole('button', { name: '🎂' }).click();
    assert.equal(await answer.inputValue(), 'yes😃😃?🎂!');
    assertQuiet(person, demo);
    await person.context.close();
});
