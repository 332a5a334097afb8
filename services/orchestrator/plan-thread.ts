import { parentPort } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { siteModelSchema } from '#shared/docs/project/site-model.ts';
import type { PageKeys } from '#shared/docs/render/segment-keys.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { documentationOf } from './joined-plans.ts';
import { makePlan } from './make-plan.ts';
import type { PlanQuestion, ThreadAnswer, ThreadQuestion } from './plan-maker.ts';

/*
 * The thread of `planMaker`. It remembers the page keys of the newest plans, so that a plan costs little where nearly all pages are those of the plan
 * before. Several plans are made at the same time and take turns, so that a small one does not wait for a large one.
 */

/** Size of the cache: pages of all its plans together, of 300 bytes each. */
const mostPages = 200_000;

const remembered = new LRUCache<string, PageKeys>({
  maxSize: mostPages,
  sizeCalculation: ({ pages }) => pages.size + 1,
});

if (parentPort === null) throw new Error('This file runs as a thread of the orchestrator.');
const port = parentPort;
port.on('message', ({ number, question }: ThreadQuestion) => {
  void answered(question).then((answer) => port.postMessage({ number, answer }));
});

async function answered(question: PlanQuestion): Promise<ThreadAnswer['answer']> {
  const { model: bytes, anew, ...input } = question;
  const model = siteModelIn(bytes);
  if (typeof model === 'string') return { unreadable: model };
  try {
    const documentation = documentationOf(input, input.rendererVersion);
    const known = anew ? undefined : remembered.get(documentation);
    const { plan, planHash, text, keys } = await makePlan({ ...input, model, known });
    remembered.set(documentation, keys);
    const chunks = plan.chunks.map((chunk) => ({
      key: chunk.key,
      pageCount: chunk.kind === 'pages' ? chunk.paths.length : 0,
    }));
    return { planHash, text, pageTotal: plan.pageTotal, chunks };
  } catch (error) {
    return { failed: messageOf(error) };
  }
}

/** The site model in these bytes, or the reason why it cannot be read. */
function siteModelIn(bytes: Uint8Array) {
  try {
    return siteModelSchema.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch (error) {
    return messageOf(error);
  }
}
