import { type JsonObject, type JsonValue, objectOf } from '#shared/docs/project/json-values.ts';

/** Settings of the playground of a page. With `simple`, the address of the operation can be copied, and no request is sent. */
export type PlaygroundSettings = {
  display: 'interactive' | 'simple';
  /** True if fields are filled with examples: `api.examples.prefill`. */
  prefill?: true;
};

/**
 * Settings for a page with an operation. Undefined if `playground` of the page or `api.playground.display` of docs.json is `none`, or `auth`, because
 * nobody is signed in to a folder of files. `api` is that of docs.json.
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
