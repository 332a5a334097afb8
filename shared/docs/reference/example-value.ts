import { isJsonObject, type JsonObject, type JsonValue, objectOf, textsOf } from '#shared/docs/project/json-values.ts';
import type { SiteSettings } from '#shared/docs/project/site-model.ts';
import { type ExampleFields, madeExample } from './made-example.ts';
import { resolved } from './open-slice.ts';
import type { Direction } from './schema-fits.ts';
import { exampleIn } from './schema-shape.ts';

/** `api.examples` of docs.json. */
export type ExampleSettings = {
  languages?: string[];
  autogenerate?: boolean;
  /** Parameters and fields that an example request has. Default: the required ones, those with an example, and a few others. */
  defaults?: 'required' | 'all';
};

/** Reads `api.examples` of docs.json. `api` is its setting `api`. */
export function exampleSettings(api: SiteSettings['api']): ExampleSettings {
  const { languages, autogenerate, defaults } = objectOf(objectOf(api)['examples']);
  const names = textsOf(languages);
  return {
    ...(names.length > 0 && { languages: names }),
    ...(typeof autogenerate === 'boolean' && { autogenerate }),
    ...((defaults === 'required' || defaults === 'all') && { defaults }),
  };
}

/**
 * The example of a media type, parameter or header: a written one, or one generated from its schema. The same input gives the same value. `ambiguous` is
 * called if it was generated and fits several options of a `oneOf`.
 */
export function exampleOf(
  document: JsonObject,
  written: JsonObject,
  use: Direction,
  fields: ExampleFields = {},
  ambiguous: () => void = () => {},
): JsonValue | undefined {
  const own = exampleIn(written);
  if (own !== undefined) return own;
  for (const example of Object.values(objectOf(written['examples']))) {
    const { value } = resolved(document, example).value;
    if (value !== undefined) return value;
  }
  return written['schema'] === undefined ? undefined : madeExample(document, written['schema'], use, fields, ambiguous);
}

/** All written examples, by name. */
export function namedExamples(document: JsonObject, written: JsonObject): [string, JsonValue][] {
  if (!isJsonObject(written['examples'])) return [];
  return Object.entries(written['examples']).flatMap(([name, example]) => {
    const { value, summary } = resolved(document, example).value;
    return value === undefined ? [] : [[typeof summary === 'string' ? summary : name, value] as [string, JsonValue]];
  });
}
