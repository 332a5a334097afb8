import type { ProjectionName } from '#shared/contracts/projection-pointer.ts';

export type ProjectionRow = {
  stream: 'EXPORTS' | 'CONTENT' | 'DIRECTORY' | 'ACCESS';
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
      { bucket: 'audit', filter: 'exports.>' },
      { bucket: 'usage', filter: 'exports.>' },
    ],
  },
  content: {
    stream: 'CONTENT',
    durable: 'projector-content',
    keys: [
      { bucket: 'directory', filter: 'content.>' },
      { bucket: 'audit', filter: 'content.>' },
      { bucket: 'usage', filter: 'content.>' },
    ],
  },
  directory: {
    stream: 'DIRECTORY',
    durable: 'projector-directory',
    keys: [
      { bucket: 'directory', filter: 'org.>' },
      { bucket: 'directory', filter: 'key.>' },
      { bucket: 'audit', filter: 'directory.>' },
    ],
  },
  access: {
    stream: 'ACCESS',
    durable: 'projector-access',
    keys: [
      { bucket: 'audit', filter: 'access.>' },
      { bucket: 'usage', filter: 'access.>' },
    ],
  },
};
