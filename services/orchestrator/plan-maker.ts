import { getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { messageOf } from '#shared/runtime/failures.ts';
import type { PlanInput } from './make-plan.ts';

/** The input of `makePlan`, with the bytes of the stored site model. `anew`: earlier plans are not used. */
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
  /** Limit of a site model that can be planned in the memory of this process. */
  mostModelBytes: number;
  /** Rejects with `UnreadableModel`, or with the reason why there is no plan. */
  make(question: PlanQuestion): Promise<PlanAnswer>;
  close(): Promise<void>;
};

const mb = 1024 * 1024;

/** Size of a stored site model above which its plan is a large one: that of about 2,000 pages. */
export const largeModelBytes = 2 * mb;
/** Heap of the thread for small plans, which need a sixth of it. A hostile navigation fills any heap, and a small one is full soon. */
const smallHeapMb = 256;

export type PlanMakerOptions = {
  program?: URL;
  /** Time after which a plan is given up. A small one takes a tenth of a second, and one of 100,000 pages half a minute. */
  within?: { smallMs: number; largeMs: number };
};

/**
 * Makes plans in threads of their own: the plan of a large site takes seconds, and the leader renews its lease and serves other jobs meanwhile. Small and
 * large plans have a thread each, because parts of a large plan cannot be interrupted. A thread starts with its first plan.
 */
export function planMaker({
  program = new URL('./plan-thread.ts', import.meta.url),
  within = { smallMs: 20_000, largeMs: 5 * 60_000 },
}: PlanMakerOptions = {}): PlanMaker {
  const heapMb = Math.floor(getHeapStatistics().heap_size_limit / mb);
  const small = planLane(program, { withinMs: within.smallMs, heapMb: Math.min(heapMb, smallHeapMb) });
  const large = planLane(program, { withinMs: within.largeMs, heapMb });
  return {
    mostModelBytes: mostModelBytesIn(process.constrainedMemory(), getHeapStatistics().heap_size_limit),
    make: (question) => (question.model.length > largeModelBytes ? large : small).make(question),
    async close() {
      await Promise.all([small.close(), large.close()]);
    },
  };
}

/** Memory of an orchestrator without plans. */
const ownBytes = 128 * mb;

/**
 * Limit of a site model for a process with this memory. Everything that is made of a model is in the heap of its thread, whose limit ends that thread
 * alone. Outside of it are the bytes of the model, their copy for the thread, and their text. Pure.
 */
export function mostModelBytesIn(memoryBytes: number, heapBytes: number): number {
  // Systems without a limit report 0, or a number that no machine has.
  if (memoryBytes === 0 || memoryBytes >= 2 ** 50) return Infinity;
  return Math.max(largeModelBytes, Math.floor((memoryBytes - heapBytes - ownBytes) / 3));
}

/**
 * Makes plans in one thread. If it crashes, or one of its plans takes too long, each of its plans is retried in a thread of its own, so that only the
 * plan that is the cause fails.
 */
function planLane(program: URL, limits: ThreadLimits): Pick<PlanMaker, 'make' | 'close'> {
  const threads = new Set<PlanThread>();
  let shared: PlanThread | undefined;
  let alone: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  function open(): PlanThread {
    if (isClosed) throw new ThreadEnded('the orchestrator stops');
    const thread = planThread(program, limits);
    threads.add(thread);
    return thread;
  }

  async function makeAlone(question: PlanQuestion): Promise<PlanAnswer> {
    const own = open();
    try {
      return await own.make(question);
    } finally {
      threads.delete(own);
      await own.end();
    }
  }

  return {
    async make(question) {
      if (shared?.hasEnded() !== false) {
        if (shared !== undefined) threads.delete(shared);
        shared = open();
      }
      try {
        return await shared.make(question);
      } catch (error) {
        if (!(error instanceof ThreadEnded) || isClosed) throw error;
        const turn = () => makeAlone(question);
        const made = alone.then(turn, turn);
        alone = made;
        return await made;
      }
    },
    async close() {
      isClosed = true;
      await Promise.all(Array.from(threads, (thread) => thread.end()));
    },
  };
}

type PlanThread = {
  /** Rejects with `ThreadEnded` if the thread ends first. */
  make(question: PlanQuestion): Promise<PlanAnswer>;
  hasEnded(): boolean;
  end(): Promise<void>;
};

type ThreadLimits = { withinMs: number; heapMb: number };

function planThread(program: URL, { withinMs, heapMb }: ThreadLimits): PlanThread {
  const waiting = new Map<
    number,
    { resolve: (answer: PlanAnswer) => void; reject: (error: Error) => void; deadline: NodeJS.Timeout }
  >();
  const worker = new Worker(program, { resourceLimits: { maxOldGenerationSizeMb: heapMb } });
  let last = 0;
  let isEnded = false;
  worker.unref();
  worker.on('message', ({ number, answer }: ThreadAnswer) => {
    const plan = waiting.get(number);
    waiting.delete(number);
    clearTimeout(plan?.deadline);
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
    // The oldest plan is most likely the cause, so the others are retried first.
    for (const { reject, deadline } of [...waiting.values()].reverse()) {
      clearTimeout(deadline);
      reject(new ThreadEnded(`the thread that makes the plan ended${why}`));
    }
    waiting.clear();
  }

  function giveUp(): void {
    ended(new Error(`the plan took longer than ${withinMs / 1_000} seconds`));
    void worker.terminate();
  }

  return {
    make(question) {
      last += 1;
      const message: ThreadQuestion = { number: last, question };
      return new Promise((resolve, reject) => {
        waiting.set(message.number, { resolve, reject, deadline: setTimeout(giveUp, withinMs).unref() });
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
