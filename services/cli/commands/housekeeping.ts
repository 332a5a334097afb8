import type { Command } from 'commander';
import type { ContentId } from '#shared/contracts/identifiers.ts';
import type { SweptObjects } from '#services/housekeeper/sweep-objects.ts';
import { withBus, withLocalObjects } from '../bus-connection.ts';
import { type BusCommandOptions, withBusOptions } from '../command-options.ts';
import { createOutput, textTable } from '../terminal.ts';

export type Preview = { organization: string; objects: SweptObjects; contents: ContentId[] };

export function housekeepingCommand(program: Command): void {
  const housekeeping = program
    .command('housekeeping')
    .description('objects and content versions that are no longer needed');
  withBusOptions(housekeeping.command('show'))
    .description('show the objects that the next garbage collection would remove; nothing is removed')
    .action(show);
}

/** Takes the same steps as the housekeeper, with its rights and its settings from the environment. */
function show(options: BusCommandOptions): Promise<void> {
  return withBus('housekeeper', options, async (bus) => {
    // The service is loaded on demand, because other commands do not need it.
    const { previewSweep } = await import('#services/housekeeper/preview-sweep.ts');
    const { objects, contents, notJudged } = await previewSweep(bus, withLocalObjects(options));
    const organizations = [...new Set([...objects.keys(), ...contents.map(({ organization }) => organization)])];
    const previews = organizations.toSorted().map((organization) => ({
      organization,
      objects: objects.get(organization) ?? {},
      contents: contents.filter((content) => content.organization === organization),
    }));
    createOutput(options.json).result({ organizations: previews, notJudged }, previewTable(previews, notJudged));
    if (notJudged.length > 0) process.exitCode = 1;
  });
}

/** `notJudged`: organizations whose logs or archived histories cannot be read. */
export function previewTable(previews: readonly Preview[], notJudged: readonly string[]): string {
  const unknown =
    notJudged.length === 0
      ? ''
      : `\nNothing of ${notJudged.join(', ')} is removed: a history cannot be read. "bindery audit verify" says which.`;
  const rows = previews.flatMap(({ organization, objects, contents }) => [
    ...Object.entries(objects).map(([kind, swept]) => [organization, kind, `${swept.objects}`, `${swept.bytes}`]),
    ...(contents.length > 0 ? [[organization, 'content versions', `${contents.length}`, '']] : []),
  ]);
  const removed =
    rows.length === 0 ? 'Nothing would be removed.' : textTable(['organization', 'what', 'count', 'bytes'], rows);
  return removed + unknown;
}
