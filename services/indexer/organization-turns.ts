import { Unavailable } from '#shared/runtime/failures.ts';

/** Number of organizations whose contents are indexed at the same time. Each takes the memory of one build. */
export const organizationsAtOnce = 3;

/** Runs the work of several organizations concurrently, and the work of one organization one piece after the other. */
export type OrganizationTurns = <T>(organization: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

/** Thrown when an organization already has the maximum of work here. More would take the places of others. */
export class TooMuchWaits extends Unavailable {
  override name = 'TooMuchWaits';
}

/**
 * At most `atOnce` organizations are worked for at a time. The next place goes to the organization that has waited longest, so an organization whose
 * work takes hours delays no other as long as there is a second place. Rejects with `Unavailable` if `mostOfOne` pieces of work of the organization
 * are here already, and with the reason of `signal` while it waits.
 */
export function organizationTurns(atOnce: number, mostOfOne: number): OrganizationTurns {
  const pieces = new Map<string, number>();
  const busy = new Set<string>();
  const waiting: { organization: string; begin: () => void }[] = [];

  function beginNext(): void {
    while (busy.size < atOnce) {
      const at = waiting.findIndex(({ organization }) => !busy.has(organization));
      const [next] = at === -1 ? [] : waiting.splice(at, 1);
      if (next === undefined) return;
      busy.add(next.organization);
      next.begin();
    }
  }

  function turn(organization: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        waiting.splice(waiting.indexOf(entry), 1);
        reject(signal.reason as Error);
      };
      const entry = {
        organization,
        begin: () => {
          signal.removeEventListener('abort', giveUp);
          resolve();
        },
      };
      waiting.push(entry);
      signal.addEventListener('abort', giveUp, { once: true });
      beginNext();
    });
  }

  return async (organization, signal, work) => {
    const here = pieces.get(organization) ?? 0;
    if (here >= mostOfOne) throw new TooMuchWaits(`${here} other contents of ${organization} are being indexed`);
    pieces.set(organization, here + 1);
    try {
      signal.throwIfAborted();
      await turn(organization, signal);
      try {
        return await work();
      } finally {
        busy.delete(organization);
        beginNext();
      }
    } finally {
      const left = (pieces.get(organization) ?? 1) - 1;
      if (left > 0) pieces.set(organization, left);
      else pieces.delete(organization);
    }
  };
}
