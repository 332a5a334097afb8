import { z } from 'zod';
import { threadId } from '#shared/contracts/identifiers.ts';
import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import { searchAnswerSchema, type ThreadAnswer, threadAnswerSchema } from '#shared/interfaces/http/assistant.ts';
import { hasRole } from '#shared/interfaces/http/person-token.ts';
import { form, page, type Visit } from '../page.ts';
import { markdownHtml, webLink } from '../pieces/markdown.ts';
import { id, pageHead, refusalOf, state, table, textField, time, type Tone } from '../pieces/pieces.ts';
import { inDomain, longestQuestion, siteAddress, sourcesHtml } from './assistant.ts';

const onThread = inDomain.extend({ threadId });

type Message = ThreadAnswer['messages'][number];

const tones: Readonly<Record<Message['status'], Tone>> = {
  answered: 'good',
  unanswered: 'warn',
  unfinished: 'bad',
  answering: 'busy',
};
const outcomes: Readonly<Record<Message['status'], string>> = {
  answered: 'answered',
  unanswered: 'found nothing',
  unfinished: 'broke off',
  answering: 'being answered',
};

const explaining = z.object({ explain: z.string().max(100).optional().catch(undefined) });

/** One conversation. A question's retrieval is explained when it is asked for, because each search counts towards the limit of the plan. */
const threadPage = page(
  { path: '/assistant/:domain/conversations/:threadId', params: onThread, query: explaining },
  async (visit) => {
    const {
      ask,
      base,
      role,
      now,
      params: { domain, threadId: thread },
      query: { explain },
    } = visit;
    const here = `${base}/assistant/${domain}/conversations/${thread}`;
    const [{ messages, createdAt }, site] = await Promise.all([
      ask({ path: `/v1/assistant/${encodeURIComponent(domain)}/threads/${thread}` }, threadAnswerSchema),
      siteAddress(visit, domain),
    ]);
    const explained = messages.find(({ messageId }) => messageId === explain);
    const retrieval = explained === undefined ? undefined : await retrievalOf(visit, domain, explained, site);
    const content = html`${pageHead('Conversation', html`<a href="${base}/assistant/${domain}">${domain}</a>, begun ${time(createdAt, now)}. ${id(thread)}`)}
${refusalOf(visit)}
${messages.map(
  (message) => html`<section class="turn" aria-label="Question"><h2>${message.question}</h2>
<p class="about">${state(tones[message.status], outcomes[message.status])} ${time(message.askedAt, now)}${
    message.rating === undefined ? '' : html`, rated ${message.rating}`
  }${message.comment === undefined ? '' : html`: “${message.comment}”`}</p>
<div class="beside"><div class="prose">${message.answer === '' ? html`<p class="quiet">There is no answer.</p>` : markdownHtml(message.answer, site)}</div>${sourcesHtml(message.sources, site, true)}</div>
${message === explained ? retrieval : html`<p><a href="${here}?explain=${encodeURIComponent(message.messageId)}">Explain what is found for it</a></p>`}</section>`,
)}
${
  hasRole(role, 'editor')
    ? html`<h2>Erase</h2><p class="about">Its questions, answers and ratings are removed from the log and from all lists. Counts of questions and tokens stay. There is no way back.</p>
<form method="post" action="${here}/erase" class="form">${visit.token}${textField('confirm', { label: "Type the conversation's id to erase it", about: thread, required: true })}<button class="button danger">Erase</button></form>`
    : ''
}`;
    return { title: 'Conversation', content };
  },
);

/** The passages that a search finds now for a question, with the reasons for their order. */
async function retrievalOf(
  { ask }: Pick<Visit, 'ask'>,
  domain: string,
  { question }: Message,
  site: string | undefined,
): Promise<SafeHtml> {
  const passages = await ask(
    {
      method: 'POST',
      path: `/discovery/v1/search/${encodeURIComponent(domain)}`,
      body: { query: question.slice(0, longestQuestion), pageSize: 10, explain: true },
    },
    searchAnswerSchema,
  );
  return html`<h3>What is found for it now</h3>${
    passages.length === 0
      ? html`<p class="about">Nothing: no passage of the searched content has enough of its words.</p>`
      : table(
          'Found passages',
          [
            {
              title: 'Passage',
              cell: ({ metadata: { title, heading, url } }) =>
                html`${webLink(heading === '' || heading === title ? title : `${title} › ${heading}`, url, site)}`,
            },
            { title: 'Score', isNumber: true, cell: ({ metadata }) => metadata.score.toFixed(2) },
            {
              title: 'Words of the question in it',
              isNumber: true,
              cell: ({ metadata: { explanation } }) =>
                explanation === undefined ? '' : `${Math.round(explanation.coverage * 100)} %`,
            },
            {
              title: 'Signals',
              cell: ({ metadata: { explanation } }) =>
                Object.entries(explanation?.signals ?? {})
                  .filter(([, value]) => value !== 0)
                  .toSorted(([, one], [, other]) => other - one)
                  .map(([name, value]) => `${name} ${value.toFixed(2)}`)
                  .join(', '),
            },
          ],
          passages,
        )
  }${wordsOf(passages[0])}`;
}

/** The words that were searched for, which are the same for all passages. */
function wordsOf(passage: z.output<typeof searchAnswerSchema>[number] | undefined): SafeHtml {
  const words = passage?.metadata.explanation?.words ?? [];
  if (words.length === 0) return html``;
  return html`<p class="about">Searched for ${words.map(
    ({ word, terms }, at) => html`${at === 0 ? '' : '; '}<strong>${word}</strong> as ${Object.keys(terms).join(', ')}`,
  )}.</p>`;
}

const eraseThread = form(
  {
    path: '/assistant/:domain/conversations/:threadId/erase',
    params: onThread,
    fields: z.object({ confirm: z.string() }),
    page: threadPage,
  },
  async ({ ask, base, params: { domain, threadId: thread } }, { confirm }) => {
    if (confirm.trim() !== thread)
      return {
        to: `${base}/assistant/${domain}/conversations/${thread}`,
        said: 'Nothing was erased: the typed text is not the id of the conversation.',
      };
    await ask(
      { method: 'DELETE', path: `/v1/assistant/${encodeURIComponent(domain)}/threads/${thread}` },
      z.undefined(),
    );
    return { to: `${base}/assistant/${domain}`, said: 'The conversation is erased.' };
  },
);

export const conversationRoutes = [threadPage, eraseThread];
