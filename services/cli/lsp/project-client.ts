import { Worker } from 'node:worker_threads';
import type { ProjectAnswers, ProjectOutline, ProjectQuestion, ThreadMessage } from './project-questions.ts';

/** The thread of a project that is started again when it ends or hangs. */
export type ProjectClient = {
  /** Rejects with `ProjectLost` if the thread ended before it answered. */
  ask<K extends ProjectQuestion['kind']>(question: Extract<ProjectQuestion, { kind: K }>): Promise<ProjectAnswers[K]>;
  /** False if the next question starts a thread, which knows no open documents. */
  isRunning(): boolean;
  close(): void;
};

/** The thread ended before it answered; the next question starts another one. */
export class ProjectLost extends Error {
  override name = 'ProjectLost';
}

/** Time without a sign of life after which a rendering is given up. A page takes milliseconds. */
const usualSilenceMs = 10_000;
const memoryLimitMb = 1_024;

export type ClientOptions = {
  folder: string;
  /** Called when a new thread has read the project, which then knows no open documents. */
  onRead: (outline: ProjectOutline) => void;
  silenceMs?: number;
};

/** Opens a project in a thread of its own, which starts with the first question. */
export function projectClient({ folder, onRead, silenceMs = usualSilenceMs }: ClientOptions): ProjectClient {
  type Waiting = { resolve: (answer: never) => void; reject: (error: Error) => void };
  let thread: Worker | undefined;
  let ids = 0;
  const waiting = new Map<number, Waiting>();
  /** Digests of sources whose rendering did not end. */
  const skipped = new Set<string>();
  let rendering: string | undefined;
  let timer: NodeJS.Timeout | undefined;

  function lose(why: string): void {
    clearTimeout(timer);
    if (rendering !== undefined) skipped.add(rendering);
    rendering = undefined;
    const ended = thread;
    thread = undefined;
    ended?.removeAllListeners();
    // An error of a thread without a listener would end this process.
    ended?.on('error', () => undefined);
    void ended?.terminate();
    for (const { reject } of waiting.values()) reject(new ProjectLost(why));
    waiting.clear();
  }

  /** Starts the time limit of a rendering. Reading a project has none, because it may take long and always ends. */
  function watch(): void {
    clearTimeout(timer);
    if (rendering !== undefined) timer = setTimeout(() => lose('A page takes too long to be rendered.'), silenceMs);
  }

  function start(): Worker {
    const started = new Worker(new URL('./project-thread.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: memoryLimitMb },
      // Standard output is for the protocol alone.
      stdout: true,
    });
    started.on('message', (message: ThreadMessage) => {
      if (message.kind === 'alive') {
        rendering = message.rendering?.digest;
        return watch();
      }
      const one = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.kind === 'answered') one?.resolve(message.answer as never);
      else one?.reject(new Error(message.why));
    });
    started.on('error', (error) => lose(`The thread of the project ended: ${error.message}`));
    started.on('exit', () => lose('The thread of the project ended.'));
    thread = started;
    send<'open'>({ kind: 'open', folder, skipped: [...skipped] }).then(onRead, () => undefined);
    return started;
  }

  function send<K extends ProjectQuestion['kind']>(question: ProjectQuestion): Promise<ProjectAnswers[K]> {
    ids += 1;
    const id = ids;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only windows have an origin
      thread?.postMessage({ id, question });
    });
  }

  return {
    ask(question) {
      if (thread === undefined) start();
      return send(question);
    },
    isRunning: () => thread !== undefined,
    close: () => lose('The project was closed.'),
  };
}
