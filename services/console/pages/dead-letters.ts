import { z } from 'zod';
import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import {
  decideLettersBodySchema,
  type DeadLetterDetail,
  deadLetterDetailSchema,
  type DeadLetterList,
  deadLetterListSchema,
  type DeadLetterSettled,
  deadLetterSettledSchema,
  type InstallationDeadLetter,
  letterIdSchema,
  type LettersDecided,
  lettersDecidedSchema,
  listDeadLettersQuerySchema,
  mostLettersAtOnce,
} from '#shared/interfaces/http/installation.ts';
import { form, page, type View, type Visit } from '../page.ts';
import { partOf, unknownPart } from '../pieces/part.ts';
import {
  bytes,
  choiceField,
  count,
  empty,
  formButton,
  further,
  pageHead,
  plural,
  refusalOf,
  state,
  table,
  textField,
  time,
  withQuery,
} from '../pieces/pieces.ts';

const params = z.object({ letter: letterIdSchema });
/** A filter of the address; an empty or wrong one filters nothing. */
const optional = (schema: z.ZodType<string | undefined>) => schema.catch(undefined);

const query = z.object({
  state: listDeadLettersQuerySchema.shape.state.catch('aside'),
  service: optional(listDeadLettersQuerySchema.shape.service),
  stream: optional(listDeadLettersQuerySchema.shape.stream),
  cursor: listDeadLettersQuerySchema.shape.cursor.catch(undefined),
});

const listed = '/installation/dead-letters';
const decisions = '/v1/installation/dead-letters/decisions';
const states = [
  ['aside', 'waiting'],
  ['dropped', 'dropped'],
  ['all', 'all'],
] as const;

/** Messages that services could not handle, for operators. */
const letterList = page({ path: listed, of: 'installation', query }, async (visit) => {
  const { ask, query: filters } = visit;
  const content = html`${pageHead('Dead letters', 'Messages that a service could not handle and set aside. It continues with others, and later messages of the same history wait.')}
<form method="get" action="${listed}" class="filters">
${choiceField('state', { label: 'State', choices: states, value: filters.state })}
${choiceField('service', { label: 'Service', choices: choicesOf(letterServices), value: filters.service ?? '' })}
${choiceField('stream', { label: 'Stream', choices: choicesOf(letterStreams), value: filters.stream ?? '' })}
<button class="button">Show</button></form>
${refusalOf(visit)}
${await partOf(ask({ path: '/v1/installation/dead-letters', query: { ...filters, limit: mostLettersAtOnce } }, deadLetterListSchema), (found) => lettersTable(found, visit))}`;
  return { title: 'Dead letters', content };
});

/** Services that set messages aside, and the streams that they read. */
const letterServices = ['deployer', 'indexer', 'orchestrator', 'projector'];
const letterStreams = ['ACCESS', 'CONTENT', 'CONVERSATIONS', 'DIRECTORY', 'EXPORTS', 'FACTS', 'SITES', 'VIEWS'];

const choicesOf = (values: readonly string[]) => [['', 'all'], ...values.map((each) => [each, each] as const)] as const;

function lettersTable(
  { deadLetters, unreadable, nextCursor }: DeadLetterList,
  visit: Visit<unknown, z.output<typeof query>>,
): SafeHtml {
  const {
    now,
    address,
    query: { state: shown, service, stream, cursor },
  } = visit;
  const isFiltered = service !== undefined || stream !== undefined;
  const broken = unreadable.map(
    ({ id, reason }) =>
      html`<p>${state('bad', 'unreadable')} <a href="${listed}/${id}"><code>${id}</code></a>: ${reason}</p>`,
  );
  const pages = further(
    nextCursor && withQuery(address, { cursor: nextCursor }),
    cursor && withQuery(address, { cursor: undefined }),
    'More',
  );
  if (deadLetters.length === 0)
    return html`${broken}${broken.length > 0 ? '' : isFiltered ? empty('No letter fits', html`<a href="${listed}">Show all that wait</a>`) : shown === 'aside' ? empty('Nothing is set aside', 'Every message was handled.') : empty('There is none', 'A dropped letter stays in this list.')}${pages}`;
  return html`${broken}${table(
    'Dead letters',
    [
      { title: 'Letter', cell: ({ id }) => html`<a href="${listed}/${id}"><code>${id}</code></a>` },
      { title: 'State', cell: letterState },
      {
        title: 'Reason and subject',
        cell: (letter) =>
          html`<div class="finding">${shortReason(letter)}<div class="quiet"><code>${letter.subject}</code></div></div>`,
      },
      { title: 'Set aside', cell: ({ setAsideAt }) => setAsideAt && time(setAsideAt, now) },
    ],
    deadLetters,
  )}${pages}${decideTogether(visit, deadLetters)}`;
}

