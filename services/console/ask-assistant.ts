import { EventSourceParserStream } from 'eventsource-parser/stream';
import { z } from 'zod';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import type { Visit } from './page.ts';

/** An answer of the assistant, as far as it has come. */
export type Answer = {
  text: string;
  sources: { url: string; title: string }[];
  threadId: string | undefined;
  /** The sentence of the platform if it could not finish. */
  problem: string | undefined;
  isWhole: boolean;
};

const chunkSchema = z.object({
  type: z.string(),
  delta: z.string().optional(),
  url: z.string().optional(),
  title: z.string().optional(),
  errorText: z.string().optional(),
  threadId: z.string().optional(),
});

const brokenOff = 'The answer broke off. Ask again.';

/** Asks the assistant of a domain, and yields the answer each time that it has grown. Rejects with `PlatformRefusal` if the question is refused. */
export async function* askAssistant(
  { open }: Pick<Visit, 'open'>,
  domain: string,
  question: string,
): AsyncGenerator<Answer> {
  const { body } = await open({
    method: 'POST',
    path: `/discovery/v2/assistant/${encodeURIComponent(domain)}/message`,
    body: { fp: 'console', messages: [{ id: 'question', role: 'user', parts: [{ type: 'text', text: question }] }] },
  });
  const answer: Answer = { text: '', sources: [], threadId: undefined, problem: undefined, isWhole: false };
  try {
    const events = body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
    for await (const { data } of events ?? []) {
      const chunk = chunkSchema.safeParse(jsonIn(data));
      if (!chunk.success) continue;
      const { type, delta = '', url, title, errorText, threadId } = chunk.data;
      if (type === 'text-delta') answer.text += delta;
      else if (type === 'source-url' && url !== undefined) answer.sources.push({ url, title: title ?? url });
      else if (type === 'error') answer.problem = errorText ?? brokenOff;
      else if (type === 'finish') [answer.threadId, answer.isWhole] = [threadId, true];
      else continue;
      yield answer;
    }
  } catch {
    // The connection was lost: the end below says so.
  }
  if (answer.isWhole) return;
  yield { ...answer, problem: answer.problem ?? brokenOff, isWhole: true };
}
