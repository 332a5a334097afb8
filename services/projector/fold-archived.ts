import type { Generation } from '#shared/read-model/generation.ts';
import { bufferedReadModels } from './buffered-store.ts';
import { documentMemory } from './document-memory.ts';
import type { ProjectionRun } from './run-projection.ts';
import { storesOf } from '#shared/read-model/read-models.ts';

const mostRemembered = 32;

/**
 * Folds what was moved from the log to the archive into a generation that is being filled, which nobody else may write meanwhile.
 * Repeating it changes nothing. Rejects when the archive cannot be read to its end: a rebuild leaves nothing out.
 */
export async function foldArchived<M>(
  run: ProjectionRun<M>,
  generation: Generation,
  signal: AbortSignal,
): Promise<void> {
  if (run.source.archived === undefined || run.archive === undefined) return;
  const memory = documentMemory(mostRemembered);
  for await (const messages of run.source.archived(run.archive)) {
    signal.throwIfAborted();
    const buffer = bufferedReadModels(run.bus.generations[generation], memory);
    const fold = run.source.into(buffer.models, run.bus);
    await fold.prepare(messages);
    for (const message of messages) await fold.one(message);
    await fold.finish();
    await buffer.flush(storesOf[run.source.name]);
  }
}
