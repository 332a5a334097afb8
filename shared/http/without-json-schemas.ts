const refuse = (): never => {
  throw new Error('Routes are declared with schemas of zod, and not with JSON schemas.');
};

/**
 * Options of a Fastify server whose routes have no JSON schemas, as ours, which are checked by zod. Fastify then does not load the two compilers of
 * such schemas, Ajv and fast-json-stringify, which take 4 MB of each process.
 */
export const withoutJsonSchemas = {
  schemaController: { compilersFactory: { buildValidator: refuse, buildSerializer: refuse } },
} as const;
