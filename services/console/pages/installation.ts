import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import {
  deadLetterListSchema,
  housekeepingSchema,
  installationWorkSchema,
  type ServiceHealth,
  serviceListSchema,
} from '#shared/interfaces/http/installation.ts';
import { page, type Visit } from '../page.ts';
import { partOf } from '../pieces/part.ts';
import { bytes, command, count, pageHead, plural, state, table, type Tone } from '../pieces/pieces.ts';

const tones: Readonly<Record<ServiceHealth['state'], Tone>> = {
  ready: 'good',
  degraded: 'warn',
  unready: 'bad',
  unreachable: 'bad',
};

/** The services of the installation with health and version, for operators. */
export const installationPage = page({ path: '/installation', of: 'installation' }, async ({ ask }) => {
  const [{ gateways, services }, parts] = await Promise.all([
    ask({ path: '/v1/installation/services' }, serviceListSchema),
    otherParts(ask),
  ]);
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
${parts}
<h2>Other services</h2>
<p class="about">The gateway does not call all services. Renderers, bundlers, the indexer and the deployer work on messages. This command examines them, the bus and the stores.</p>
${command('npm run bindery -- doctor')}`;
  return { title: 'Services', content };
});

/** The other parts of the installation in a sentence each, with a link to their pages. Each part fails alone. */
async function otherParts(ask: Visit['ask']): Promise<SafeHtml> {
  const parts = await Promise.all([
    partOf(ask({ path: '/v1/installation/work' }, installationWorkSchema), ({ queues = [], workers }) => {
      const [waiting, inFlight] = [sumOf(queues, 'pending'), sumOf(queues, 'inFlight')];
      return html`<p>${plural(workers.length, 'worker')} ${workers.length === 1 ? 'is' : 'are'} live. ${plural(waiting, 'task')} ${waiting === 1 ? 'waits' : 'wait'} in the queues, and ${count(inFlight)} ${inFlight === 1 ? 'is' : 'are'} in flight. <a href="/installation/work">Queues and workers</a></p>`;
    }),
    partOf(
      ask({ path: '/v1/installation/dead-letters', query: { limit: mostCounted } }, deadLetterListSchema),
      ({ deadLetters, unreadable, nextCursor }) => {
        const found = deadLetters.length + unreadable.length;
        return html`<p>${found === 0 ? state('good', 'Nothing is set aside.') : state('bad', `${nextCursor === undefined ? '' : 'More than '}${plural(found, 'message')} set aside.`)} <a href="/installation/dead-letters">Dead letters</a></p>`;
      },
    ),
    partOf(ask({ path: '/v1/installation/housekeeping', query: { limit: 1 } }, housekeepingSchema), ({ totals }) => {
      const objects = totals?.objects ?? [];
      const said =
        totals === undefined
          ? 'The removable objects are being counted.'
          : objects.length === 0
            ? 'No object would be removed.'
            : `${plural(sumOf(objects, 'objects'), 'object')} of ${bytes(sumOf(objects, 'bytes'))} would be removed.`;
      return html`<p>${said} <a href="/installation/housekeeping">Housekeeping</a></p>`;
    }),
  ]);
  const titles = ['Queues and workers', 'Dead letters', 'Housekeeping'];
  return html`${parts.map((part, at) => html`<h2>${titles[at] ?? ''}</h2>${part}`)}`;
}

const mostCounted = 100;

const sumOf = <K extends string>(rows: readonly Record<K, number>[], field: K): number =>
  rows.reduce((sum, row) => sum + row[field], 0);
