import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import {
  problemKinds,
  type Verification,
  type VerificationResult,
  verificationSchema,
  type VerifiedStream,
} from '#shared/interfaces/http/verification.ts';
import { hasRole } from '#shared/interfaces/http/person-token.ts';
import { z } from 'zod';
import { form, page, type Visit } from '../page.ts';
import { inTime } from '../pieces/part.ts';
import { PlatformRefusal } from '../platform.ts';
import {
  attribute,
  command,
  count,
  duration,
  empty,
  exactly,
  formButton,
  pageHead,
  plural,
  printButton,
  refusalOf,
  state,
  table,
  time,
} from '../pieces/pieces.ts';

type Kind = (typeof problemKinds)[number];

/** Each kind of failed check with its meaning and the next step. */
const meanings: Readonly<Record<Kind, readonly [meaning: string, advice: string]>> = {
  hole: [
    'Messages are missing that the log had before.',
    'Do not change the data folder. Compare the stream with a backup, and restore the newest one that has them.',
  ],
  swapped: [
    'A message stands after a later one, or twice.',
    'Somebody wrote to the stream past the services. Compare it with a backup, and look for users with rights on the bus.',
  ],
  moved: [
    'A message is not at the place that the next one names.',
    'The stream was copied or written again. Compare it with a backup.',
  ],
  changed: [
    'The stored bytes are not those that were written.',
    'Compare the history with a backup. A single damaged byte points to a disk, several histories point to a person.',
  ],
  'wrong-subject': [
    'A message belongs to another history.',
    'Somebody wrote to the stream past the services. Compare it with a backup.',
  ],
  'wrong-state': [
    'The recorded state does not follow from the recorded events.',
    'Rebuild the read models if only they differ; otherwise compare the history with a backup.',
  ],
  unreadable: [
    'A message is not a commit, or is from a newer version of Bindery.',
    'Verify with the newest version that has run here. If it stays unreadable, compare it with a backup.',
  ],
  unanchored: [
    'No anchor covers the end of a history, so it may have been rewritten as a whole.',
    'If many are named, the audit key was changed or the projector was down: verify again in a minute. If a few are, compare them with a backup.',
  ],
  bundle: [
    'The stored bundle differs from the one that the history names.',
    'Replay the export. It stores the same bytes again.',
  ],
};

const streamNames: Readonly<Record<string, string>> = {
  EXPORTS: 'Exports',
  CONTENT: 'Contents',
  SITES: 'Sites',
  DIRECTORY: 'Organizations and keys',
  ACCESS: 'Links to bundles',
};

const nameOf = ({ stream }: Pick<VerifiedStream, 'stream'>): SafeHtml =>
  html`${streamNames[stream] ?? ''} <code>${stream}</code>`;

const verdict = (problems: number): SafeHtml =>
  problems === 0 ? state('good', 'whole') : state('bad', `${plural(problems, 'check')} failed`);

type Place = { of?: 'installation'; path: '/audit/verification' | '/installation/verification'; asks: `/v1/${string}` };

const places = {
  organization: { path: '/audit/verification', asks: '/v1/audit/verification' },
  installation: { of: 'installation', path: '/installation/verification', asks: '/v1/installation/verification' },
} as const satisfies Record<string, Place>;

/** The page of one place, and the form that starts a verification. */
function routesOf(place: Place) {
  const { path, asks, of } = place;
  const where = of === undefined ? {} : { of };
  const shown = page({ path, ...where }, async (visit) => {
    const verification = await inTime(visit.ask({ path: asks }, verificationSchema)).catch((error: unknown) => {
      if (!(error instanceof PlatformRefusal) || (error.status > 0 && error.status < 500)) throw error;
      return error;
    });
    return {
      title: 'Verification of the logs',
      content:
        verification instanceof PlatformRefusal
          ? notNow(visit.organization, place, verification)
          : verificationContent(visit, place, verification),
    };
  });
  const start = form(
    { path, ...where, fields: z.object({ again: z.literal('true').optional() }), page: shown },
    async (visit, { again }) => {
      const { running } = await visit.ask(
        { method: 'POST', path: asks, body: { again: again === 'true' } },
        verificationSchema,
      );
      return {
        to: `${visit.base}${path}`,
        said:
          running === undefined
            ? 'The logs have no newer messages, so the result of the last hour stands.'
            : 'The verification was started.',
      };
    },
  );
  return [shown, start];
}

