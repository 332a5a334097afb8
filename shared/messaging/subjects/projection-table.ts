import type { ProjectionName } from '#shared/contracts/read-models.ts';

/**
 * Every read model has room for two generations: one is read, the other can be filled anew from the log meanwhile, and then takes its
 * place. Both rooms are there from the start, because a right on the bus cannot be given for names that do not exist yet.
 */
export const generations = ['blue', 'green'] as const;

export type Generation = (typeof generations)[number];

export const otherGeneration = (generation: Generation): Generation => (generation === 'blue' ? 'green' : 'blue');

/** Name of a bucket or consumer in a generation: the blue one has the plain name. */
export const inGeneration = (name: string, generation: Generation): string =>
  generation === 'blue' ? name : `${name}-green`;

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
