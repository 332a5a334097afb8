import { jsonIn } from '#shared/runtime/canonical-json.ts';
import { type ApiClient, ApiFailure } from '../api-client.ts';
import { citationsOf, isSupported } from './check-citations.ts';
import { type AssistantQuestion, type GivenAnswer, pathOf, scoreAnswer } from './score-answer.ts';

export type MeasuredAnswer = {
  query: string;
  answer: string;
  /** The reason why there is no whole answer. It counts as wrong. */
  problem?: string;
  /** Right pages that the documentation does not have, of a question without a right answer. */
  unknownPages: readonly string[];
  /** See `AnswerScore`. */
  named: readonly string[];
  rank: number;
  isRefused: boolean;
  parts: readonly boolean[];
  citations: { all: number; supported: number };
  milliseconds: number;
  tokens: number;
};

/** Asks a question over HTTP, and compares its answer with the right pages and with the pages that it cites. */
export async function measureQuestion(
  client: ApiClient,
  domain: string,
  question: AssistantQuestion,
): Promise<MeasuredAnswer> {
  const started = performance.now();
  const { tokens, problem, ...given } = await askForTokens(client, domain, question.query);
  const milliseconds = performance.now() - started;
  const citations = citationsOf(given.text);
  let supported = 0;
  for (const { page, statement } of citations) {
    const content = await pageContent(client, domain, page);
    if (content !== undefined && isSupported(statement, content)) supported += 1;
  }
  const score = scoreAnswer(question, given);
  const wrong = { rank: 0, isRefused: false, parts: score.parts.map(() => false) };
  const { rank, isRefused, parts } = problem === undefined ? score : wrong;
  const unknownPages: string[] = [];
  for (const page of rank === 0 ? question.parts.flat() : [])
    if ((await pageContent(client, domain, pathOf(page))) === undefined) unknownPages.push(page);
  return {
    ...{ query: question.query, answer: given.text, rank, isRefused, parts, milliseconds, tokens, unknownPages },
    ...{
      named: score.named,
      citations: { all: citations.length, supported },
      ...(problem !== undefined && { problem }),
    },
  };
}

/** Asks by the route whose stream has the number of tokens: lines of a code, a colon and JSON. */
async function askForTokens(
  client: ApiClient,
  domain: string,
  query: string,
): Promise<GivenAnswer & { tokens: number; problem?: string | undefined }> {
  const response = await client.raw(`/discovery/v1/assistant/${encodeURIComponent(domain)}/message`, {
    method: 'POST',
    json: {
      fp: 'anonymous',
      messages: [{ id: 'question', role: 'user', content: query, parts: [{ type: 'text', text: query }] }],
    },
  });
  let text = '';
  let sources: { url: string }[] = [];
  let tokens: number | undefined;
  let problem: string | undefined;
  // The part before a lost connection is no answer.
  const lines = await response.text().catch(() => '');
  for (const line of lines.split('\n').filter((one) => one !== '')) {
    const value = jsonIn(line.slice(2)) as string | object | undefined;
    if (value === undefined) continue;
    if (line.startsWith('0:') && typeof value === 'string') text += value;
    else if (line.startsWith('3:') && typeof value === 'string') problem = value;
    else if (line.startsWith('8:'))
      sources =
        (value as { type: string; sources?: { url: string }[] }[]).find(({ type }) => type === 'sources')?.sources ??
        sources;
    else if (line.startsWith('d:')) {
      const { usage } = value as { usage: { promptTokens: number; completionTokens: number } };
      tokens = usage.promptTokens + usage.completionTokens;
    }
  }
  if (tokens === undefined) problem ??= 'The answer was cut off.';
  return { text, sources, tokens: tokens ?? 0, problem };
}

async function pageContent(client: ApiClient, domain: string, path: string): Promise<string | undefined> {
  try {
    const page = await client.json<{ content: string }>(`/discovery/v1/page/${encodeURIComponent(domain)}`, {
      method: 'POST',
      json: { path },
    });
    return page.content;
  } catch (error) {
    if (error instanceof ApiFailure && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** Shares from 0 to 1; undefined where no question asks for one. */
export type AssistantFigures = {
  questions: number;
  /** Number of questions without a whole answer: the model failed, or the answer was cut. */
  failed: number;
  /** Questions with right pages whose first named page is right, whose first three have one, and which are refused, of all of them. */
  first: number | undefined;
  firstThree: number | undefined;
  refused: number | undefined;
  /** Questions of several parts that are answered in all parts, of all of them. */
  allParts: number | undefined;
  /** Questions that nothing answers and that are refused, of all of them. */
  unanswerableRefused: number | undefined;
  /** Citations whose page exists and has the words of the statement, of all of them. */
  citations: number | undefined;
  p50Milliseconds: number;
  p95Milliseconds: number;
  tokens: number;
};

/** The figures of all answers. Pure. */
export function figuresOf(
  questions: readonly AssistantQuestion[],
  answers: readonly MeasuredAnswer[],
): AssistantFigures {
  const pairs = answers.map((answer, at) => ({ ...answer, right: questions[at]?.parts ?? [] }));
  const answerable = pairs.filter(({ right }) => right.length > 0);
  const share = <T>(all: readonly T[], has: (one: T) => boolean): number | undefined =>
    all.length === 0 ? undefined : all.filter(has).length / all.length;
  const times = answers.map(({ milliseconds }) => milliseconds).toSorted((a, b) => a - b);
  const cited = answers.reduce((sum, { citations }) => sum + citations.all, 0);
  return {
    questions: answers.length,
    failed: answers.filter(({ problem }) => problem !== undefined).length,
    first: share(answerable, ({ rank }) => rank === 1),
    firstThree: share(answerable, ({ rank }) => rank >= 1 && rank <= 3),
    refused: share(answerable, ({ isRefused }) => isRefused),
    allParts: share(
      pairs.filter(({ right }) => right.length > 1),
      ({ parts }) => parts.every(Boolean),
    ),
    unanswerableRefused: share(
      pairs.filter(({ right }) => right.length === 0),
      ({ isRefused }) => isRefused,
    ),
    citations: cited === 0 ? undefined : answers.reduce((sum, { citations }) => sum + citations.supported, 0) / cited,
    p50Milliseconds: times[Math.floor(times.length / 2)] ?? 0,
    p95Milliseconds: times[Math.floor(times.length * 0.95)] ?? 0,
    tokens: answers.reduce((sum, { tokens }) => sum + tokens, 0),
  };
}
