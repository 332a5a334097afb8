import { type JsonObject, type JsonValue, objectOf } from '#shared/docs/project/json-values.ts';

/** How a reader tries the operation of a page. `simple`: its address can be copied, and nothing is sent. */
export type PlaygroundSettings = {
  display: 'interactive' | 'simple';
  /** Fields are filled with examples: `api.examples.prefill`. */
  prefill?: true;
};

/**
 * Of a page with an operation. Undefined where `playground` of the page or `api.playground.display` of docs.json says `none`, or `auth`: nobody
 * is signed in to a folder of files. `api`: of docs.json.
 */
export function playgroundSettings(
  frontmatter: JsonObject,
  api: JsonValue | undefined,
): PlaygroundSettings | undefined {
  const { playground, examples } = objectOf(api);
  const display = displayOf(frontmatter['playground']) ?? displayOf(objectOf(playground)['display']) ?? 'interactive';
  if (display === 'none' || display === 'auth') return undefined;
  return { display, ...(objectOf(examples)['prefill'] === true && { prefill: true }) };
}

const displays = ['interactive', 'simple', 'none', 'auth'] as const;

const displayOf = (written: JsonValue | undefined): (typeof displays)[number] | undefined =>
  displays.find((display) => display === written);
