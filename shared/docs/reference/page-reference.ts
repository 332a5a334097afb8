import { type JsonObject, type JsonValue, objectOf, textsOf } from '#shared/docs/project/json-values.ts';
import { type ExampleSettings, exampleSettings } from './example-value.ts';
import { type WrittenApi, writtenApi } from './written-operation.ts';

/** Input for the generated content of a page about an operation, a schema or a channel. */
export type PageReferenceInput = {
  /** Slice of a specification, by its name among the page's dependencies. */
  path?: string;
  /** The operation that the page itself describes, if there is no slice. */
  written?: WrittenApi;
  examples: ExampleSettings;
  params?: ParamSettings;
  /** True if the head of the page shows the whole address, including the server. */
  isFullUrl?: boolean;
};

/** `api.params` of docs.json. */
export type ParamSettings = {
  /** Keys of schemas whose values are shown after the names of fields. */
  post?: string[];
  /** True if nested fields are shown expanded. */
  isOpen?: boolean;
};

/**
 * The input for the generated content of a page; undefined for a page that describes no operation, schema or channel. `settings` is `api` of
 * docs.json.
 */
export function pageReferenceInput(
  page: { reference?: string | undefined; frontmatter: JsonObject },
  settings: JsonValue | undefined,
): PageReferenceInput | undefined {
  const { reference, frontmatter } = page;
  const written = reference === undefined ? writtenApi(frontmatter, settings) : undefined;
  if (reference === undefined && written === undefined) return undefined;
  const api = objectOf(settings);
  const params = paramSettings(objectOf(api['params']));
  return {
    ...(reference !== undefined && { path: reference }),
    ...(written && { written }),
    examples: exampleSettings(settings),
    ...(Object.keys(params).length > 0 && { params }),
    ...(api['url'] === 'full' && { isFullUrl: true }),
  };
}

function paramSettings({ post, expanded }: JsonObject): ParamSettings {
  const names = textsOf(post).slice(0, 20);
  return { ...(names.length > 0 && { post: names }), ...(expanded === 'all' && { isOpen: true }) };
}
