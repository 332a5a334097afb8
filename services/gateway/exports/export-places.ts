import { setTimeout as delay } from 'node:timers/promises';
import { isActive } from '#shared/aggregates/export-job/export-job.ts';
import type { ExportPlaces } from '#shared/interfaces/read-models.ts';
import { ApiError } from '#shared/http/errors.ts';
import { madeAnew } from '#shared/messaging/made-anew.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { Poison } from '#shared/runtime/failures.ts';
import { dayMs } from '#shared/runtime/time-and-ids.ts';
import { pauseAfter, type RetryPolicy } from '#shared/runtime/retry.ts';
import { askBus } from '../ask-bus.ts';
import type { Principal } from '../auth/authenticate.ts';
import type { GatewayContext } from '../context.ts';

type Place = ExportPlaces['places'][number];

type PlaceContext = Pick<GatewayContext, 'bus' | 'clock' | 'config' | 'logger'>;

/** A request is stored within seconds, so a place without a job in the log by then was left by a gateway that died. */
const requestWithinMs = 60_000;
/** Time limit of jobs whose log this program cannot read. */
const longestJobMs = dayMs;
/** Places that each request checks. It takes one, so checking two keeps the list as short as the number of active jobs. */
const lookedAt = 2;
const retryAfterSeconds = 30;

/** Limit of attempts to write. Each conflict means that another gateway has written. */
const mostAttempts = 20;
const conflictPause: RetryPolicy = { firstPauseMs: 2, longestPauseMs: 200 };

/**
 * Takes a place for an export before its request is stored; each organization has as many as its limit of active exports. The list of places has a
 * guarded write, and the log decides if a place is free, so concurrent requests never exceed the limit. Returns false if the job has a place already.
 * Throws `rate_limited` if none is free.
 */
export async function takePlace(context: PlaceContext, principal: Principal, jobId: string): Promise<boolean> {
  const { organization, organizationPlan } = principal;
  const most = context.config.activeJobs[organizationPlan];
  return await changePlaces(context, organization, async (places) => {
    if (places.some((place) => place.jobId === jobId)) return undefined;
    const isFull = places.length >= most;
    const [old, rest] = isFull ? [places, []] : [places.slice(0, lookedAt), places.slice(lookedAt)];
    const taken = [...(await stillTaken(context, organization, old)), ...rest];
    if (taken.length < most) return [...taken, { jobId, takenAt: context.clock.now().toISOString() }];
    throw new ApiError(
      'rate_limited',
      `${taken.length} exports of this organization are queued or running, and ${most} may be. Wait for one to end, or cancel one.`,
      { retryAfterSeconds },
    );
  });
}

/** Returns the place of a refused request. */
export async function leavePlace(context: PlaceContext, organization: string, jobId: string): Promise<void> {
  await changePlaces(context, organization, async (places) => {
    const left = places.filter((place) => place.jobId !== jobId);
    return left.length === places.length ? undefined : left;
  });
}

/** Applies `change` to the list, and again after a conflict with another gateway; undefined leaves it unchanged. Returns true if it changed. */
async function changePlaces(
  { bus: { exportPlaces }, logger }: PlaceContext,
  organization: string,
  change: (places: readonly Place[]) => Promise<Place[] | undefined>,
): Promise<boolean> {
  for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
    const read = askBus(exportPlaces.get(organization, { fromLeader: true }));
    const { document, revision: expectedRevision } = await madeAnew(read, (error) =>
      logger.error({ err: error }, 'the list of active exports cannot be read; it starts empty'),
    );
    const places = await change(document?.places ?? []);
    if (places === undefined) return false;
    if ((await askBus(exportPlaces.put(organization, { places }, { expectedRevision }))) !== undefined) return true;
    await delay(pauseAfter(attempt, conflictPause) * Math.random());
  }
  throw new ApiError('unavailable', undefined, { retryAfterSeconds: 2 });
}

/** The places whose jobs have not ended according to the log. */
async function stillTaken(
  { bus, clock }: PlaceContext,
  organization: string,
  places: readonly Place[],
): Promise<Place[]> {
  const isTaken = async ({ jobId, takenAt }: Place): Promise<boolean> => {
    // The clock of another gateway may be ahead.
    const ageMs = Math.abs(clock.now().getTime() - Date.parse(takenAt));
    try {
      const last = await askBus(bus.exports.last(exportLogSubject(organization, jobId), { fromLeader: true }));
      return last === undefined ? ageMs < requestWithinMs : isActive(last.commit.data.state.phase);
    } catch (error) {
      if (error instanceof Poison) return ageMs < longestJobMs;
      throw error;
    }
  };
  const taken = await Promise.all(places.map(isTaken));
  return places.filter((_, at) => taken[at]);
}
