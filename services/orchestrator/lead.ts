import type { OrchestratorContext } from './context.ts';
import { jobDesk } from './job-desk.ts';
import { jobPlanner } from './plan-jobs.ts';
import { readFacts } from './read-facts.ts';
import { readRequests } from './read-requests.ts';
import { takeOver } from './take-over.ts';
import { taskDispatcher } from './task-dispatcher.ts';
import { watchTime } from './watch-time.ts';

/** The work of the one orchestrator that leads, until `signal` aborts. Rejects when a part of it cannot go on; whoever leads next takes over. */
export async function lead(context: OrchestratorContext, signal: AbortSignal): Promise<void> {
  const part = new AbortController();
  const working = AbortSignal.any([signal, part.signal]);
  const dispatcher = taskDispatcher(context, () => desk.jobs);
  const planner = jobPlanner(context, () => desk, working);
  const desk = jobDesk(
    context,
    {
      changed: (job) => {
        planner.changed(job);
        dispatcher.changed(job);
        void dispatcher.handOut();
      },
      ended: (job) => {
        planner.ended(job);
        dispatcher.ended(job);
      },
    },
    working,
  );
  try {
    await takeOver(context, desk, working);
    const parts = [
      readRequests(context, desk, working),
      readFacts(context, desk, dispatcher, working),
      watchTime(context, desk, dispatcher, working),
    ];
    // When one ends the others have no use without it.
    for (const running of parts) running.catch(() => {}).finally(() => part.abort());
    const outcomes = await Promise.allSettled(parts);
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined && !signal.aborted) throw failed.reason;
  } finally {
    part.abort();
    await planner.settled();
    await dispatcher.settled();
    await Promise.all([...desk.jobs.values()].map(({ lastDecision }) => lastDecision));
  }
}
