import { hourMs } from '#shared/runtime/time-and-ids.ts';
import type { ElasticsearchCall } from './elasticsearch-connection.ts';

const withinMs = 30_000;
/** Nobody waits longer for a copy. */
const abandonedAfterMs = 2 * hourMs;

/**
 * A newer program that copies the index blocks the one that it copies. If it died, and the upgrade was taken back, nothing could be written for good. So its
 * copy is deleted and the block lifted, when the copy began long ago and the cluster copies nothing. A block without a copy is an operator's.
 */
export async function endUnfinishedCopy(
  alias: string,
  current: string,
  isNewer: (index: string) => boolean,
  call: ElasticsearchCall,
  signal?: AbortSignal,
): Promise<void> {
  const what = `look whether ${current} is being copied`;
  const found = await call(
    what,
    withinMs,
    (client, deadline) =>
      client.indices.getSettings(
        { index: `${alias}-*`, name: ['index.blocks.write', 'index.creation_date'], flat_settings: true },
        deadline,
      ),
    signal,
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
  const tasks = await call(
    what,
    withinMs,
    (client, deadline) => client.tasks.list({ actions: '*reindex', group_by: 'none' }, deadline),
    signal,
  );
  if (Object.keys(tasks.tasks ?? {}).length > 0) return;
  const lift = `take back the copy of ${current}`;
  // First the copy: it lacks what is written from here on, and a later one keeps what is there.
  await call(
    lift,
    withinMs,
    (client, deadline) => client.indices.delete({ index: copies }, { ...deadline, ignore: [404] }),
    signal,
  );
  const settings = { 'index.blocks.write': null };
  await call(
    lift,
    withinMs,
    (client, deadline) => client.indices.putSettings({ index: current, settings }, deadline),
    signal,
  );
}
