import module from 'node:module';
import { join } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { messageOf } from '#shared/runtime/failures.ts';
import { cacheFolder } from '#infra/setup/server-locations.mjs';
import type { ProjectQuestion, ThreadMessage } from './project-questions.ts';

/*
 * The thread that reads and checks one project for the language server. It is a thread so that the server answers while a project is read, and so
 * that a page whose rendering does not end can be stopped.
 */

module.enableCompileCache(join(cacheFolder(), 'compiled'));
const port = parentPort;
if (port === null) throw new Error('project-thread.ts is run as a thread');
const say = (message: ThreadMessage): void => port.postMessage(message);
const { projectEngine } = await import('./project-engine.ts');
const answer = projectEngine((rendering) => say({ kind: 'alive', ...(rendering && { rendering }) }));
let last: Promise<unknown> = Promise.resolve();

async function answerNow(id: number, question: ProjectQuestion): Promise<void> {
  try {
    say({ kind: 'answered', id, answer: await answer(question) });
  } catch (error) {
    say({ kind: 'failed', id, why: messageOf(error) });
  }
}

port.on('message', ({ id, question }: { id: number; question: ProjectQuestion }) => {
  last = last.then(() => answerNow(id, question));
});
