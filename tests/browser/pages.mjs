// The addresses of all pages, with ids of the demonstration's own.

import { eventually } from './stage.mjs';

/** Makes sends of the first company, a finished one with some failed messages and one that runs, and a webhook to nobody. */
export async function busy(demo) {
    const { channels: [channel], tags: [everyone] } = demo.said.companies[0];
    const send = async body => {
        const { status } = await demo.request('POST', `/api/v1/chat/${channel.id}/messages`, { body: { type: 'text', ...body } });
        if (status !== 202 && status !== 200) throw new Error(`a send was refused with ${status}`);
    };
    const webhook = { url: 'http://127.0.0.1:1/webhooks', types: ['message.failed', 'send.*'] };
    const added = await demo.request('POST', '/api/v1/webhooks', { body: webhook });
    if (added.status !== 201) throw new Error(`a webhook was refused with ${added.status}`);
    const segment = { name: 'Everyone in one place', filter: { contact_tag_id: [everyone.id] } };
    const saved = await demo.request('POST', '/api/v1/contacts/segments', { body: segment });
    if (saved.status !== 201 && saved.status !== 409) throw new Error(`a segment was refused with ${saved.status}`);
    // Texts go to everybody here, although most people never wrote.
    const rule = JSON.stringify({ service_window: false });
    await fetch(`${demo.said.simulator_url}/_sim/script`, { method: 'POST', body: rule });
    await send({ message: 'Hello, all of you', phone_number: ['+999 900 000 001', '+999 900 000 002', '+999 900 000 003'] });
    await eventually(async () => {
        const { body } = await demo.request('GET', '/api/v1/sends?limit=1');
        return body.data[0]?.state === 'finished' || body.data[0]?.status === 'finished';
    }).catch(() => {});
    await send({ message: 'The new opening hours: every day from eight to eight', contact_tag_id: everyone.id });
}

/** The pages that a person with this role may open. */
export async function addresses(demo, role) {
    const [company] = demo.said.companies;
    const channels = company.channels.map(channel => `/console/channels/${channel.id}`);
    const pages = [
        '/console', '/console/inbox', '/console/inbox?view=closed&search=nobody', '/console/keys', '/console/company', '/console/channels', '/console/channels/new', ...channels,
        '/console/templates', '/console/contacts', '/console/contacts/import', '/console/sends/new', '/console/sends', '/console/sends/drafts',
        `/console/sends/new?type=template&channel=${company.channels[0].id}`, '/console/costs', '/console/media',
        '/console/suppressions', '/console/quick-replies', '/console/automatic-answers', '/console/webhooks', '/console/webhooks/new', '/console/account', '/console/help',
        '/console/company/look',
    ];
    const { body: { data: webhooks } } = await demo.request('GET', '/api/v1/webhooks');
    pages.push(...webhooks.map(({ id }) => `/console/webhooks/${id}`));
    const { body: { data: segments } } = await demo.request('GET', '/api/v1/contacts/segments');
    pages.push(...segments.flatMap(({ id }) => [`/console/contacts?segment=${id}`, `/console/contacts/segments/${id}`]));
    // A running send and a finished one.
    const { body } = await demo.request('GET', '/api/v1/sends?limit=2');
    for (const send of body.data) pages.push(`/console/sends/${send.id}`, `/console/sends/${send.id}/messages/0`);
    if (body.data.length) pages.push(`/console/sends/${body.data.at(-1).id}/again`);
    if (role !== 'operator') return pages;
    return [
        '/console/operator', '/console/operator/nodes', '/console/operator/tiers', '/console/operator/tiers/standard',
        '/console/operator/prices', '/console/operator/changes', `/console/operator/channels/${company.channels[0].id}`,
        '/console/operator/users', `/console/operator/companies/${company.id}`,
    ];
}

/** Pages of single records, for the pictures. */
export async function further(demo, role) {
    if (role === 'operator') return ['/console/companies', '/console/nothing'];
    const { body: { data: [contact] } } = await demo.request('GET', '/api/v1/contacts?limit=1');
    const { body: { data: [tag] } } = await demo.request('GET', '/api/v1/contacts/tags?limit=1');
    const { body: { data: imports } } = await demo.request('GET', '/api/v1/contacts/imports?limit=2');
    const { body: { data: [, send] } } = await demo.request('GET', '/api/v1/sends?limit=2');
    const { channels: [channel], templates } = demo.said.companies[0];
    const template = templates.find(({ name }) => name === 'order_update');
    return [
        `/console/sends/new?type=template&channel=${channel.id}&template=${template.id}`,
        '/console/contacts/new', '/console/contacts/tags', '/console/contacts/fields', `/console/contacts/${contact.id}`, `/console/contacts/tags/${tag.id}`,
        ...imports.map(({ id }) => `/console/contacts/import/${id}`), `/console/sends/${send.id}`, `/console/sends/${send.id}/again`,
        '/console/contacts?search=nobody+at+all', `/console/contacts?tag=${tag.id}`, `/console/contacts?not=${tag.id}`, '/console/sends?state=expired',
    ];
}