/** The reason without the words that the row has already. Pure. */
function shortReason({ reason, subject, sequence }: InstallationDeadLetter): string {
  const begin = `message ${sequence} on ${subject} is `;
  return reason.startsWith(begin) ? `It is ${reason.slice(begin.length)}` : reason;
}

const mayDecideAbout = ({ state: is, decision }: InstallationDeadLetter): boolean =>
  is === 'aside' && decision === undefined;

/** Buttons that retry and drop the letters of the page. The form names them, so that letters which come meanwhile are not among them. */
function decideTogether(visit: Pick<Visit, 'token'>, letters: readonly InstallationDeadLetter[]): SafeHtml {
  const ids = letters.filter(mayDecideAbout).map(({ id }) => id);
  if (ids.length < 2) return html``;
  const fields = { letters: ids.join(' ') };
  return html`<div class="actions">${formButton(visit, `${listed}/retry`, `Retry these ${ids.length}`, { fields, confirm: `Have the services handle these ${ids.length} messages again?` })}${formButton(visit, `${listed}/drop-question`, `Drop these ${ids.length} …`, { fields, tone: 'danger' })}</div>`;
}

const lettersField = z
  .string()
  .transform((text) => text.split(/\s+/))
  .pipe(decideLettersBodySchema.shape.letters);

/** The sentence about a decision on several letters. Pure. */
function saidOfAll({ settled, refused }: LettersDecided): string {
  const many = (outcome: DeadLetterSettled['outcome']) => settled.filter((each) => each.outcome === outcome).length;
  const parts: (readonly [number, string])[] = [
    [many('retried'), 'handled'],
    [many('dropped'), 'dropped'],
    [many('failed-again'), 'failed again'],
    [many('pending'), 'to be decided by a service that has not answered yet'],
    [refused.length, 'unchanged'],
  ];
  const [problem] = refused;
  const sentence = parts.flatMap(([number, words]) => (number === 0 ? [] : `${count(number)} ${words}`)).join(', ');
  return `${sentence}.${problem === undefined ? '' : ` ${problem.reason}`}`;
}

const retryLetters = form(
  {
    path: `${listed}/retry`,
    of: 'installation',
    fields: z.object({ letters: lettersField }),
    page: letterList,
    asks: (_params, { letters }) => ({
      title: `Retry ${plural(letters.length, 'letter')}`,
      sentence:
        'The services handle these messages again, and those that wait behind them. A message that fails again stays a dead letter.',
      button: 'Retry',
    }),
  },
  async ({ ask }, { letters }) => {
    const body = { action: 'retry', why: 'retried in the console', letters };
    const decided = await ask({ method: 'POST', path: decisions, body }, lettersDecidedSchema);
    return { to: listed, said: saidOfAll(decided) };
  },
);

/** The question before several letters are dropped. It shows each of them, and asks for their number. */
const askToDrop = form(
  {
    path: `${listed}/drop-question`,
    of: 'installation',
    fields: z.object({ letters: lettersField }),
    page: letterList,
  },
  async (visit, { letters }) => dropQuestion(visit, letters),
);

function dropQuestion({ token }: Pick<Visit, 'token'>, letters: readonly string[], problem?: string): View {
  const title = `Drop ${plural(letters.length, 'letter')}?`;
  return {
    title,
    status: problem === undefined ? 200 : 400,
    content: html`${pageHead(title)}
<p>The services never handle these messages again, also after a rebuild. Messages that wait behind them are handled then. The messages themselves stay in their streams. There is no way back.</p>
${problem === undefined ? '' : html`<div class="notice bad" role="alert"><p>${problem}</p></div>`}
<details class="more"><summary>${plural(letters.length, 'letter')}</summary><ul>${letters.map((each) => html`<li><a href="${listed}/${each}"><code>${each}</code></a></li>`)}</ul></details>
<form method="post" action="${listed}/drop" class="form">${token}<input type="hidden" name="letters" value="${letters.join(' ')}">
${textField('why', { label: 'Why', about: 'For the history of each letter.', required: true })}
${textField('confirm', { label: 'Type the number of letters to drop them', about: String(letters.length), required: true })}
<button class="button danger">Drop them</button> <a class="button" href="${listed}">Keep them</a></form>`,
  };
}

