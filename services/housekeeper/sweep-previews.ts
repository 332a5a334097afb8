import { setTimeout as delay } from 'node:timers/promises';
import type { z } from 'zod';
import type {
  Housekeeping,
  housekeepingQuerySchema,
  RemovableOfOrganization,
} from '#shared/interfaces/http/installation.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import type { Clock } from '#shared/runtime/time-and-ids.ts';
import type { SweepPreview } from './preview-sweep.ts';
import type { SweptObjects } from './sweep-objects.ts';

/** A count reads the list of all objects, so a new one begins only when the last one is older. */
const freshMs = 60_000;
/** A small store is counted within this time; a larger one is counted while the page waits no longer. */
const waitMs = 1_000;

export type SweepPreviews = {
  /** The last count, page by page. Begins a new one if there is none, or if it is old. Never rejects. */
  read(query: z.output<typeof housekeepingQuerySchema>): Promise<Housekeeping>;
  /** Resolves when no count runs. */
  ended(): Promise<void>;
};

type Counted = Omit<Housekeeping, 'countingSince' | 'nextCursor'>;

/** Counts in the background the objects that the housekeeper would remove, until `stopping` aborts. One count runs at a time. */
export function sweepPreviews(
  preview: (signal: AbortSignal) => Promise<SweepPreview>,
  clock: Clock,
  stopping: AbortSignal,
): SweepPreviews {
  let last: Counted = { organizations: [], notJudged: [] };
  let running: { since: string; done: Promise<void> } | undefined;

  async function count(): Promise<void> {
    try {
      const found = countedOf(await preview(stopping));
      last = { ...found, countedAt: clock.now().toISOString() };
    } catch (error) {
      // The earlier count stays, with its time.
      if (!stopping.aborted) last = { ...last, problem: messageOf(error) };
    }
    running = undefined;
  }

  const isOld = ({ countedAt }: Counted): boolean => {
    const age = countedAt === undefined ? Infinity : clock.now().getTime() - Date.parse(countedAt);
    // An age below 0 shows that the clock was set back.
    return age < 0 || age >= freshMs;
  };

  return {
    async read({ limit, cursor = '' }) {
      if (running === undefined && isOld(last) && !stopping.aborted)
        running = { since: clock.now().toISOString(), done: count() };
      await Promise.race([running?.done, delay(waitMs)]);
      const after = last.organizations.filter(({ organization }) => organization > cursor);
      const organizations = after.slice(0, limit);
      const end = organizations.at(-1)?.organization;
      return {
        ...last,
        ...(running !== undefined && { countingSince: running.since }),
        organizations,
        ...(end !== undefined && after.length > limit && { nextCursor: end }),
      };
    },
    ended: async () => await running?.done,
  };
}

/** The figures of a preview, by organization and in total. Pure. */
export function countedOf({ objects, contents, notJudged }: SweepPreview): Counted {
  const ended = Map.groupBy(contents, ({ organization }) => organization);
  const names = [...new Set([...objects.keys(), ...ended.keys()])].toSorted();
  const organizations = names.map(
    (organization): RemovableOfOrganization => ({
      organization,
      objects: kindsOf(objects.get(organization) ?? {}),
      contents: ended.get(organization)?.length ?? 0,
    }),
  );
  const sums: SweptObjects = {};
  for (const swept of objects.values()) {
    for (const [kind, each] of Object.entries(swept) as [keyof SweptObjects, { objects: number; bytes: number }][]) {
      const before = sums[kind] ?? { objects: 0, bytes: 0 };
      sums[kind] = { objects: before.objects + each.objects, bytes: before.bytes + each.bytes };
    }
  }
  return { totals: { objects: kindsOf(sums), contents: contents.length }, organizations, notJudged };
}

const kindsOf = (swept: SweptObjects): RemovableOfOrganization['objects'] =>
  Object.entries(swept).map(([kind, counted]) => ({ kind, ...counted }));
