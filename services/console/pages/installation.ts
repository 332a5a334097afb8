import { html } from '#shared/docs/render/html.ts';
import { type ServiceHealth, serviceListSchema } from '#shared/interfaces/http/installation.ts';
import { page } from '../page.ts';
import { command, pageHead, plural, state, table, type Tone } from '../pieces/pieces.ts';

const tones: Readonly<Record<ServiceHealth['state'], Tone>> = {
  ready: 'good',
  degraded: 'warn',
  unready: 'bad',
  unreachable: 'bad',
};

/** The services of the installation with health and version, for operators. */
export const installationPage = page({ path: '/installation', of: 'installation' }, async ({ ask }) => {
  const { gateways, services } = await ask({ path: '/v1/installation/services' }, serviceListSchema);
  const versions = new Set(services.flatMap(({ version }) => version ?? []));
  const content = html`${pageHead('Services', `${plural(gateways, 'gateway')} ${gateways === 1 ? 'is' : 'are'} live. One of them answers here, and asks the services that it calls.`)}
<p><a href="/installation/doctor">Doctor</a> · <a href="/installation/verification">Verification of the logs</a></p>
${versions.size > 1 ? html`<p>${state('warn', 'The services run different versions.')}</p>` : ''}
${table(
  'Services',
  [
    { title: 'Service', cell: ({ service }) => service },
    { title: 'State', cell: (each) => state(tones[each.state], each.state) },
    { title: 'Version', cell: ({ version }) => version ?? html`<span class="quiet">unknown</span>` },
    {
      title: 'Problems',
      cell: ({ service, problems }) =>
        problems.length === 0
          ? html`<span class="quiet">none</span>`
          : html`${problems.map(({ part, reason }) => html`<div>${part === service ? reason : `${part}: ${reason}`}</div>`)}`,
    },
  ],
  services,
)}
<h2>Other services</h2>
<p class="about">No gateway calls the services that work on messages, such as renderers and the projector. This command examines them, the bus and the stores.</p>
${command('npm run bindery -- doctor')}`;
  return { title: 'Services', content };
});
