import { join } from 'node:path';
import type { Command } from 'commander';
import type { ContentId } from '#services/housekeeper/context.ts';
import type { SweptObjects } from '#services/housekeeper/sweep-objects.ts';
import { busAccess, withinDeadline } from './connection.ts';
import { createOutput, textTable } from './terminal.ts';

type Options = { data?: string; json: boolean };

export type Preview = { organization: string; objects: SweptObjects; contents: ContentId[] };

export function housekeepingCommand(program: Command): void {
  const housekeeping = program.command('housekeeping').description('what is removed when nobody needs it any more');
  housekeeping
    .command('show')
    .description('what the next round would remove; nothing is removed')
    .option('--data <folder>', 'data folder of a local installation (BINDERY_DATA, .bindery)')
    .option('--json', 'print JSON only', false)
    .action(show);
}

/** Goes through the same steps as the housekeeper, with its rights, on its settings from the environment. */
async function show({ data, json }: Options): Promise<void> {
  const dataFolder = data ?? process.env.BINDERY_DATA ?? '.bindery';
  const access = busAccess('housekeeper', dataFolder, process.env);
  // Only now: other commands need no client of the bus and no service.
  const { previewSweep } = await import('#services/housekeeper/preview-sweep.ts');
  const { connectBus } = await import('#shared/messaging/nats/connect-bus.ts');
  const { url, user: service, password } = access;
  const bus = await withinDeadline(access, connectBus({ url, service, password, instance: `cli-${process.pid}` }));
  try {
    const environment = { BINDERY_OBJECT_FOLDER: join(dataFolder, 'objects'), ...process.env };
    const { objects, contents } = await previewSweep(bus, environment);
    const organizations = [...new Set([...objects.keys(), ...contents.map(({ organization }) => organization)])];
    const previews = organizations.toSorted().map((organization) => ({
      organization,
      objects: objects.get(organization) ?? {},
      contents: contents.filter((content) => content.organization === organization),
    }));
    createOutput(json).result({ organizations: previews }, previewTable(previews));
  } finally {
    await bus.close();
  }
}

export function previewTable(previews: readonly Preview[]): string {
  const rows = previews.flatMap(({ organization, objects, contents }) => [
    ...Object.entries(objects).map(([kind, swept]) => [organization, kind, `${swept.objects}`, `${swept.bytes}`]),
    ...(contents.length > 0 ? [[organization, 'content versions', `${contents.length}`, '']] : []),
  ]);
  if (rows.length === 0) return 'Nothing would be removed.';
  return textTable(['organization', 'what', 'count', 'bytes'], rows);
}
