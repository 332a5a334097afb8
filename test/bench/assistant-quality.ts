/**
 * Measures the quality of extractive answers to questions of newcomers (`newcomer-questions.jsonl`), and to questions without an answer
 * (`unanswerable-questions.jsonl`), and to questions of several parts (`several-part-questions.jsonl`). Prints how many answers link to a right page first,
 * or at all, which questions were refused, and how many are answered in all parts. `SHOW=1` prints
 * each answer. `node test/bench/assistant-quality.ts [folder of the corpus]`; by default `../shared/corpus` beside the project. Missing sites are
 * left out. With `BINDERY_EMBEDDING_BASE_URL` and `BINDERY_EMBEDDING_MODEL` passages and questions get vectors of that server.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { answerPrompt } from '#services/assistant/answer-prompt.ts';
import { extractAnswer } from '#services/assistant/extract-answer.ts';
import { findPassages } from '#services/assistant/find-passages.ts';
import { readPromptPassages, saysNotInDocumentation, sourcesOf } from '#services/assistant/prompt-passages.ts';
import { type GivenAnswer, scoreAnswer } from '#services/cli/assistant-bench/score-answer.ts';
import { type CutRequest, readAndCut } from '#services/indexer/read-page.ts';
import { readSitePages } from '#services/indexer/site-pages.ts';
import { partsOf } from '#shared/docs/project/site-model-parts.ts';
import { callerSchema } from '#shared/interfaces/internal/caller.ts';
import { embedderSettings, openEmbedder } from '#shared/embedding/open-embedder.ts';
import { loadConfig } from '#shared/runtime/config.ts';
import type { SearchScope } from '#shared/search/search-index.ts';
import { localProject, ownDocumentation } from '../support/docs-projects.ts';
import { publishedProject } from '../support/published-project.ts';
import { openTestIndex } from './open-test-index.ts';
import { withVectors } from './with-vectors.ts';
import { localChildren } from '../support/local-children.ts';

type Question = { site: string; query: string; pages?: string[]; parts?: string[][] };

const corpus = process.argv[2] ?? join(import.meta.dirname, '../../../shared/corpus');
const folderOf = (site: string): string => (site === 'demo' ? ownDocumentation : join(corpus, site));
const questionsIn = (file: string): Question[] =>
  readFileSync(join(import.meta.dirname, file), 'utf8')
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Question]))
    .filter(({ site }) => existsSync(folderOf(site)));

const caller = callerSchema.parse({
  requestId: 'req_1',
  organization: 'bench',
  organizationPlan: 'enterprise',
  domain: 'docs',
  groupTrust: 'claimed',
  trustedGroups: 'named',
  actor: { kind: 'service', id: 'bench' },
  address: '127.0.0.1',
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
});
const scopeOf = (site: string): SearchScope => ({ organization: 'bench', domain: site, contentVersion: 'whole' });

const { index: byWords, end } = await openTestIndex('sqlite');
const embedder = await openEmbedder(loadConfig(embedderSettings, process.env));
const index = embedder === undefined ? byWords : withVectors(byWords, embedder);
try {
  const answerable = questionsIn('newcomer-questions.jsonl');
  const unanswerable = questionsIn('unanswerable-questions.jsonl');
  const several = questionsIn(process.env.PARTS ?? 'several-part-questions.jsonl');
  for (const site of new Set([...answerable, ...unanswerable, ...several].map((question) => question.site)))
    await fill(site);
  const counts = { first: 0, firstThree: 0, refused: 0 };
  for (const { site, query, pages = [] } of answerable) {
    const answer = await ask(site, query);
    const { rank, isRefused } = scoreAnswer({ query, parts: [pages] }, answer);
    if (rank === 1) counts.first += 1;
    if (rank >= 1 && rank <= 3) counts.firstThree += 1;
    if (isRefused) counts.refused += 1;
    show(`${isRefused ? 'REFUSED' : `rank ${rank}`} · ${site} · ${query} → ${pages[0]}`, answer.text);
  }
  let answered = 0;
  for (const { site, query } of unanswerable) {
    const answer = await ask(site, query);
    const { isRefused } = scoreAnswer({ query, parts: [] }, answer);
    if (!isRefused) answered += 1;
    show(`${isRefused ? 'refused' : 'ANSWERED'} · ${site} · ${query}`, answer.text);
  }
  let whole = 0;
  for (const { site, query, parts = [] } of several) {
    const answer = await ask(site, query);
    const score = scoreAnswer({ query, parts }, answer);
    if (score.parts.every(Boolean)) whole += 1;
    show(`${score.parts.map((right) => (right ? 'right' : 'WRONG')).join(', ')} · ${site} · ${query}`, answer.text);
  }
  console.log(
    `of ${answerable.length} questions of newcomers ${counts.first} are answered from a right page first, ${counts.firstThree} within three, ${counts.refused} are refused;` +
      ` of ${unanswerable.length} that nothing answers ${answered} are answered;` +
      ` of ${several.length} of several parts ${whole} are answered in all parts`,
  );
} finally {
  await end();
}

function show(title: string, answer: string): void {
  if (process.env.SHOW === '1') console.log(`\n━━ ${title}\n\n${answer}\n`);
}

/** Answers a question as the assistant does, by search and prompt. */
async function ask(site: string, query: string): Promise<GivenAnswer> {
  const turns = [{ role: 'user' as const, text: query }];
  const filter = site === 'mintlify-docs' ? { language: 'en' } : undefined;
  const { passages, parts } = await findPassages({ searchIndex: index }, caller, scopeOf(site), { filter }, turns);
  const { messages } = answerPrompt(turns, parts, { items: [], currentPath: undefined });
  const content = messages.at(-1)?.content;
  const { parts: read, question } = readPromptPassages(typeof content === 'string' ? content : '');
  const text = extractAnswer(question, read);
  if (process.env.SHOW === '1') console.log(passages.map((p) => `   ${p.relevance.toFixed(2)} ${p.url}`).join('\n'));
  return { text, sources: saysNotInDocumentation(text) ? [] : sourcesOf(text, passages) };
}

/** Indexes a site as publication and indexer do. */
async function fill(site: string): Promise<void> {
  const { model, read } = await publishedProject(await localProject(folderOf(site)));
  const scope = scopeOf(site);
  const content = {
    ...partsOf(model),
    source: read,
    text: async (file: Parameters<typeof read>[0]) => String(Buffer.from(await read(file))),
  };
  const pool = localChildren((request) => readAndCut(request as CutRequest));
  const context = { pool, slots: 1, logger: pino({ level: 'silent' }) };
  const build = await index.startBuild(scope);
  for await (const some of readSitePages(context, scope, content, () => true, new AbortController().signal))
    await build.add(some);
  await build.commit();
}
