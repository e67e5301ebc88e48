// Every form that a person needs, filled once without script and once with the keyboard alone.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { assertQuiet, Browser, Demo, eventually, reach } from './stage.mjs';

let demo, browser;
before(async () => {
    demo = await Demo.start();
    browser = await Browser.start();
});
after(async () => {
    await browser?.stop();
    await demo?.stop();
});

/** With a mouse, in a browser that runs no script. */
const mouse = page => ({
    fill: (label, text) => page.getByLabel(label, { exact: true }).fill(text),
    choose: label => page.getByLabel(label, { exact: true }).first().check(),
    pick: (label, word) => page.getByLabel(label, { exact: true }).selectOption({ label: word }),
    file: (label, file) => page.getByLabel(label, { exact: true }).setInputFiles(file),
    press: name => page.getByRole('button', { name, exact: true }).first().click(),
    unfold: () => page.locator('details.menu > summary').click(),
});

/** With the keyboard alone: from stop to stop. */
const keyboard = page => ({
    async fill(label, text) {
        await reach(page, label, isField);
        await page.keyboard.press('Control+a');
        await page.keyboard.type(text);
    },
    async choose(label) {
        // A group of buttons is one stop: the arrow keys move within it.
        await reach(page, label, isOfGroup);
        for (let nth = 0; nth < 10; nth += 1) {
            if (await page.evaluate(isField, label)) break;
            await page.keyboard.press('ArrowDown');
        }
        await page.keyboard.press('Space');
    },
    async pick(label, word) {
        await reach(page, label, isField);
        // The first word is enough for a list.
        await page.keyboard.type(word.split(' ')[0]);
    },
    async file(label, file) {
        await reach(page, label, isField);
        // A key before the first display of the page has no effect.
        let chooser = null;
        for (let nth = 0; nth < 10 && !chooser; nth += 1) {
            const opened = page.waitForEvent('filechooser', { timeout: 3_000 }).catch(() => null);
            await page.keyboard.press('Enter');
            chooser = await opened;
        }
        await chooser.setFiles(file);
    },
    async unfold() {
        await reach(page, 'details.menu > summary', selector => document.activeElement.matches(selector));
        await page.keyboard.press('Enter');
    },
    async press(name) {
        await reach(page, name, isButton);
        const asks = await page.evaluate(() => document.activeElement.hasAttribute('popovertarget'));
        await page.keyboard.press('Enter');
        // A question takes the focus when it is open.
        if (asks) await page.waitForFunction(() => document.activeElement.closest('[popover]'));
    },
});

function isField(label) {
    const { activeElement: field } = document;
    const said = [...(field.labels ?? [])].map(known => known.textContent.trim());
    return [...said, field.getAttribute('aria-label')].includes(label);
}

function isOfGroup(label) {
    const { activeElement: field } = document;
    const group = field.type === 'radio' ? [...document.getElementsByName(field.name)] : [field];
    return group.some(one => [...(one.labels ?? [])].some(known => known.textContent.trim() === label));
}

function isButton(name) {
    const { activeElement: button } = document;
    return button.matches('button, a') && (button.getAttribute('aria-label') ?? button.textContent).trim() === name;
}

