import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insightsSchema } from '#shared/interfaces/http/insights.ts';
import { type ConsoleHarness, consoleHarness } from '../../../test/support/console-harness.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  type TestOrganization,
} from '../../../test/support/gateway-harness.ts';
import { threadWriter } from '../../../test/support/make-thread.ts';
import { weeksOf } from './assistant.ts';

const script = '<script>alert(1)</script>';
const [first, second, third] = ['1', '2', '3'].map((digit) => `th_${digit.repeat(22)}`) as [string, string, string];

let assistant: FastifyInstance;
/** Searches and erasures that the assistant got, and the chunks that it answers with. */
let searched: unknown[] = [];
let erased: string[] = [];
let chunks: object[] = [];

let gateway: GatewayHarness;
let acme: TestOrganization;
let site: ConsoleHarness;
let visitor: Awaited<ReturnType<ConsoleHarness['signedIn']>>;

const sourced = [
  { type: 'start', messageId: 'm1' },
  { type: 'text-delta', id: 't', delta: 'Press **it** ' },
  { type: 'text-delta', id: 't', delta: `and ${script}.` },
  { type: 'source-url', sourceId: 's1', url: '/guides/keys', title: `Keys ${script}` },
  { type: 'finish', threadId: first, finishReason: 'stop' },
];

