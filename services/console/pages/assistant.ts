import { Readable } from 'node:stream';
import { z } from 'zod';
import { domainName } from '#shared/contracts/identifiers.ts';
import { conversationsKeptDays } from '#shared/contracts/insights.ts';
import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import { whoamiSchema } from '#shared/interfaces/http/directory.ts';
import { type Insights, insightsSchema, type Questions, questionsSchema } from '#shared/interfaces/http/insights.ts';
import { hasRole } from '#shared/interfaces/http/person-token.ts';
import { dayMs } from '#shared/runtime/time-and-ids.ts';
import { type Answer, askAssistant } from '../ask-assistant.ts';
import { form, page, stream, type Visit } from '../page.ts';
import {
  attribute,
  choiceField,
  command,
  count,
  empty,
  pageHead,
  plural,
  refusalOf,
  state,
  table,
  time,
} from '../pieces/pieces.ts';
import { answerOrProblem, unlessSilent } from '../pieces/part.ts';
import { markdownHtml, webLink } from '../pieces/markdown.ts';
import { plot } from '../pieces/plot.ts';
import { PlatformRefusal } from '../platform.ts';

const mostListed = 50;
export const longestQuestion = 2_000;

export const inDomain = z.object({ domain: domainName });

export const percent = (part: number, whole: number): string =>
  whole === 0 ? '–' : `${Math.round((part / whole) * 100)} %`;

const insightsOf = ({ ask }: Pick<Visit, 'ask'>, domain: string, days: number): Promise<Insights> =>
  ask(
    { path: `/v1/assistant/${encodeURIComponent(domain)}/insights`, query: { days, limit: mostListed } },
    insightsSchema,
  );

const noQuestions = { total: 0, answered: 0, unanswered: 0, unfinished: 0 };

type OfDomain = Questions['domains'][number];

/** The domains with their questions of the last 30 days. */
const assistantPage = page({ path: '/assistant' }, async ({ ask, base, organization }) => {
  const [{ domains }, asked] = await Promise.all([
    ask({ path: '/v1/whoami' }, whoamiSchema),
    answerOrProblem(ask({ path: '/v1/questions', query: { days: 30 } }, questionsSchema)),
  ]);
  const ofDomains = asked.answer?.domains ?? [];
  const known = new Map(ofDomains.map((each) => [each.domain, each]));
  // Domains with the most questions come first.
  const places = new Map(ofDomains.map(({ domain }, at) => [domain, at]));
  const placeOf = ({ domain }: { domain: string }) => places.get(domain) ?? Infinity;
  const listed = domains.toSorted((one, other) =>
    placeOf(one) === placeOf(other) ? (one.domain < other.domain ? -1 : 1) : placeOf(one) - placeOf(other),
  );
  const figureOf = (title: string, of: (asked: OfDomain) => SafeHtml | string) => ({
    title,
    isNumber: true as const,
    cell: ({ domain }: { domain: string }) =>
      of(known.get(domain) ?? { domain, questions: noQuestions, ratings: { up: 0, down: 0 } }),
  });
  const content = html`${pageHead('Assistant', 'What readers asked in the last 30 days, by domain.')}
${asked.problem}
${
  domains.length === 0
    ? empty(
        'There is no domain yet',
        html`An operator adds one.${command(`npm run bindery -- orgs add-domain ${organization} docs`)}`,
      )
    : table(
        'Domains',
        [
          { title: 'Domain', cell: ({ domain }) => html`<a href="${base}/assistant/${domain}">${domain}</a>` },
          ...(asked.answer === undefined
            ? []
            : [
                figureOf('Questions', ({ questions }) => count(questions.total)),
                figureOf('Answered', ({ questions }) => percent(questions.answered, questions.total)),
                figureOf('Found nothing', ({ domain, questions: { unanswered } }) =>
                  unanswered === 0
                    ? '0'
                    : html`<a href="${base}/assistant/${domain}#unanswered">${count(unanswered)}</a>`,
                ),
                figureOf('Rated up', ({ ratings }) => count(ratings.up)),
                figureOf('Rated down', ({ ratings }) => count(ratings.down)),
              ]),
        ],
        listed,
      )
}`;
  return { title: 'Assistant', content };
});

const query = z.object({
  days: z.enum(['7', '30', '90']).default('30').catch('30'),
});

type DomainVisit = Visit<z.output<typeof inDomain>, z.output<typeof query>>;