function verificationContent(
  visit: Visit<unknown, unknown>,
  { path, of }: Place,
  { running, failed, result }: Verification,
): SafeHtml {
  const address = `${visit.base}${path}`;
  const may = hasRole(visit.role, of === undefined ? 'editor' : 'operator') && running === undefined;
  const start = (label: string, tone: 'primary' | 'plain', fields: Record<string, string> = {}) =>
    may ? formButton(visit, address, label, { tone, fields }) : html``;
  const whose = of === undefined ? `of ${visit.organization}` : 'of the whole installation';
  const actions = html`${start('Verify now', 'primary')}${result === undefined ? '' : html`${start('Read everything again', 'plain', { again: 'true' })}${printButton}`}`;
  // All of it is read again while a verification runs, because its end brings other buttons.
  return html`<div id="verification"${attribute('hx-get', running && address)}${attribute('hx-trigger', running && 'every 1s')}${attribute('hx-select', running && '#verification')}${attribute('hx-swap', running && 'outerMorph')}>
${pageHead('Verification of the logs', `Whether the records ${whose} are those that were written: nothing removed, changed or added later.`, actions)}
${refusalOf(visit)}
${running === undefined ? '' : html`<p role="status">${state('busy', running.state === 'waiting' ? 'waiting for its turn' : 'verifying')} <span class="quiet">${running.stream === undefined ? '' : html`${nameOf({ stream: running.stream })}, ${plural(running.histories ?? 0, 'history', 'histories')} · `}asked for ${time(running.askedAt, visit.now)} by ${running.askedBy.id}. This may take minutes; the page can be closed.</span></p>`}
${failed === undefined ? '' : html`<p>${state('warn', 'no result')} The verification that ${failed.askedBy.id} asked for at ${exactly(failed.askedAt)} ended without a result: ${failed.reason} <span class="quiet">Verify again.</span></p>`}
${result === undefined ? (running === undefined ? noResult(visit.organization, of, may) : '') : resultOf(result, { of, organization: visit.organization })}
</div>`;
}

const noResult = (organization: string, of: Place['of'], may: boolean): SafeHtml =>
  empty(
    'The logs have not been verified here yet',
    html`${may ? '"Verify now" reads every message of them.' : 'A person with the role editor can verify them.'} The same check as a command:${command(commandFor(organization, of))}`,
  );

const notNow = (organization: string, { of }: Place, { message }: PlatformRefusal): SafeHtml =>
  html`${pageHead('Verification of the logs')}<p>${state('bad', 'not known')} ${message}</p>
<p class="about">The projector verifies logs. If it is down or older than the gateway, this command verifies them:</p>
${command(commandFor(organization, of))}`;

const commandFor = (organization: string, of: Place['of']): string =>
  of === undefined
    ? `npm run bindery -- audit verify --organization ${organization}`
    : 'npm run bindery -- audit verify';

const tookOf = ({ startedAt, finishedAt }: VerificationResult): number =>
  Date.parse(finishedAt) - Date.parse(startedAt);

