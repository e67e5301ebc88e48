// How many clicks three pieces of work take, from the overview to their end. Typing is free: what counts is what has to be found.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { assertQuiet, Browser, Demo, eventually } from './stage.mjs';

let demo, browser;
before(async () => {
    demo = await Demo.start();
    browser = await Browser.start();
    // The overview of a company that has not sent yet shows the first steps instead.
    const [channel] = demo.said.companies[0].channels;
    const body = { type: 'text', message: 'hello', phone_number: '+999 900 000 001' };
    await demo.request('POST', `/api/v1/chat/${channel.id}/messages`, { body });
});
after(async () => {
    await browser?.stop();
    await demo?.stop();
});

/** A person's hand on a page, which counts its clicks. */
class Hand {
    clicks = [];

    constructor(page) {
        this.page = page;
    }

    async press(role, name) {
        this.clicks.push(`${role} ${name}`);
        await this.page.getByRole(role, { name, exact: true }).first().click();
    }

    /** Ticks a box, or chooses one of several buttons. */
    async tick(place) {
        this.clicks.push(`tick ${place}`);
        await place.check();
    }

    /** Opens a list and chooses from it: two clicks. */
    async pick(label, entry) {
        this.clicks.push(`list ${label}`, `entry ${entry}`);
        await this.page.getByLabel(label, { exact: true }).selectOption({ label: entry });
    }

    async type(label, text) {
        await this.page.getByLabel(label, { exact: true }).fill(text);
    }
}

/** Signs in, works, and checks that it took at most this many clicks. */
async function within(most, work) {
    const person = await browser.signedIn(demo);
    await person.page.getByRole('heading', { name: 'Overview' }).waitFor();
    const hand = new Hand(person.page);
    await work(hand, person.page);
    assert.ok(hand.clicks.length <= most, `${hand.clicks.length} clicks, at most ${most} are wanted:\n${hand.clicks.join('\n')}`);
    assertQuiet(person, demo);
    await person.context.close();
}

test('a campaign with a test message takes at most ten clicks', async () => {
    await within(10, async (hand, page) => {
        await hand.press('link', 'New send');
        await hand.pick('Channel', demo.said.companies[0].channels[0].name);
        await hand.tick(page.getByRole('group', { name: 'Tags', exact: true }).getByLabel(/vip/));
        await hand.press('button', 'Go on');
        await hand.press('button', 'Choose order_update en_US');
        await hand.type('Text 1 – shown where {{1}} stands', '{{contact.first_name|friend}}');
        await hand.type('Text 2 – shown where {{2}} stands', 'A-1');
        await hand.press('button', 'Check');
        await hand.type('Your WhatsApp number', '+999 900 000 002');
        await hand.press('button', 'Send a test to me');
        await page.waitForURL(/[?&]test=/);
        // A test that takes longer than the page waits is told after a reload.
        await eventually(async () => (await page.getByText('WhatsApp took the test.').count()) || (await page.reload(), 0));
        await hand.press('button', 'Go on');
        await hand.press('button', 'Send');
        await page.waitForURL(/\/console\/sends\/[0-9a-f-]{36}$/);
        await page.getByText('Accepted for 25 recipients.').waitFor();
    });
});

test('fifty people get a tag in at most five clicks', async () => {
    await within(5, async (hand, page) => {
        await hand.press('link', 'Contacts');
        await hand.tick(page.getByLabel('All 50 on this page'));
        await hand.type('Tag', 'fair');
        await hand.press('button', 'Add tag');
        await page.getByText('50 contacts got the tag.').waitFor();
        const { body: { data: tags } } = await demo.request('GET', '/api/v1/contacts/tags?limit=100');
        assert.ok(tags.some(({ name }) => name === 'fair'));
    });
});

test('a business number is connected in at most six clicks', async () => {
    const token = 'EAAofthedemonstration';
    const number = { phone_number_id: '300000000000099', display_phone_number: '+999 100 000 099' };
    const accounts = [{ waba_id: '200000000000099', tokens: [token], numbers: [number] }];
    const made = await fetch(`${demo.said.simulator_url}/_sim/accounts`, { method: 'POST', body: JSON.stringify({ accounts }) });
    assert.ok(made.ok, await made.text());
    // At Meta, no app gets the webhooks of a new account.
    const apps = `${demo.said.simulator_url}/v26.0/${accounts[0].waba_id}/subscribed_apps`;
    const removed = await fetch(apps, { method: 'DELETE', headers: { Authorization: `Bearer ${token}` } });
    assert.ok(removed.ok, await removed.text());
    await within(6, async (hand, page) => {
        await hand.press('link', 'Channels');
        await hand.press('link', 'Add channel');
        await hand.type('Name', 'Front desk');
        await hand.type('Phone number ID', number.phone_number_id);
        await hand.type('Business account ID', accounts[0].waba_id);
        await hand.type('Access token', token);
        await hand.type('App secret', '0123456789abcdef0123456789abcdef');
        await hand.press('button', 'Add channel');
        await page.getByText('The channel Front desk was added.').waitFor();
        await hand.press('button', 'Send them to my app');
        await page.getByText('The account sends its webhooks to your app: yes').waitFor();
        await eventually(async () => {
            const { body: { data: channels } } = await demo.request('GET', '/api/v1/chat?limit=100');
            return channels.some(({ name, status }) => name === 'Front desk' && status === 'connected');
        });
    });
});