/** Questions that readers of one domain asked, and the form that asks its assistant. */
const domainPage = page({ path: '/assistant/:domain', params: inDomain, query }, (visit) => domainView(visit));

async function domainView(visit: DomainVisit, asked?: { question: string; answer: Answer }) {
  const {
    base,
    role,
    refused,
    params: { domain },
    query: { days },
  } = visit;
  const [insights, longest, site] = await Promise.all([
    answerOrProblem(insightsOf(visit, domain, Number(days))),
    answerOrProblem(
      visit.ask({ path: '/v1/questions', query: { domain, days: conversationsKeptDays } }, questionsSchema),
    ),
    siteAddress(visit, domain),
  ]);
  const around: Around = { ...visit, domain, site };
  const here = `${base}/assistant/${domain}`;
  const content = html`${pageHead(`Assistant of ${domain}`)}
${hasRole(role, 'editor') ? askForm(here, visit, asked?.question ?? refused?.fields.question) : ''}
<div id="answer" class="answer" aria-live="polite">${asked === undefined ? '' : answerHtml(asked.answer, around)}</div>
<form method="get" action="${here}" class="filters">${choiceField('days', {
    label: 'Questions of',
    choices: [
      ['7', 'the last 7 days'],
      ['30', 'the last 30 days'],
      ['90', 'the last 90 days'],
    ],
    value: days,
  })}<button class="button">Show</button></form>
${insights.answer?.questions.total === 0 && longest.answer?.questions.total === 0 ? empty('Nobody asked anything yet', html`Pages of a site ask with an assistant key, and a terminal asks with a command.${command(`npm run bindery -- ask ${domain} "How do I begin?"`)}`) : html`${insights.answer === undefined ? insights.problem : figuresHtml(insights.answer)}${longest.answer === undefined ? longest.problem : weeksHtml(longest.answer)}${insights.answer === undefined ? '' : listsHtml(insights.answer, around)}`}`;
  return { title: `Assistant of ${domain}`, content };
}

type Around = Pick<Visit, 'base' | 'now'> & { domain: string; site: string | undefined };

/** The address of the site of a domain, for links to its pages; undefined if there is none or the platform does not tell it. */
export async function siteAddress({ ask }: Pick<Visit, 'ask'>, name: string): Promise<string | undefined> {
  const known = await unlessSilent(ask({ path: '/v1/whoami' }, whoamiSchema));
  const [host] = known?.domains.find(({ domain, hosts }) => domain === name || hosts.includes(name))?.hosts ?? [];
  return host === undefined ? undefined : `https://${host}/`;
}

const askForm = (here: string, visit: Visit<unknown, unknown>, question = ''): SafeHtml =>
  html`<form method="post" action="${here}/ask" hx-post="${here}/answer" hx-target="#answer" hx-swap="innerMorph" class="ask">${visit.token}
${refusalOf(visit)}
<label for="f-question">Try it</label><div class="ask-line"><input id="f-question" name="question" type="text" required maxlength="${longestQuestion}" value="${question}" placeholder="How do I begin?" autocomplete="off"><button class="button primary">Ask</button></div></form>`;

/** An answer with its sources beside it. */
function answerHtml({ text, sources, threadId: thread, problem, isWhole }: Answer, around: Around): SafeHtml {
  return html`<div class="beside answered"${attribute('aria-busy', !isWhole && 'true')}><div class="prose">${
    text === '' && !isWhole ? html`<p class="quiet">Looking it up…</p>` : markdownHtml(text, around.site)
  }${problem === undefined ? '' : html`<p>${state('bad', problem)}</p>`}${
    thread === undefined
      ? ''
      : html`<p class="about"><a href="${around.base}/assistant/${around.domain}/conversations/${thread}">This conversation, and what was found for it</a></p>`
  }</div>${sourcesHtml(sources, around.site, isWhole)}</div>`;
}

export const sourcesHtml = (sources: Answer['sources'], site: string | undefined, isWhole: boolean): SafeHtml =>
  html`<div><h3>Sources</h3>${
    sources.length === 0
      ? html`<p class="about">${isWhole ? 'The answer names none.' : ''}</p>`
      : html`<ol>${sources.map(({ title, url }) => html`<li>${webLink(title, url, site)} <span class="quiet">${url}</span></li>`)}</ol>`
  }</div>`;

