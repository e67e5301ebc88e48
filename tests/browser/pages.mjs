// The addresses of all pages, with ids of the demonstration's own.

/** Those that somebody with this role may open. */
export async function addresses(demo, role) {
    const [company] = demo.said.companies;
    const channels = company.channels.map(channel => `/console/channels/${channel.id}`);
    const pages = [
        '/console', '/console/keys', '/console/company', '/console/channels', '/console/channels/new', ...channels,
        '/console/templates', '/console/contacts', '/console/contacts/import', '/console/sends/new', '/console/sends',
        '/console/suppressions', '/console/account',
    ];
    const { body } = await demo.request('GET', '/api/v1/sends?limit=1');
    for (const send of body.data) pages.push(`/console/sends/${send.id}`, `/console/sends/${send.id}/messages/0`);
    if (role !== 'operator') return pages;
    return ['/console/operator', '/console/operator/tiers', '/console/operator/changes'];
}
