// The boxes of every page at four widths: the parts of a page do not overlap, no text is cut, no form is squeezed.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { addresses, busy } from './pages.mjs';
import { Browser, Demo } from './stage.mjs';

const WIDTHS = [390, 768, 1280, 1920];

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

/** The faults of the page's boxes, each as a sentence. Runs in the page. */
function faults() {
    const found = [];
    const box = element => element.getBoundingClientRect();
    const name = element => element.tagName.toLowerCase() + (element.className && `.${element.className}`);
    // A half pixel is rounding.
    const overlap = (one, other) =>
        Math.min(one.right, other.right) - Math.max(one.left, other.left) > 0.5 &&
        Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 0.5;

    // On a phone the navigation is a bar at the bottom of the window, and the page ends above it.
    const bar = [...document.querySelectorAll('nav.side')].find(side => getComputedStyle(side).position === 'fixed');
    const parts = ['header.top', 'nav.side', 'main', 'footer.foot'].map(part => document.querySelector(part))
        .filter(part => part && part !== bar);
    parts.forEach((one, index) => {
        for (const other of parts.slice(index + 1)) {
            if (overlap(box(one), box(other))) found.push(`${name(one)} overlaps ${name(other)}`);
        }
    });
    const [head, foot] = [document.querySelector('header.top'), document.querySelector('footer.foot')].map(box);
    if (head.top > 0.5) found.push('the head is not at the top');
    const room = bar ? box(bar).height : 0;
    if (foot.bottom < innerHeight - room - 0.5) found.push('the foot is not at the bottom');
    if (bar && Math.abs(box(bar).bottom - innerHeight) > 0.5) found.push('the bar is not at the bottom of the window');
    if (bar && document.documentElement.scrollHeight - scrollY < foot.bottom + room - 1) found.push('the bar hides the foot');
    if (Math.min(head.width, foot.width) < document.documentElement.clientWidth - 0.5) found.push('head or foot is not as wide as the page');

    const main = document.querySelector('main');
    if (document.body.classList.contains('visitor')) {
        const { left, right } = box(main);
        if (Math.abs(left - (document.documentElement.clientWidth - right)) > 1) found.push('the form is not in the middle');
    }
    for (const element of document.querySelectorAll('main :is(h1, h2, p, label, input:not([type="hidden"]), select, textarea, button, a)')) {
        const at = box(element);
        if (!at.width || !at.height || element.closest('.unseen, [hidden], details:not([open])')) continue;
        // What scrolls inside a box of its own may be wider than the page.
        const scrolls = (() => {
            for (let above = element.parentElement; above && above !== main; above = above.parentElement) {
                if (['auto', 'scroll'].includes(getComputedStyle(above).overflowX)) return true;
            }
            return false;
        })();
        if (!scrolls && (at.left < -0.5 || at.right > document.documentElement.clientWidth + 0.5)) {
            found.push(`${name(element)} is cut: ${element.textContent.slice(0, 40)}`);
        }
        if (element.matches('input:is([type="email"], [type="password"])') && at.width < 200) {
            found.push(`${name(element)} is only ${Math.round(at.width)} px wide`);
        }
    }
    return found;
}

async function check(page, address) {
    await page.goto(address);
    for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: width < 500 ? 844 : 800 });
        assert.deepEqual(await page.evaluate(faults), [], `${address} at ${width} px`);
    }
}

test('the pages of a visitor', async () => {
    const { page, context } = await browser.person({ script: false });
    const { link } = await demo.command('user', 'sign-in', demo.said.console.owner.email);
    for (const path of ['/console/sign-in', new URL(link).pathname, '/console/link/nothing', '/console/nothing', '/console/help']) {
        await check(page, `${demo.url}${path}`);
    }
    await context.close();
});

for (const role of ['owner', 'operator']) {
    test(`the pages of the ${role}`, async () => {
        const { page, context } = await browser.signedIn(demo, role);
        for (const path of await addresses(demo, role, page)) await check(page, `${demo.url}${path}`);
        await context.close();
    });
}