/** Sums by week, which begins on Monday; `name`: its Monday. Weeks without questions are included. Pure. */
export function weeksOf({ days, from, to }: Pick<Questions, 'from' | 'to'> & Pick<Insights, 'days'>) {
  const mondayOf = (day: string): string => {
    const date = new Date(day);
    return new Date(date.getTime() - ((date.getUTCDay() + 6) % 7) * dayMs).toISOString().slice(0, 10);
  };
  const weeks = new Map<string, { questions: number; unanswered: number }>();
  for (let at = Date.parse(mondayOf(from)); at <= Date.parse(to); at += 7 * dayMs)
    weeks.set(new Date(at).toISOString().slice(0, 10), { questions: 0, unanswered: 0 });
  for (const { day, questions, unanswered } of days) {
    const week = weeks.get(mondayOf(day));
    if (week === undefined) continue;
    week.questions += questions;
    week.unanswered += unanswered;
  }
  return [...weeks].map(([name, sums]) => ({ name, ...sums }));
}

const figuresHtml = ({ questions, ratings }: Insights): SafeHtml =>
  html`<dl class="tiles">
<div class="tile"><dt>Questions</dt><dd>${count(questions.total)}</dd></div>
<div class="tile"><dt>Answered</dt><dd>${percent(questions.answered, questions.total)}</dd></div>
<div class="tile"><dt>Found nothing</dt><dd>${count(questions.unanswered)}</dd></div>
<div class="tile"><dt>Answer broke off</dt><dd>${count(questions.unfinished)}</dd></div>
<div class="tile"><dt>Answers rated</dt><dd>${count(ratings.up)} up, ${count(ratings.down)} down</dd></div></dl>`;

function weeksHtml(longest: Questions): SafeHtml {
  const weeks = weeksOf(longest);
  const bars = (of: (week: (typeof weeks)[number]) => number) =>
    weeks.map((week) => ({ name: `Week of ${week.name}`, short: week.name.slice(5), value: of(week) }));
  return html`<div class="plots">${plot({ title: 'Questions by week', unit: 'Questions', of: 'Week', bars: bars((week) => week.questions) })}
${plot({ title: 'Questions by week that found nothing', unit: 'Found nothing', of: 'Week', bars: bars((week) => week.unanswered) })}</div>`;
}

function listsHtml({ unanswered, pages, ratedDown, agents }: Insights, around: Around): SafeHtml {
  const to = (thread: string) => `${around.base}/assistant/${around.domain}/conversations/${thread}`;
  return html`<section aria-labelledby="unanswered"><h2 id="unanswered">Asked in vain</h2>${
    unanswered.length === 0
      ? html`<p class="about">Every question of these days found something.</p>`
      : table(
          'Questions without an answer',
          [
            { title: 'Question', cell: (each) => html`<a href="${to(each.threadId)}">${each.question}</a>` },
            { title: 'Times', isNumber: true, cell: (each) => count(each.count) },
            { title: 'Last asked', cell: (each) => time(each.lastAskedAt, around.now) },
          ],
          unanswered,
        )
  }</section>
<section aria-labelledby="pages"><h2 id="pages">Pages that answer most</h2>${
    pages.length === 0
      ? html`<p class="about">No answer of these days cites a page.</p>`
      : table(
          'Pages that answer most',
          [
            {
              title: 'Page',
              cell: ({ path, title }) => html`${webLink(title, path, around.site)} <span class="quiet">${path}</span>`,
            },
            { title: 'Answers', isNumber: true, cell: ({ answers }) => count(answers) },
            { title: 'Rated up', isNumber: true, cell: ({ up }) => count(up) },
            { title: 'Rated down', isNumber: true, cell: ({ down }) => count(down) },
          ],
          pages,
        )
  }</section>
<section aria-labelledby="rated"><h2 id="rated">Rated down</h2>${
    ratedDown.length === 0
      ? html`<p class="about">No answer of these days was rated down.</p>`
      : table(
          'Answers that were rated down',
          [
            { title: 'Question', cell: (each) => html`<a href="${to(each.threadId)}">${each.question}</a>` },
            { title: 'Comment', cell: ({ comment }) => comment ?? '' },
            { title: 'Answered', cell: ({ answeredAt }) => time(answeredAt, around.now) },
          ],
          ratedDown,
        )
  }</section>
${agentsHtml(agents)}`;
}

