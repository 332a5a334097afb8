import { Argument, type Command } from 'commander';
import { type ProjectionName, projectionNames, type ProjectionPointer } from '#shared/interfaces/read-models.ts';
import type { BusOf, BusParts } from '#shared/messaging/bus.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { withBus } from '../bus-connection.ts';
import { type BusCommandOptions, withBusOptions } from '../command-options.ts';
import { createOutput } from '../terminal.ts';

export function projectionsCommand(program: Command): void {
  const projections = program.command('projections').description('read models: which generation is read, and rebuilds');
  withBusOptions(projections.command('show'))
    .description('show which generation of each read model is read, and its last rebuild')
    .action((options: BusCommandOptions) => withBus('operator', options, (bus) => show(bus, options)));
  withBusOptions(projections.command('rebuild'))
    .description('fill a new generation of a read model from the log, and then switch to it')
    .addArgument(new Argument('[projection]', 'name of a read model; all by default').choices(projectionNames))
    .action((projection: ProjectionName | undefined, options: BusCommandOptions) =>
      withBus('operator', options, (bus) =>
        rebuild(bus, projection === undefined ? projectionNames : [projection], options),
      ),
    );
  withBusOptions(projections.command('call-off'))
    .description('call off a rebuild: its new generation is discarded, and the live one stays')
    .addArgument(new Argument('[projection]', 'name of a read model; all by default').choices(projectionNames))
    .action((projection: ProjectionName | undefined, options: BusCommandOptions) =>
      withBus('operator', options, (bus) =>
        callOff(bus, projection === undefined ? projectionNames : [projection], options),
      ),
    );
}

async function show(bus: BusOf<'operator'>, options: BusCommandOptions): Promise<void> {
  const pointers = await Promise.all(
    projectionNames.map(async (projection) => {
      const stored = await bus.projections.pointers.get(projection);
      return { projection, ...(stored?.document ?? { live: 'blue' as const }) };
    }),
  );
  const lines = pointers.map(({ projection, live, rebuild: running, lastRebuild }) => {
    const last = lastRebuild === undefined ? 'never rebuilt' : `last rebuilt ${lastRebuild.finishedAt}`;
    return `${projection.padEnd(10)} ${live.padEnd(6)} ${running === undefined ? last : `rebuild running since ${running.startedAt}`}`;
  });
  createOutput(options.json).result({ projections: pointers }, lines.join('\n'));
}

async function rebuild(
  bus: BusOf<'operator'>,
  names: readonly ProjectionName[],
  options: BusCommandOptions,
): Promise<void> {
  const output = createOutput(options.json);
  const rebuilt: Rebuilt[] = [];
  for (const name of names) {
    output.note(`${name}: rebuilding from the log …`);
    const one = await rebuildProjection(bus, name, { id: `rb_${randomBase62(22)}`, now: new Date() });
    rebuilt.push(one);
  }
  output.result({ rebuilt }, rebuilt.map(rebuiltLine).join('\n'));
}

async function callOff(
  bus: BusOf<'operator'>,
  names: readonly ProjectionName[],
  options: BusCommandOptions,
): Promise<void> {
  const calledOff = await Promise.all(
    names.map(async (projection) => {
      const request = { id: `rb_${randomBase62(22)}`, now: new Date() };
      return { projection, ...(await callOffRebuild(bus, projection, request)) };
    }),
  );
  const lines = calledOff.map(
    ({ projection, rebuildId }) =>
      `${projection}: ${rebuildId === undefined ? 'no rebuild was running' : 'called off'}`,
  );
  createOutput(options.json).result({ calledOff }, lines.join('\n'));
}

function rebuiltLine(one: Rebuilt): string {
  const seconds = (Date.parse(one.finishedAt) - Date.parse(one.startedAt)) / 1000;
  const same =
    one.differentCount === 0
      ? 'all the same as before'
      : `${one.differentCount} not the same as before: ${one.different.join(', ')}${one.differentCount > one.different.length ? ', …' : ''}`;
  const left = (one.setAside ?? []).map(({ key, reason }) => `\n  left out: ${key}: ${reason}`).join('');
  const more = (one.setAsideCount ?? 0) - (one.setAside ?? []).length;
  return `${one.projection}: ${one.documentCount} documents in ${seconds.toFixed(1)} s, ${same}; the ${one.live} generation is read now${left}${more > 0 ? `\n  … and ${more} more` : ''}`;
}

export type Rebuilt = { projection: ProjectionName; live: string } & NonNullable<ProjectionPointer['lastRebuild']>;

/** Thrown if no projector took the request, or the rebuild did not finish; the message says what to do. */
class NotRebuilt extends Error {
  override name = 'NotRebuilt';
}

const takenWithinMs = 15_000;

type Request = { id: string; now: Date };

/**
 * Requests a rebuild and waits until the new generation is live. Throws `NotRebuilt` when no projector takes the request, and when the rebuild is
 * called off or replaced by another.
 */
export async function rebuildProjection(
  { projections: { pointers, requests } }: Pick<BusParts, 'projections'>,
  projection: ProjectionName,
  request: Request,
  signal: AbortSignal = new AbortController().signal,
): Promise<Rebuilt> {
  await requests.put(projection, { id: request.id, askedAt: request.now.toISOString() });
  let isTaken = false;
  return whenPointer(pointers, projection, signal, ({ live, rebuild, lastRebuild, calledOff }, taken) => {
    if (rebuild?.id === request.id) {
      isTaken = true;
      taken();
    } else if (isTaken && lastRebuild?.id !== request.id) {
      const how = calledOff?.rebuildId === request.id ? 'was called off' : 'was replaced by another one';
      throw new NotRebuilt(`The rebuild of "${projection}" ${how}. The earlier generation stays live.`);
    }
    return lastRebuild?.id === request.id ? { projection, live, ...lastRebuild } : undefined;
  });
}

/**
 * Calls off the rebuild of a projection, waits until it has ended, and returns it if one was running. Throws `NotRebuilt` when no projector takes the
 * request.
 */
export async function callOffRebuild(
  { projections: { pointers, requests } }: Pick<BusParts, 'projections'>,
  projection: ProjectionName,
  { id, now }: Request,
  signal: AbortSignal = new AbortController().signal,
): Promise<{ rebuildId?: string | undefined }> {
  await requests.put(projection, { id, askedAt: now.toISOString(), callOff: true });
  return whenPointer(pointers, projection, signal, ({ calledOff }) =>
    calledOff?.id === id ? { rebuildId: calledOff.rebuildId } : undefined,
  );
}

/**
 * Waits for the first result of `look` at a state of the pointer. A projector must take the request within 15 seconds: then `look` returns a result,
 * or calls `taken` and may take longer. Throws `NotRebuilt`.
 */
async function whenPointer<T>(
  pointers: BusParts['projections']['pointers'],
  projection: ProjectionName,
  signal: AbortSignal,
  look: (pointer: ProjectionPointer, taken: () => void) => T | undefined,
): Promise<T> {
  const notTaken = new AbortController();
  const timer = setTimeout(() => notTaken.abort(), takenWithinMs);
  try {
    for await (const change of pointers.watch(projection, AbortSignal.any([signal, notTaken.signal]))) {
      if (change.kind !== 'put') continue;
      const found = look(change.document, () => clearTimeout(timer));
      if (found !== undefined) return found;
    }
  } finally {
    clearTimeout(timer);
  }
  signal.throwIfAborted();
  throw new NotRebuilt(
    `No projector took the request for "${projection}" within ${takenWithinMs / 1000} s. Check that one is running. The request is kept: the next projector that starts takes it.`,
  );
}