for (const [way, means, script] of [['without script', mouse, false], ['with the keyboard alone', keyboard, true]]) {
    const word = script ? 'keyboard' : 'plain';

    test(`a person is invited, joins and signs in, ${way}`, async () => {
        const owner = await browser.signedIn(demo, 'owner', { script });
        const email = `${word}@example.com`;
        await owner.page.goto(`${demo.url}/console/company`);
        const invite = means(owner.page);
        await invite.fill('E-mail', email);
        await invite.choose('Viewer: can look, but change nothing');
        await invite.press('Invite');
        const link = (await owner.page.getByLabel('Invitation link').first().textContent()).trim();

        const person = await browser.person({ script });
        await person.page.goto(link.match(/https?:\S+/)[0]);
        const guest = means(person.page);
        await guest.fill('Name', word);
        await guest.fill('Password', 'correct horse battery');
        await guest.fill('Password again', 'correct horse battery');
        await guest.press('Accept');
        await person.page.waitForURL(`${demo.url}/console`);
        await guest.unfold();
        await guest.press('Sign out');
        await person.page.waitForURL(/sign-in/);
        await guest.fill('E-mail', email);
        await guest.fill('Password', 'correct horse battery');
        await guest.press('Sign in');
        await person.page.waitForURL(`${demo.url}/console`);
        assertQuiet(owner, demo);
        assertQuiet(person, demo);
        await person.context.close();
        await owner.context.close();
    });

    test(`a channel is added and templates are synced, ${way}`, async () => {
        const person = await browser.signedIn(demo, 'owner', { script });
        const { page } = person;
        const hand = means(page);
        await page.goto(`${demo.url}/console/channels/new`);
        await hand.choose('Web session: a phone, linked as a device of WhatsApp Web');
        await hand.fill('Name', `phone of ${word}`);
        await hand.choose('I accept the risk, and the company can afford to lose this number.');
        await hand.press('Add channel');
        await page.getByText(`The channel phone of ${word} was added.`).waitFor();
        await page.goto(`${demo.url}/console/templates`);
        await hand.press('Sync');
        await page.getByRole('status').first().waitFor();
        assertQuiet(person, demo);
        await person.context.close();
    });

    test(`a file is imported, ${way}`, async () => {
        const person = await browser.signedIn(demo, 'owner', { script });
        const { page } = person;
        const hand = means(page);
        const file = path.join(demo.directory, `${word}.csv`);
        await writeFile(file, `Nome,Fone\n${word},+5511${script ? 922_222_222 : 933_333_333}\n`);
        await page.goto(`${demo.url}/console/contacts/import`);
        await hand.file('File', file);
        await hand.press('Import');
        await page.waitForURL(/\/console\/contacts\/import\/[0-9a-f-]{36}/);
        await page.getByText('The columns of the file').first().waitFor({ state: 'attached' });
        await hand.pick('What Fone holds', 'Phone number');
        await hand.fill('Tags for all contacts of the file', word);
        await hand.press('Import');
        // The form leads to the page of the progress, which has the same address.
        await page.locator('#progress').waitFor();
        await eventually(async () => {
            await page.reload();
            return page.getByText('Finished').count();
        });
        const { body } = await demo.request('GET', `/api/v1/contacts?search=${word}`);
        assert.equal(body.totalRecords, 1);
        assertQuiet(person, demo);
        await person.context.close();
    });

    test(`a number is suppressed and released, ${way}`, async () => {
        const person = await browser.signedIn(demo, 'owner', { script });
        const { page } = person;
        const hand = means(page);
        const number = script ? '+55 11 94444 4444' : '+55 11 95555 5555';
        await page.goto(`${demo.url}/console/suppressions`);
        await hand.fill('Phone number', number);
        await hand.choose('Every message');
        await hand.press('Add suppression');
        await page.getByText(`${number} is skipped from now on.`).waitFor();
        await hand.press(`Lift ${number}`);
        await hand.press(`Yes: Lift ${number}`);
        await page.getByText(`${number} gets messages again.`).first().waitFor();
        assert.equal((await page.getByRole('row', { name: number }).count()), 0);
        assertQuiet(person, demo);
        await person.context.close();
    });

    test(`a tier is changed, ${way}`, async () => {
        const person = await browser.signedIn(demo, 'operator', { script });
        const { page } = person;
        const hand = means(page);
        const pace = script ? '31' : '32';
        await page.goto(`${demo.url}/console/operator/tiers/standard`);
        await hand.fill('Messages at most', pace);
        await hand.press('Show what changes');
        await page.getByRole('button', { name: 'Apply' }).waitFor();
        await hand.press('Apply');
        await page.getByText('The tier standard is changed.').waitFor();
        assert.equal(await page.getByLabel('Messages at most').inputValue(), pace);
        assertQuiet(person, demo);
        await person.context.close();
    });
}
