import type { ProjectionName } from '#shared/contracts/projection-pointer.ts';

export type ProjectionRow = {
  stream: 'EXPORTS' | 'CONTENT' | 'DIRECTORY';
  /** The blue generation's consumer. */
  durable: string;
  /** What it writes: key filters of buckets, by the blue generation's names. */
  keys: readonly { bucket: string; filter: string }[];
};

/** What each projection is folded from and what it writes, so that one generation of it can be emptied without touching another's. */
export const projectionTable: Record<ProjectionName, ProjectionRow> = {
  exports: {
    stream: 'EXPORTS',
    durable: 'projector-exports',
    keys: [
      { bucket: 'job-status', filter: '>' },
      { bucket: 'job-list', filter: '>' },
    ],
  },
  content: { stream: 'CONTENT', durable: 'projector-content', keys: [{ bucket: 'directory', filter: 'content.>' }] },
  directory: {
    stream: 'DIRECTORY',
    durable: 'projector-directory',
    keys: [
      { bucket: 'directory', filter: 'org.>' },
      { bucket: 'directory', filter: 'key.>' },
    ],
  },
};
