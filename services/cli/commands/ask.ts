import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { type ApiClient, sseData } from '../api-client.ts';
import { type ServerCommandOptions, withConnection } from '../command-options.ts';
import { connect } from '../connection.ts';
import { createOutput, type Output } from '../terminal.ts';

type Options = ServerCommandOptions & { thread?: string };

export function askCommand(program: Command): void {
  withConnection(program.command('ask'))
    .description('ask questions about the documentation of a domain')
    .argument('<domain>', 'slug or host name')
    .argument('[question]', 'the question; without it, each line of the input is a question')
    .option('--thread <threadId>', 'continue an earlier conversation')
    .action(async (domain: string, question: string | undefined, options: Options) => {
      if (question?.trim() === '') throw new Error('The question is empty: ask something.');
      const client = connect(options, 'assistant');
      let threadId = options.thread;
      const ask = async (text: string): Promise<void> => {
        const answer = await answerTo(client, domain, text, { threadId, output: createOutput(options.json) });
        threadId = answer.threadId ?? threadId;
      };
      if (question !== undefined) await ask(question);
      if (question === undefined || (!options.json && process.stdin.isTTY && process.stdout.isTTY)) await converse(ask);
    });
}

/** Asks line by line until the input ends, or until an empty line on a terminal. */
async function converse(ask: (question: string) => Promise<void>): Promise<void> {
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
  const lines = createInterface({ input: process.stdin, terminal: false });
  const invite = (): void => {
    if (isTerminal) process.stdout.write('\nAsk another question, or press Enter to stop: ');
  };
  invite();
  for await (const line of lines) {
    const question = line.trim();
    if (question === '' && isTerminal) break;
    if (question !== '') await ask(question);
    invite();
  }
  lines.close();
}

/** Asks and prints the answer, on a terminal while it streams, with its sources as links. */
async function answerTo(
  client: ApiClient,
  domain: string,
  question: string,
  { threadId, output }: { threadId: string | undefined; output: Output },
): Promise<Answer> {
  const live = !output.json && process.stdout.isTTY;
  const answer = await askQuestion(client, domain, question, {
    ...(threadId === undefined ? {} : { threadId }),
    ...(live ? { onText: (text: string) => void process.stdout.write(shownText(text)) } : {}),
  });
  const sources = answer.sources.map((source) => `→ ${sourceText(source, domain, live)}`);
  const thread = answer.threadId === undefined ? [] : [`thread ${answer.threadId}`];
  output.result(answer, [live ? '' : shownText(answer.text), '', ...sources, ...thread].join('\n'));
  return answer;
}

/** A source with its address. The address has the host of the site if it is known, and is a link on a terminal. Pure. */
export function sourceText({ title, url }: Answer['sources'][number], domain: string, asLink: boolean): string {
  const address = domain.includes('.') && url.startsWith('/') ? `https://${domain}${url}` : url;
  const isAbsolute = /^https?:/.test(address);
  const shown = `${plainText(title)} (${plainText(address)})`;
  // OSC 8 is the escape sequence for links in terminals.
  return asLink && isAbsolute ? `\u001b]8;;${encodeURI(decodeURI(address))}\u001b\\${shown}\u001b]8;;\u001b\\` : shown;
}

/** Text of tenants and models must not contain control characters for the terminal. */
const shownText = (text: string): string => text.replaceAll(/[^\P{Cc}\n\t]/gu, '');
const plainText = (text: string): string => text.replaceAll(/\p{Cc}/gu, ' ');

export type Answer = { text: string; sources: { title: string; url: string }[]; threadId: string | undefined };

type Chunk = { type: string; delta?: string; url?: string; title?: string; threadId?: string; errorText?: string };

/** The model or the server failed in the middle of an answer. */
export class AnswerFailed extends Error {
  override name = 'AnswerFailed';
}

/** Asks one question; `onText` gets the answer's text as it arrives. Rejects when the stream ends without its `finish`. */
export async function askQuestion(
  client: ApiClient,
  domain: string,
  question: string,
  options: { threadId?: string; onText?: (text: string) => void } = {},
): Promise<Answer> {
  const response = await client.raw(`/discovery/v2/assistant/${encodeURIComponent(domain)}/message`, {
    method: 'POST',
    json: {
      fp: 'anonymous',
      messages: [{ id: randomBytes(8).toString('hex'), role: 'user', parts: [{ type: 'text', text: question }] }],
      ...(options.threadId === undefined ? {} : { threadId: options.threadId }),
    },
  });
  const answer: Answer = { text: '', sources: [], threadId: undefined };
  let finished = false;
  for await (const data of sseData(response)) {
    if (data === '[DONE]') continue;
    const chunk = JSON.parse(data) as Chunk;
    if (chunk.type === 'text-delta' && chunk.delta !== undefined) {
      answer.text += chunk.delta;
      options.onText?.(chunk.delta);
    } else if (chunk.type === 'source-url' && chunk.url !== undefined) {
      answer.sources.push({ url: chunk.url, title: chunk.title ?? chunk.url });
    } else if (chunk.type === 'error') {
      throw new AnswerFailed(chunk.errorText ?? 'The answer failed.');
    } else if (chunk.type === 'finish') {
      finished = true;
      answer.threadId = chunk.threadId;
    }
  }
  if (!finished) throw new AnswerFailed('The answer was cut off. Ask again.');
  return answer;
}
