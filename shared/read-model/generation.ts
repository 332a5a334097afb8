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
