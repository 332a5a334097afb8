import type { ProjectionName } from '#shared/interfaces/read-models.ts';
import { readModelTable } from '../read-models.ts';

/** The source of each projection: the stream, and the consumer of the blue generation. */
export const projectionTable = {
  exports: { stream: 'EXPORTS', durable: 'projector-exports' },
  content: { stream: 'CONTENT', durable: 'projector-content' },
  sites: { stream: 'SITES', durable: 'projector-sites' },
  directory: { stream: 'DIRECTORY', durable: 'projector-directory' },
  access: { stream: 'ACCESS', durable: 'projector-access' },
  views: { stream: 'VIEWS', durable: 'projector-views' },
  conversations: { stream: 'CONVERSATIONS', durable: 'projector-conversations' },
} as const satisfies Record<ProjectionName, { stream: string; durable: string }>;

/**
 * The documents that a projection writes: key filters of buckets, by the blue generation's names. With them one generation can be emptied
 * without touching another projection's documents. A bucket that no other projection writes is emptied as a whole, because it may have
 * documents of an older version.
 */
export function keysOf(projection: ProjectionName): { bucket: string; filter: string }[] {
  const byBucket = Map.groupBy(Object.values(readModelTable), ({ bucket }) => bucket);
  return [...byBucket].flatMap(([bucket, rows]) => {
    const own = rows.filter((row) => row.projection === projection);
    if (own.length === rows.length) return { bucket, filter: '>' };
    return own.map(({ prefix }) => ({ bucket, filter: `${prefix}>` }));
  });
}
