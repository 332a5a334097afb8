import { hourMs } from '#shared/runtime/time-and-ids.ts';
import type { ElasticsearchIndex } from './elasticsearch-connection.ts';

const withinMs = 30_000;
/** Time after which a copy counts as abandoned. */
const abandonedAfterMs = 2 * hourMs;

/**
 * A newer program that copies the index blocks writes to the original. If it died and was then downgraded, the block would stay forever. So the copy
 * is deleted and the block removed if the copy began long ago and no copying is in progress. A block without a copy was set by an operator and stays.
 */
export async function endUnfinishedCopy(
  { call, alias }: ElasticsearchIndex,
  current: string,
  isNewer: (index: string) => boolean,
): Promise<void> {
  const what = `look whether ${current} is being copied`;
  const asked = ['index.blocks.write', 'index.creation_date'];
  const found = await call(what, withinMs, (client, deadline) =>
    client.indices.getSettings({ index: `${alias}-*`, name: asked, flat_settings: true }, deadline),
  );
  const settingOf = (index: string, name: string): string => {
    const settings = (found[index]?.settings ?? {}) as Record<string, string | undefined>;
    return settings[name] ?? '';
  };
  if (settingOf(current, 'index.blocks.write') !== 'true') return;
  const copies = Object.keys(found).filter(isNewer);
  const isOver = (index: string): boolean =>
    Date.now() - Number(settingOf(index, 'index.creation_date')) > abandonedAfterMs;
  if (copies.length === 0 || !copies.every(isOver)) return;
  const tasks = await call(what, withinMs, (client, deadline) =>
    client.tasks.list({ actions: '*reindex', group_by: 'none' }, deadline),
  );
  if (Object.keys(tasks.tasks ?? {}).length > 0) return;
  const lift = `undo the copy of ${current}`;
  // The copy is deleted first: it lacks the documents that will be written next, and a later copy would keep its outdated documents.
  await call(lift, withinMs, (client, deadline) =>
    client.indices.delete({ index: copies }, { ...deadline, ignore: [404] }),
  );
  const settings = { 'index.blocks.write': null };
  await call(lift, withinMs, (client, deadline) => client.indices.putSettings({ index: current, settings }, deadline));
}