beforeAll(async () => {
  assistant = Fastify();
  assistant.removeAllContentTypeParsers();
  assistant.addContentTypeParser('*', { parseAs: 'string' }, async (_request: unknown, body: string) => body);
  assistant.post('/internal/message', (_request, reply) =>
    reply
      .header('content-type', 'text/event-stream')
      .send(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')),
  );
  assistant.post('/internal/search', async (request) => {
    searched.push(JSON.parse(String(request.body)));
    const explanation = {
      coverage: 0.5,
      signals: { title: 0.25, body: 1.5 },
      words: [{ word: 'rotate', terms: { rotate: 1, rotat: 0.8 } }],
    };
    const metadata = { title: 'Keys', heading: 'Rotate', url: '/guides/keys#rotate', score: 0.75, explanation };
    return [{ content: 'Rotate a key.', path: '/guides/keys', metadata }];
  });
  assistant.get('/internal/threads/:threadId', async (request, reply) => {
    const { threadId } = request.params as { threadId: string };
    const said = { askedAt: '2026-03-01T09:00:00.000Z', sources: [{ url: '/guides/keys', title: 'Keys' }] };
    const message = {
      ...said,
      messageId: 'm1',
      question: `Why ${script}?`,
      answer: 'It is **so**.',
      status: 'answered',
    };
    if (threadId !== first)
      return reply.code(404).send({ error: 'There is no such thread.', code: 'not_found', requestId: 'r' });
    return {
      threadId,
      createdAt: '2026-03-01T09:00:00.000Z',
      messages: [{ ...message, rating: 'down', comment: `No: ${script}` }],
    };
  });
  assistant.delete('/internal/threads/:threadId', async (request) => {
    erased.push((request.params as { threadId: string }).threadId);
    return {};
  });
  gateway = await gatewayHarness({ BINDERY_ASSISTANT_URL: await assistant.listen({ host: '127.0.0.1', port: 0 }) });
  acme = await createOrganization(gateway);
  site = await consoleHarness(gateway);
  const threads = threadWriter(gateway.bus.threads, acme.id);
  await threads.answered(first, '2026-03-01T09:00:00.000Z', { messageId: 'm1' });
  await threads.answered(second, '2026-02-20T09:00:00.000Z', {
    ...{ messageId: 'm2', question: `How ${script}?`, unanswered: true, sources: [], answer: '' },
  });
  await threads.answered(third, '2026-02-20T10:00:00.000Z', { messageId: 'm3' });
  await threads.rated(third, '2026-02-20T11:00:00.000Z', {
    ...{ messageId: 'm3', answeredAt: '2026-02-20T10:00:00.000Z', rating: 'down', comment: 'Wrong.' },
  });
  await gateway.bus.projected();
  visitor = await site.signedIn(acme.adminKey);
});
afterAll(async () => {
  await site.close();
  await gateway.close();
  await assistant.close();
});

/** The rows of the table with a caption: each has the texts of its cells. */
const tableOf = (html: string, caption: string): string[][] => {
  const [, body = ''] = html.split(`<caption class="unseen">${caption}</caption>`);
  return [...(body.split('</table>')[0] ?? '').matchAll(/<tr>(<th scope="row">.*?)<\/tr>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => cell.replaceAll(/<[^>]*>/g, '').trim()),
  );
};

test('shows what the insights of a domain say, and what readers wrote as text', async () => {
  const url = '/v1/assistant/docs/insights?days=30';
  const insights = insightsSchema.parse((await gateway.app.inject({ url, headers: bearer(acme.adminKey) })).json());
  const { html } = await visitor.get('/o/acme/assistant/docs');
  expect(insights.questions).toEqual({ total: 3, answered: 2, unanswered: 1, unfinished: 0 });
  expect(html).toContain('<dt>Questions</dt><dd>3</dd>');
  expect(html).toContain('<dt>Answered</dt><dd>67 %</dd>');
  expect(html).toContain('<dt>Answers rated</dt><dd>0 up, 1 down</dd>');
  expect(tableOf(html, 'Questions without an answer')).toEqual([
    ['How &lt;script&gt;alert(1)&lt;/script&gt;?', '1', '9 days ago'],
  ]);
  expect(html).toContain(`/o/acme/assistant/docs/conversations/${second}`);
  expect(tableOf(html, 'Pages that answer most').map(([, ...figures]) => figures)).toEqual([['2', '0', '1']]);
  expect(tableOf(html, 'Answers that were rated down')[0]?.[1]).toBe('Wrong.');
  const weeks = tableOf(html, 'Questions by week');
  expect(weeks.slice(-2)).toEqual([
    ['Week of 2026-02-16', '2'],
    ['Week of 2026-02-23', '1'],
  ]);
  expect(html).not.toContain(script);
  const overview = await visitor.get('/o/acme/assistant');
  expect(tableOf(overview.html, 'Domains')).toEqual([['docs', '3', '67 %', '1', '0', '1']]);
});

test('a week begins on Monday, and one without questions is shown', () => {
  const days = [
    { day: '2026-03-01', questions: 1, unanswered: 0 },
    { day: '2026-03-02', questions: 2, unanswered: 1 },
  ];
  expect(weeksOf({ days, from: '2026-02-18', to: '2026-03-09' })).toEqual([
    { name: '2026-02-16', questions: 0, unanswered: 0 },
    { name: '2026-02-23', questions: 1, unanswered: 0 },
    { name: '2026-03-02', questions: 2, unanswered: 1 },
    { name: '2026-03-09', questions: 0, unanswered: 0 },
  ]);
});

test('answers a question on a whole page with its sources, without scripts', async () => {
  chunks = sourced;
  const { status, html } = await visitor.send('/o/acme/assistant/docs/ask', { question: 'How?' });
  expect(status).toBe(200);
  expect(html).toContain('Press <strong>it</strong> and &lt;script&gt;alert(1)&lt;/script&gt;.');
  expect(html).toContain('href="https://docs.acme.test/guides/keys"');
  expect(html).toContain(`href="/o/acme/assistant/docs/conversations/${first}"`);
  expect(html).toContain('value="How?"');
  expect(html).not.toContain(script);
});

test('streams an answer whose last part is whole, and only for a form of the session', async () => {
  chunks = sourced;
  const streamed = await visitor.send('/o/acme/assistant/docs/answer', { question: 'How?' });
  expect(streamed.headers.get('content-type')).toBe('text/event-stream');
  const events = streamed.html.trimEnd().split('\n\n');
  expect(events[0]).toContain('aria-busy="true"');
  expect(events.at(-1)).not.toContain('aria-busy');
  expect(events.at(-1)).toContain('Press <strong>it</strong> and &lt;script&gt;');
  expect(events.every((event) => event.split('\n').every((line) => line.startsWith('data: ')))).toBe(true);
  expect((await visitor.get('/o/acme/assistant/docs/answer?question=How')).status).toBe(404);
});

test('says when an answer broke off, and when the platform refuses the question', async () => {
  chunks = sourced.slice(0, 2);
  const cut = await visitor.send('/o/acme/assistant/docs/ask', { question: 'How?' });
  expect(cut.html).toContain('Press <strong>it</strong>');
  expect(cut.html).toMatch(/class="state bad"/);
  const refused = await visitor.send('/o/acme/assistant/docs/ask', { question: ' ' });
  expect(refused.status).toBe(400);
  expect((await visitor.send('/o/acme/assistant/other/ask', { question: 'How?' })).status).toBe(404);
  const streamed = await visitor.send('/o/acme/assistant/other/answer', { question: 'How?' });
  expect(streamed.html).toContain('There is no domain');
});

test('a conversation is shown with its sources and rating; its retrieval is explained when asked for', async () => {
  searched = [];
  const address = `/o/acme/assistant/docs/conversations/${first}`;
  const { html } = await visitor.get(address);
  expect(html).toContain('Why &lt;script&gt;alert(1)&lt;/script&gt;?');
  expect(html).toContain('It is <strong>so</strong>.');
  expect(html).toContain('rated down');
  expect(html).not.toContain(script);
  expect(searched).toEqual([]);
  const explained = await visitor.get(`${address}?explain=m1`);
  expect(searched).toEqual([expect.objectContaining({ query: `Why ${script}?`, explain: true })]);
  expect(tableOf(explained.html, 'Found passages')).toEqual([
    ['Keys › Rotate', '0.75', '50 %', 'body 1.50, title 0.25'],
  ]);
  expect(explained.html).toContain('<strong>rotate</strong> as rotate, rotat');
  expect((await visitor.get(`/o/acme/assistant/docs/conversations/${third}`)).status).toBe(404);
});

test('a conversation is erased only when its id is typed', async () => {
  erased = [];
  const address = `/o/acme/assistant/docs/conversations/${first}`;
  await visitor.get(address);
  const wrong = await visitor.send(`${address}/erase`, { confirm: 'yes' });
  expect((await visitor.get(wrong.location ?? '')).html).toContain('Nothing was erased');
  expect(erased).toEqual([]);
  const done = await visitor.send(`${address}/erase`, { confirm: first });
  expect(done.location).toBe('/o/acme/assistant/docs');
  expect(erased).toEqual([first]);
  expect((await visitor.get('/o/acme/assistant/docs')).html).toContain('The conversation is erased.');
});
