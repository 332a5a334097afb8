import { Worker } from 'node:worker_threads';
import { messageOf } from '#shared/runtime/failures.ts';
import type { PlanInput } from './make-plan.ts';

/** The input of `makePlan`, with the bytes of the stored site model. `anew`: nothing is taken from earlier plans. */
export type PlanQuestion = Omit<PlanInput, 'model' | 'known'> & { model: Uint8Array; anew: boolean };

/** A plan with its text to be stored, and the key and number of pages of each chunk. */
export type PlanAnswer = {
  planHash: string;
  text: string;
  pageTotal: number;
  chunks: { key: string; pageCount: number }[];
};

/** Messages to and from the thread. `unreadable` is the reason why the site model cannot be read, `failed` why there is no plan. */
export type ThreadQuestion = { number: number; question: PlanQuestion };
export type ThreadAnswer = { number: number; answer: PlanAnswer | { unreadable: string } | { failed: string } };

/** The site model cannot be read by this version. */
export class UnreadableModel extends Error {
  override name = 'UnreadableModel';
}

class ThreadEnded extends Error {
  override name = 'ThreadEnded';
}

export type PlanMaker = {
  /** Rejects with `UnreadableModel`, or with the reason why there is no plan. */
  make(question: PlanQuestion): Promise<PlanAnswer>;
  close(): Promise<void>;
};

/**
 * Makes plans in a thread of their own: the plan of a large site takes seconds, and the leader renews its lease and serves other jobs meanwhile. The
 * thread starts with the first plan. If it crashes, each of its plans is made again in a thread for this plan alone, so that only the one that is too
 * large fails.
 */
export function planMaker(program = new URL('./plan-thread.ts', import.meta.url)): PlanMaker {
  let thread: PlanThread | undefined;
  let alone: Promise<unknown> = Promise.resolve();

  async function makeAlone(question: PlanQuestion): Promise<PlanAnswer> {
    const own = planThread(program);
    try {
      return await own.make(question);
    } finally {
      await own.end();
    }
  }

  return {
    async make(question) {
      if (thread?.hasEnded() !== false) thread = planThread(program);
      try {
        return await thread.make(question);
      } catch (error) {
        if (!(error instanceof ThreadEnded)) throw error;
        const turn = () => makeAlone(question);
        const made = alone.then(turn, turn);
        alone = made;
        return await made;
      }
    },
    async close() {
      await thread?.end();
    },
  };
}

type PlanThread = {
  /** Rejects with `ThreadEnded` if the thread ends first. */
  make(question: PlanQuestion): Promise<PlanAnswer>;
  hasEnded(): boolean;
  end(): Promise<void>;
};

function planThread(program: URL): PlanThread {
  const waiting = new Map<number, { resolve: (answer: PlanAnswer) => void; reject: (error: Error) => void }>();
  const worker = new Worker(program);
  let last = 0;
  let isEnded = false;
  worker.unref();
  worker.on('message', ({ number, answer }: ThreadAnswer) => {
    const plan = waiting.get(number);
    waiting.delete(number);
    if (waiting.size === 0) worker.unref();
    if ('planHash' in answer) plan?.resolve(answer);
    else if ('unreadable' in answer) plan?.reject(new UnreadableModel(answer.unreadable));
    else plan?.reject(new Error(answer.failed));
  });
  worker.on('error', ended);
  worker.on('exit', () => ended(undefined));

  function ended(cause: unknown): void {
    isEnded = true;
    const why = cause === undefined ? '' : `: ${messageOf(cause)}`;
    for (const { reject } of waiting.values()) reject(new ThreadEnded(`the thread that makes the plan ended${why}`));
    waiting.clear();
  }

  return {
    make(question) {
      last += 1;
      const message: ThreadQuestion = { number: last, question };
      return new Promise((resolve, reject) => {
        waiting.set(message.number, { resolve, reject });
        // The process stays alive while a plan is being made.
        worker.ref();
        worker.postMessage(message, []);
      });
    },
    hasEnded: () => isEnded,
    async end() {
      await worker.terminate();
    },
  };
}
