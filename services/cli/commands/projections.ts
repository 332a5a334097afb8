import { Argument, type Command } from 'commander';
import { type ProjectionName, projectionNames, type ProjectionPointer } from '#shared/contracts/read-models.ts';
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
    .description('fill a new generation of a read model from the log, and then read that one')
    .addArgument(new Argument('[projection]', 'all of them by default').choices(projectionNames))
    .action((projection: ProjectionName | undefined, options: BusCommandOptions) =>
      withBus('operator', options, (bus) =>
        rebuild(bus, projection === undefined ? projectionNames : [projection], options),
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
    return `${projection.padEnd(10)} ${live.padEnd(6)} ${running === undefined ? last : `being rebuilt since ${running.startedAt}`}`;
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

function rebuiltLine(one: Rebuilt): string {
  const seconds = (Date.parse(one.finishedAt) - Date.parse(one.startedAt)) / 1000;
  const same =
    one.differentCount === 0
      ? 'all the same as before'
      : `${one.differentCount} not the same as before: ${one.different.join(', ')}${one.differentCount > one.different.length ? ', …' : ''}`;
  return `${one.projection}: ${one.documentCount} documents in ${seconds.toFixed(1)} s, ${same}; the ${one.live} generation is read now`;
}

export type Rebuilt = { projection: ProjectionName; live: string } & NonNullable<ProjectionPointer['lastRebuild']>;

/** No projector took the request; the message says what to look at. */
class NotRebuilt extends Error {
  override name = 'NotRebuilt';
}

const takenWithinMs = 15_000;

/** Requests a rebuild and waits until the new generation is read. Throws `NotRebuilt` when no projector takes the request. */
export async function rebuildProjection(
  bus: Pick<BusParts, 'projections'>,
  projection: ProjectionName,
  request: { id: string; now: Date },
  signal: AbortSignal = new AbortController().signal,
): Promise<Rebuilt> {
  const { pointers, requests } = bus.projections;
  await requests.put(projection, { id: request.id, askedAt: request.now.toISOString() });
  const notTaken = new AbortController();
  const timer = setTimeout(() => notTaken.abort(), takenWithinMs);
  try {
    for await (const change of pointers.watch(projection, AbortSignal.any([signal, notTaken.signal]))) {
      if (change.kind !== 'put') continue;
      const { live, rebuild, lastRebuild } = change.document;
      if (rebuild?.id === request.id) clearTimeout(timer);
      if (lastRebuild?.id === request.id) return { projection, live, ...lastRebuild };
    }
  } finally {
    clearTimeout(timer);
  }
  signal.throwIfAborted();
  throw new NotRebuilt(
    `No projector began to rebuild "${projection}" within ${takenWithinMs / 1000} s. Is one running? The request is kept: the next projector that starts takes it.`,
  );
}
