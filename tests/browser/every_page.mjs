// Every page in one language, in both themes, narrow and wide: no findings of axe, no messages in the browser's console, no
// requests to another host.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { addresses, busy } from './pages.mjs';
import { assertAccessible, assertQuiet, Browser, Demo } from './stage.mjs';

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** The tests of all pages in this language; each pair is a theme and a width in pixels. */
export function everyPage(language, looks) {
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

    for (const [theme, width] of looks) {
        test(`all pages in ${language}, ${theme}, ${width} px`, async () => {
            for (const role of ['owner', 'operator']) {
                const person = await browser.signedIn(demo, role, { language, theme, width });
                for (const address of await addresses(demo, role, person.page)) {
                    const answer = await person.page.goto(`${demo.url}${address}`);
                    assert.equal(answer.status(), 200, address);
                    assert.equal(await person.page.getAttribute('html', 'lang'), language, address);
                    const overflow = await person.page.evaluate(
                        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
                    );
                    assert.ok(overflow <= 0, `${address} is ${overflow} px wider than the window`);
                    await assertAccessible(person.page, `${address} (${language}, ${theme}, ${width} px)`, RULES);
                }
                assertQuiet(person, demo);
                await person.context.close();
            }
        });
    }
}