const dropLetters = form(
  {
    path: `${listed}/drop`,
    of: 'installation',
    fields: z.object({ letters: lettersField, why: z.string().trim().max(1_000), confirm: z.string() }),
    page: letterList,
  },
  async (visit, { letters, why, confirm }) => {
    if (why === '') return dropQuestion(visit, letters, 'Nothing was dropped: say why.');
    if (confirm.trim() !== String(letters.length))
      return dropQuestion(
        visit,
        letters,
        'Nothing was dropped: the number that was typed is not the number of letters.',
      );
    const body = { action: 'drop', why, letters };
    const decided = await visit.ask({ method: 'POST', path: decisions, body }, lettersDecidedSchema);
    return { to: listed, said: saidOfAll(decided) };
  },
);

function letterState({ state: is, cause, decision, failed }: InstallationDeadLetter): SafeHtml {
  if (is === 'settled') return state('good', 'handled');
  if (is === 'dropped') return state('idle', 'dropped');
  if (decision !== undefined) return state('busy', decision.action === 'retry' ? 'is retried' : 'is dropped');
  if (cause === 'newer') return state('warn', 'waits for an upgrade');
  return state('bad', failed === undefined ? 'waits for you' : 'failed again');
}

/** One dead letter with its message and history, and what can be done. */
const letterPage = page({ path: `${listed}/:letter`, of: 'installation', params }, async (visit) => {
  const {
    ask,
    params: { letter: id },
  } = visit;
  const content = await partOf(
    ask({ path: `/v1/installation/dead-letters/${id}` }, deadLetterDetailSchema),
    (letter) => html`${pageHead(id, letterState(letter))}${refusalOf(visit)}${letterContent(letter, visit)}`,
  );
  return { title: id, content: html`<p><a href="${listed}">Dead letters</a></p>${content}` };
});

function letterContent(letter: DeadLetterDetail, visit: Visit<z.output<typeof params>>): SafeHtml {
  const { id, message, problems, waiting, history, decision } = letter;
  const { now } = visit;
  const problemOf = (name: string): string | undefined => problems.find(({ part }) => part === name)?.reason;
  const mayDecide = letter.state === 'aside' && problemOf('letter') === undefined;
  return html`<dl class="facts">
<dt>Reason</dt><dd>${letter.reason}</dd>
<dt>Service</dt><dd>${letter.service}</dd>
<dt>Stream</dt><dd><code>${letter.stream}</code>, message ${count(letter.sequence)}</dd>
<dt>Subject</dt><dd>${letter.subject === '' ? html`<span class="quiet">unknown</span>` : html`<code>${letter.subject}</code>`}</dd>
<dt>Set aside</dt><dd>${letter.setAsideAt === undefined ? html`<span class="quiet">unknown</span>` : time(letter.setAsideAt, now)}</dd>
<dt>Attempts</dt><dd>${problemOf('history') === undefined ? count(letter.attempts) : html`<span class="quiet">unknown</span>`}</dd>
<dt>Waiting behind it</dt><dd>${problemOf('waiting') ?? (waiting === undefined ? 'nothing' : plural(waiting, 'message'))}</dd>
</dl>
${
  decision === undefined || letter.state !== 'aside'
    ? ''
    : html`<p>${decision.by} decided ${time(decision.at, now)} to ${decision.action} it: ${decision.why}. The ${letter.service} has not carried this out yet.</p>`
}
${
  mayDecide
    ? html`<div class="actions">${decision?.action === 'drop' ? '' : formButton(visit, `${listed}/${id}/retry`, 'Retry', { tone: 'primary' })}${decision?.action === 'retry' ? '' : html`<a class="button danger" href="${listed}/${id}/drop">Drop …</a>`}</div>`
    : ''
}
<section aria-labelledby="message"><h2 id="message">Message</h2>
${
  message === undefined
    ? unknownPart(problemOf('message') ?? '')
    : html`<p class="about">${bytes(message.sizeBytes)}${message.isCut ? ', of which this is the beginning' : ''}. Secrets are hidden.</p><div class="command"><pre tabindex="0"><code>${message.text}</code></pre></div>`
}</section>
<section aria-labelledby="history"><h2 id="history">History</h2>
${
  problemOf('history') !== undefined
    ? unknownPart(problemOf('history') ?? '')
    : history.length === 0
      ? empty('There is no history', 'It is kept for 400 days.')
      : table(
          'History',
          [
            { title: 'What', cell: ({ outcome }) => outcome.replace('-', ' ') },
            {
              title: 'When',
              cell: ({ at }) => (at === undefined ? html`<span class="quiet">unknown</span>` : time(at, now)),
            },
            {
              title: 'Who and why',
              cell: ({ decision: by }) =>
                by === undefined ? html`<span class="quiet">the ${letter.service}</span>` : `${by.by}: ${by.why}`,
            },
            { title: 'Reason', cell: ({ reason }) => reason },
          ],
          history,
        )
}</section>`;
}

