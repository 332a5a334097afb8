import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import {
  type HeldTask,
  type InstallationWork,
  installationWorkSchema,
  type Worker,
} from '#shared/interfaces/http/installation.ts';
import { page } from '../page.ts';
import { partOf, unknownPart } from '../pieces/part.ts';
import { command, count, empty, id, pageHead, plural, state, table, time } from '../pieces/pieces.ts';

const mostTasks = 500;

/** The work queues, the holders of roles and the workers with their tasks, for operators. */
export const workPage = page({ path: '/installation/work', of: 'installation' }, async ({ ask, now }) => ({
  title: 'Queues and workers',
  content: html`${pageHead('Queues and workers', 'The orchestrator hands out a task when a worker has room for it. All other work waits in the log.')}
${await partOf(ask({ path: '/v1/installation/work' }, installationWorkSchema), (work) => workContent(work, now))}`,
}));

function workContent(work: InstallationWork, now: Date): SafeHtml {
  const { queues, leases, activeExports, workers } = work;
  const reasonOf = (name: string): string => work.problems.find(({ part }) => part === name)?.reason ?? '';
  return html`<section aria-labelledby="queues"><h2 id="queues">Queues</h2>
${activeExports === undefined ? unknownPart(`The number of exports: ${reasonOf('exports')}`) : html`<p class="about">${plural(activeExports, 'export')} ${activeExports === 1 ? 'has' : 'have'} not ended.</p>`}
${
  queues === undefined
    ? unknownPart(reasonOf('queues'))
    : table(
        'Queues',
        [
          { title: 'Queue', cell: ({ queue }) => html`<code>${queue}</code>` },
          { title: 'Workers', cell: ({ service }) => service },
          { title: 'Waiting', isNumber: true, cell: ({ pending }) => count(pending) },
          { title: 'In flight', isNumber: true, cell: ({ inFlight }) => count(inFlight) },
          { title: 'Redelivered', isNumber: true, cell: ({ redelivered }) => count(redelivered) },
        ],
        queues,
      )
}</section>
<section aria-labelledby="workers"><h2 id="workers">Workers</h2>
${
  workers.length === 0
    ? empty(
        'No worker reports',
        html`No page is rendered and no bundle is joined. ${command('npm run bindery -- doctor')}`,
      )
    : table('Workers', workerColumns, workers)
}</section>
<section aria-labelledby="tasks"><h2 id="tasks">Tasks in flight</h2>
${tasksTable(workers, now)}</section>
<section aria-labelledby="roles"><h2 id="roles">Roles</h2>
<p class="about">One process has each role at a time. A lease that is not renewed ends within seconds, and a spare takes over.</p>
${
  leases === undefined
    ? unknownPart(reasonOf('leases'))
    : leases.length === 0
      ? empty(
          'Nobody has a role',
          html`No export starts, and no status changes. ${command('npm run bindery -- doctor')}`,
        )
      : table(
          'Roles',
          [
            { title: 'Role', cell: ({ role }) => html`<code>${role}</code>` },
            { title: 'Process', cell: ({ holder }) => html`<code>${holder}</code>` },
          ],
          leases,
        )
}</section>`;
}

const workerColumns = [
  { title: 'Worker', cell: ({ instance }: Worker) => html`<code>${instance}</code>` },
  { title: 'Version', cell: ({ rendererVersion }: Worker) => rendererVersion ?? html`<span class="quiet">none</span>` },
  {
    title: 'State',
    cell: ({ draining, freeSlots, slots }: Worker) =>
      draining
        ? state('warn', 'stopping')
        : freeSlots === slots
          ? state('idle', 'idle')
          : state('busy', freeSlots === 0 ? 'busy' : 'working'),
  },
  { title: 'Slots', isNumber: true as const, cell: ({ slots }: Worker) => count(slots) },
  { title: 'Free', isNumber: true as const, cell: ({ freeSlots }: Worker) => count(freeSlots) },
];

function tasksTable(workers: readonly Worker[], now: Date): SafeHtml {
  const held = workers
    .flatMap(({ instance, tasks }) => tasks.map((task) => ({ ...task, instance })))
    .toSorted((one, other) => (one.since < other.since ? -1 : 1));
  if (held.length === 0) return empty('No worker has a task', 'The oldest ones stand here first.');
  return html`${table(
    'Tasks in flight',
    [
      { title: 'Work', cell: workOf },
      {
        title: 'Export',
        cell: ({ jobId, organization }) =>
          organization === undefined
            ? id(jobId)
            : html`<a href="/o/${organization}/exports/${jobId}">${organization}</a> ${id(jobId)}`,
      },
      { title: 'Attempt', isNumber: true, cell: ({ attempt }) => count(attempt) },
      { title: 'Since', cell: ({ since }) => time(since, now) },
      { title: 'Worker', cell: ({ instance }) => html`<code>${instance}</code>` },
    ],
    held.slice(0, mostTasks),
  )}${held.length > mostTasks ? html`<p class="quiet">${plural(held.length - mostTasks, 'newer task')} more.</p>` : ''}`;
}

/** The words for a task: `chunk 3`, `closing files`, `bundle`. Pure. */
const workOf = ({ work, chunk }: HeldTask): string =>
  work === 'chunk' ? `chunk ${chunk}` : work === 'closing' ? 'closing files' : work;