/** Searches, tools and remarks of agents, which use the Model Context Protocol. */
function agentsHtml(agents: Insights['agents']): SafeHtml {
  const heading = html`<h2 id="agents">Asked by agents</h2>`;
  if (agents === undefined) return html``;
  if (agents.calls === 0)
    return html`<section aria-labelledby="agents">${heading}<p class="about">No agent read this documentation over the Model Context Protocol in these days.</p></section>`;
  const { calls, searches, empty: inVain, tools, queries, remarks } = agents;
  return html`<section aria-labelledby="agents">${heading}
<p class="about">${plural(calls, 'call')} over the Model Context Protocol. ${searches === 0 ? 'None was a search.' : `${plural(searches, 'search', 'searches')}; ${count(inVain)} found nothing.`} Words that may name a person are replaced by “…”.</p>
<div class="beside"><div><h3>Searches</h3>${
    queries.length === 0
      ? html`<p class="about">No words are listed.</p>`
      : table(
          'Searches of agents',
          [
            { title: 'Words', cell: ({ query: words }) => words },
            { title: 'Searches', isNumber: true, cell: (each) => count(each.searches) },
            {
              title: 'Found nothing',
              isNumber: true,
              cell: (each) => (each.empty === 0 ? html`<span class="quiet">0</span>` : count(each.empty)),
            },
          ],
          queries,
        )
  }</div><div><h3>Tools</h3>${table(
    'Tools that agents called',
    [
      { title: 'Tool', cell: ({ tool }) => html`<code>${tool}</code>` },
      { title: 'Calls', isNumber: true, cell: (each) => count(each.calls) },
    ],
    tools,
  )}</div></div>
${
  remarks.length === 0
    ? ''
    : html`<h3>Remarks of agents</h3>${table(
        'Remarks of agents about pages',
        [
          { title: 'Remark', cell: ({ message }) => message },
          { title: 'Page', cell: ({ path }) => path ?? '' },
          {
            title: 'Rated',
            cell: ({ rating }) => (rating === undefined ? '' : state(rating === 'up' ? 'good' : 'bad', rating)),
          },
          { title: 'Day', cell: ({ day }) => day },
        ],
        remarks,
      )}`
}</section>`;
}

const questionFields = z.object({ question: z.string().trim().min(1).max(longestQuestion) });

/** Asks, and shows the page with the whole answer, for browsers without scripts. */
const askWhole = form(
  { path: '/assistant/:domain/ask', params: inDomain, fields: questionFields, page: domainPage },
  async (visit, { question }) => {
    let answer: Answer | undefined;
    for await (const grown of askAssistant(visit, visit.params.domain, question)) answer = grown;
    if (answer === undefined) throw new Error('an answer has at least its end');
    return await domainView({ ...visit, query: query.parse({}) }, { question, answer });
  },
);

/** Time between two parts of an answer. Each part has the whole answer so far, so a long one is sent less often. */
const pauseMs = 80;
const restFactor = 10;

/** Asks, and sends the answer in parts while it is written. Each part replaces the one before. */
const askStreaming = stream(
  { path: '/assistant/:domain/answer', isForm: true, params: inDomain, query: questionFields },
  async (visit, reply) => {
    const { domain } = visit.params;
    const around: Around = { ...visit, domain, site: await siteAddress(visit, domain) };
    return reply
      .header('content-type', 'text/event-stream')
      .header('x-accel-buffering', 'no')
      .send(Readable.from(parts(visit, around)));
  },
);

async function* parts(visit: Visit<unknown, z.output<typeof questionFields>>, around: Around): AsyncGenerator<string> {
  const none: Answer = { text: '', sources: [], threadId: undefined, problem: undefined, isWhole: false };
  yield eventOf(none, around);
  let notBefore = 0;
  try {
    for await (const answer of askAssistant(visit, around.domain, visit.query.question)) {
      const now = performance.now();
      if (!answer.isWhole && now < notBefore) continue;
      const event = eventOf(answer, around);
      notBefore = now + Math.max(pauseMs, restFactor * (performance.now() - now));
      yield event;
    }
  } catch (error) {
    if (!(error instanceof PlatformRefusal)) throw error;
    yield eventOf({ ...none, problem: error.message, isWhole: true }, around);
  }
}

/** A server-sent event with a part of the page. */
const eventOf = (answer: Answer, around: Around): string =>
  `${answerHtml(answer, around)
    .text.split('\n')
    .map((line) => `data: ${line}\n`)
    .join('')}\n`;

export const assistantRoutes = [assistantPage, domainPage, askWhole, askStreaming];