/** The sentence about a decision. Pure. */
function saidOf({ id, outcome, already, decision, reason = '' }: DeadLetterSettled): string {
  if (outcome === 'pending') return `Your decision is stored. ${reason}`;
  if (outcome === 'failed-again') return `${id} failed again: ${reason}`;
  const what = outcome === 'retried' ? 'handled' : 'dropped';
  return already && decision !== undefined ? `${id} was ${what} before, by ${decision.by}.` : `${id} is ${what}.`;
}

const retryLetter = form(
  { path: `${listed}/:letter/retry`, of: 'installation', params, fields: z.object({}), page: letterPage },
  async ({ ask, params: { letter: id } }) => {
    const path = `/v1/installation/dead-letters/${id}/retry` as const;
    const settled = await ask(
      { method: 'POST', path, body: { why: 'retried in the console' } },
      deadLetterSettledSchema,
    );
    return { to: `${listed}/${id}`, said: saidOf(settled) };
  },
);

/** The question before a letter is dropped, as a page of its own that needs no scripts. */
const dropPage = page({ path: `${listed}/:letter/drop`, of: 'installation', params }, async (visit) => {
  const {
    ask,
    token,
    params: { letter: id },
  } = visit;
  const content = await partOf(
    ask({ path: `/v1/installation/dead-letters/${id}` }, deadLetterDetailSchema),
    (letter) =>
      letter.state === 'aside'
        ? html`<dl class="facts"><dt>Reason</dt><dd>${letter.reason}</dd><dt>Subject</dt><dd><code>${letter.subject}</code></dd></dl>
<p>The ${letter.service} never handles this message again, also after a rebuild. ${behind(letter.waiting)} The message itself stays in its stream. There is no way back.</p>
${refusalOf(visit)}
<form method="post" action="${listed}/${id}/drop" class="form">${token}
${textField('why', { label: 'Why', about: 'For the history of the letter.', required: true }, visit.refused)}
${textField('confirm', { label: 'Type the id of the letter to drop it', about: html`<code>${id}</code>`, required: true })}
<button class="button danger">Drop it</button> <a class="button" href="${listed}/${id}">Keep it</a></form>`
        : empty('It no longer waits', html`<a href="${listed}/${id}">To its history</a>`),
  );
  return { title: `Drop ${id}`, content: html`${pageHead(`Drop ${id}?`)}${content}` };
});

/** The fate of the messages behind a letter, as a sentence. Pure. */
function behind(waiting: number | undefined): string {
  if (waiting === undefined) return 'Messages that wait behind it are handled.';
  if (waiting === 0) return 'No message waits behind it.';
  return `${plural(waiting, 'message')} ${waiting === 1 ? 'waits' : 'wait'} behind it and ${waiting === 1 ? 'is' : 'are'} handled then.`;
}

const dropLetter = form(
  {
    path: `${listed}/:letter/drop`,
    of: 'installation',
    params,
    fields: z.object({ why: z.string().trim().min(1).max(1_000), confirm: z.string() }),
    page: dropPage,
  },
  async ({ ask, params: { letter: id } }, { why, confirm }) => {
    if (confirm.trim() !== id)
      return { to: `${listed}/${id}`, said: 'Nothing was dropped: the id that was typed is not the id of the letter.' };
    const path = `/v1/installation/dead-letters/${id}` as const;
    const settled = await ask({ method: 'DELETE', path, query: { why } }, deadLetterSettledSchema);
    return { to: `${listed}/${id}`, said: saidOf(settled) };
  },
);

export const deadLetterRoutes = [
  letterList,
  retryLetters,
  askToDrop,
  dropLetters,
  letterPage,
  retryLetter,
  dropPage,
  dropLetter,
];
