import type { z } from 'zod';
import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import { type DoctorCheck, doctorSchema } from '#shared/interfaces/http/doctor.ts';
import {
  type DeadLetterList,
  deadLetterListSchema,
  housekeepingSchema,
  installationWorkSchema,
  type ServiceHealth,
  serviceListSchema,
} from '#shared/interfaces/http/installation.ts';
import { page, type Visit } from '../page.ts';
import { icon } from '../pieces/icon.ts';
import { partOf, unlessSilent } from '../pieces/part.ts';
import { bytes, command, count, pageHead, plural, state, table, type Tone } from '../pieces/pieces.ts';

const tones: Readonly<Record<ServiceHealth['state'], Tone>> = {
  ready: 'good',
  degraded: 'warn',
  unready: 'bad',
  unreachable: 'bad',
};

/** The health of the installation for operators: the findings that need them, then the services with their versions. */
export const installationPage = page({ path: '/installation', of: 'installation' }, async ({ ask }) => {
  const deadLetters = ask(
    { path: '/v1/installation/dead-letters', query: { limit: mostCounted } },
    deadLetterListSchema,
  );
  const doctor = ask({ path: '/v1/installation/doctor' }, doctorSchema);
  const [services, verdict, parts] = await Promise.all([
    partOf(ask({ path: '/v1/installation/services' }, serviceListSchema), servicesTable),
    partOf(Promise.all([doctor, unlessSilent(deadLetters)]), ([{ checks }, letters]) => verdictOf(checks, letters)),
    otherParts(ask, deadLetters),
  ]);
  const actions = html`<a class="button" href="/installation/verification">Verification of the logs</a><a class="button primary" href="/installation/doctor">All checks</a>`;
  const content = html`${pageHead('Health', 'Is the installation healthy, and what needs you?', actions)}
${verdict}
<h2>Services</h2>
${services}
<p class="about">Renderers, bundlers, the indexer and the deployer do not answer requests. Workers with their tasks are among the <a href="/installation/work">queues and workers</a>.</p>
${parts}
<h2>Disks, settings and servers</h2>
<p class="about">This command examines them on the machines where the services run:</p>
${command('npm run bindery -- doctor')}`;
  return { title: 'Health', content };
});

function servicesTable({ services }: z.output<typeof serviceListSchema>): SafeHtml {
  const versions = new Set(services.flatMap(({ version }) => version ?? []));
  return html`${versions.size > 1 ? html`<p>${state('warn', 'The services run different versions.')}</p>` : ''}
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
)}`;
}

/** The findings that need the operator, as one list. `letters`: undefined if they are not known, which their own part of the page says. */
function verdictOf(checks: readonly DoctorCheck[], letters: DeadLetterList | undefined): SafeHtml {
  const { deadLetters, unreadable, nextCursor } = letters ?? { deadLetters: [], unreadable: [], nextCursor: undefined };
  const waiting =
    deadLetters.filter(({ cause, decision }) => cause !== 'newer' && decision === undefined).length + unreadable.length;
  const wrong = checks.filter(({ state: is }) => is === 'fault' || is === 'warning' || is === 'unknown');
  const things = wrong.length + (waiting > 0 || letters === undefined ? 1 : 0);
  const isBad = waiting > 0 || wrong.some(({ state: is }) => is === 'fault');
  if (wrong.length === 0 && waiting === 0 && letters !== undefined)
    return html`<div class="notice good">${icon('circle-check')}<p><strong>The installation is healthy.</strong> All ${plural(checks.length, 'check')} are good, and no message was set aside.</p></div>`;
  return html`<div class="notice ${isBad ? 'bad' : ''}">${icon(isBad ? 'circle-x' : 'triangle-alert')}<div><p><strong>${plural(things, 'thing')} ${things === 1 ? 'needs' : 'need'} you.</strong></p><ul>${letters === undefined ? html`<li>The messages that could not be handled are not known: <a href="/installation/dead-letters">Dead letters</a></li>` : ''}${
    waiting === 0
      ? ''
      : html`<li>${nextCursor === undefined ? '' : 'More than '}${plural(waiting, 'message')} could not be handled. Retry or drop ${waiting === 1 ? 'it' : 'them'}: <a href="/installation/dead-letters">Dead letters</a></li>`
  }${wrong.map(({ name, sentence, repair }) => html`<li>${name}: ${sentence}${repair === undefined ? '' : html` <span class="quiet">${repair}</span>`}</li>`)}</ul></div></div>`;
}

/** The other parts of the installation in a sentence each, with a link to their pages. Each part fails alone. */
async function otherParts(ask: Visit['ask'], asked: Promise<DeadLetterList>): Promise<SafeHtml> {
  const parts = await Promise.all([
    partOf(ask({ path: '/v1/installation/work' }, installationWorkSchema), ({ queues = [], workers }) => {
      const [waiting, inFlight] = [sumOf(queues, 'pending'), sumOf(queues, 'inFlight')];
      return html`<p>${plural(workers.length, 'worker')} ${workers.length === 1 ? 'is' : 'are'} live. ${plural(waiting, 'task')} ${waiting === 1 ? 'waits' : 'wait'} in the queues, and ${count(inFlight)} ${inFlight === 1 ? 'is' : 'are'} in flight. <a href="/installation/work">Queues and workers</a></p>`;
    }),
    partOf(asked, ({ deadLetters, unreadable, nextCursor }) => {
      const found = deadLetters.length + unreadable.length;
      return html`<p>${found === 0 ? state('good', 'Nothing is set aside.') : state('bad', `${nextCursor === undefined ? '' : 'More than '}${plural(found, 'message')} set aside.`)} <a href="/installation/dead-letters">Dead letters</a></p>`;
    }),
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
