import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { type ApiClient, sseData } from '../api-client.ts';
import { type ServerCommandOptions, withConnection } from '../command-options.ts';
import { connect } from '../connection.ts';
import { createOutput } from '../terminal.ts';

type Options = ServerCommandOptions & { thread?: string };

export function askCommand(program: Command): void {
  withConnection(program.command('ask'))
    .description('ask a question about the documentation of a domain')
    .argument('<domain>', 'slug or host name')
    .argument('<question>', 'in your own words')
    .option('--thread <threadId>', 'go on with an earlier conversation')
    .action(async (domain: string, question: string, options: Options) => {
      const output = createOutput(options.json);
      const live = !options.json && process.stdout.isTTY;
      const answer = await askQuestion(connect(options, 'assistant'), domain, question, {
        ...(options.thread === undefined ? {} : { threadId: options.thread }),
        ...(live ? { onText: (text: string) => void process.stdout.write(text) } : {}),
      });
      const sources = answer.sources.map((source) => `→ ${source.title} (${source.url})`);
      const thread = answer.threadId === undefined ? [] : [`thread ${answer.threadId}`];
      output.result(answer, [live ? '' : answer.text, '', ...sources, ...thread].join('\n'));
    });
}

export type Answer = { text: string; sources: { title: string; url: string }[]; threadId: string | undefined };

type Chunk = { type: string; delta?: string; url?: string; title?: string; threadId?: string; errorText?: string };

/** The model or the server gave up in the middle of an answer. */
class AnswerFailed extends Error {
  override name = 'AnswerFailed';
}

/** Asks one question; `onText` gets the answer's text as it arrives. Rejects when the stream ends without its `finish`. */
export async function askQuestion(
  client: ApiClient,
  domain: string,
  question: string,
  options: { threadId?: string; onText?: (text: string) => void } = {},
): Promise<Answer> {
  const response = await client.raw(`/discovery/v2/assistant/${domain}/message`, {
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