/** The protocol of a verification, as an auditor prints it. */
function resultOf(result: VerificationResult, { of, organization }: { of: Place['of']; organization: string }) {
  const { streams, whole, problemCount, askedAt, askedBy, finishedAt } = result;
  const failing = streams.filter((each) => each.problemCount > 0);
  const kinds = problemKinds.filter((kind) =>
    failing.some(({ problems }) => problems.some(({ problem }) => problem === kind)),
  );
  return html`<dl class="facts">
<dt>Result</dt><dd>${verdict(problemCount)}</dd>
<dt>Logs</dt><dd>${of === undefined ? html`those of the organization <code>${organization}</code>` : 'all of the installation'}</dd>
<dt>Asked by</dt><dd>${askedBy.id}${askedBy.kind === askedBy.id ? '' : html` <span class="quiet">${askedBy.kind}</span>`}</dd>
<dt>Asked at</dt><dd>${exactly(askedAt)}</dd>
<dt>Verified at</dt><dd>${exactly(finishedAt)} <span class="quiet">in ${duration(tookOf(result))}</span></dd>
</dl>
${whole ? html`<p>Every chain is complete to its end, every stored byte has the hash that was written, every state follows from its events, and each history ends where its anchor says.</p>` : ''}
${table(
  'Verified logs',
  [
    { title: 'Log', cell: nameOf },
    { title: 'Result', cell: (each) => verdict(each.problemCount) },
    { title: 'Histories', isNumber: true, cell: (each) => count(each.histories) },
    { title: 'Entries', isNumber: true, cell: (each) => count(each.commits) },
    { title: 'Anchored', isNumber: true, cell: (each) => count(each.anchored) },
    { title: 'First entry', cell: ({ first }) => endOf(first) },
    { title: 'Last entry', cell: ({ last }) => endOf(last) },
  ],
  streams,
)}
${failing.map(problemsOf)}
${
  kinds.length === 0
    ? ''
    : html`<h2>What failed checks mean</h2><dl class="meanings">${kinds.map((kind) => html`<dt>${state('bad', kind)}</dt><dd>${meanings[kind][0]} ${meanings[kind][1]}</dd>`)}</dl>`
}
<h2>Ends of the chains</h2>
<p class="about">The hash of a last entry covers all entries before it. Keep this page: a later verification whose chains do not contain these entries shows that records were removed or rewritten. The digest is SHA-256 over the lines "subject revision hash" of all histories of a log, sorted by subject.</p>
${streams.filter(({ headCount }) => headCount > 0).map(headsOf)}
<h2>How it was checked</h2>
<p class="about">The projector read each history in the log and in the archive, compared numbers, hashes and states, and compared the ends with the read models and with anchors: keyed hashes that no service which writes logs can make. Records of links are not chained; each was compared with the audit in both directions.${of === undefined ? ' An export whose history, archive and read models were all removed leaves only a gap in its stream. Gaps belong to no organization: an operator sees them in the verification of the whole installation.' : ''}</p>`;
}

const endOf = (entry: VerifiedStream['first']): SafeHtml =>
  entry === undefined
    ? html`<span class="quiet">none</span>`
    : html`${entry.time === undefined ? html`<span class="quiet">no time</span>` : exactly(entry.time)}<div class="quiet">message ${entry.sequence}</div>`;

const problemsOf = (each: VerifiedStream): SafeHtml =>
  html`<h2>${nameOf(each)}: ${plural(each.problemCount, 'check')} failed</h2>
${table(
  `Failed checks of ${each.stream}`,
  [
    { title: 'Check', cell: ({ problem }) => state('bad', problem) },
    {
      title: 'Finding',
      cell: ({ subject, message }) =>
        html`<div class="finding">${message}<div class="quiet"><code>${subject}</code></div></div>`,
    },
    { title: 'Message', isNumber: true, cell: ({ sequence }) => count(sequence) },
    { title: 'Revision', isNumber: true, cell: ({ revision }) => (revision === undefined ? '' : count(revision)) },
  ],
  each.problems,
)}${each.problems.length === each.problemCount ? '' : html`<p class="about">The first ${count(each.problems.length)} of ${count(each.problemCount)}. <code>bindery audit verify --json</code> has all.</p>`}`;

const headsOf = (each: VerifiedStream): SafeHtml =>
  html`<h3>${nameOf(each)}</h3><p class="digest">${plural(each.headCount, 'history', 'histories')}, digest <code>${each.headsSha256}</code></p>
${table(
  `Ends of the chains of ${each.stream}`,
  [
    { title: 'History', cell: ({ subject }) => html`<code>${subject}</code>` },
    { title: 'Revision', isNumber: true, cell: ({ revision }) => count(revision) },
    { title: 'Hash', cell: ({ hash }) => html`<code class="hash">${hash}</code>` },
  ],
  each.heads,
)}${each.heads.length === each.headCount ? '' : html`<p class="about">The first ${count(each.heads.length)} of ${count(each.headCount)}; the digest covers all.</p>`}`;

export const verificationRoutes = [...routesOf(places.organization), ...routesOf(places.installation)];
