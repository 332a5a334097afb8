import module from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import type { ThreadData, ThreadQuestion } from './thread-checker.ts';

/*
 * The thread that checks a small project. It is a thread and not a child process, because a process takes longer to start than a small project takes
 * to be checked. The command watches it, and checks the project in child processes if it hangs or ends.
 */

module.enableCompileCache((workerData as ThreadData).compiled);
const port = parentPort;
if (port === null) throw new Error('check-thread.ts is run as a thread');
const { threadChecker } = await import('./thread-checker.ts');
const answer = threadChecker(port);
port.on('message', (question: ThreadQuestion) => void answer(question));
