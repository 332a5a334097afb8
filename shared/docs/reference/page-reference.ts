import { type JsonObject, type JsonValue, objectOf, textsOf } from '#shared/docs/project/json-values.ts';
import { type ExampleSettings, exampleSettings } from './example-value.ts';
import { type WrittenApi, writtenApi } from './written-operation.ts';

/** What a page of an operation, a schema or a channel is made from, beside its own content. */
export type PageReferenceInput = {
  /** The slice of a specification, by its name among the page's dependencies. */
  path?: string;
  /** Without a slice: the operation that the page describes itself. */
  written?: WrittenApi;
  examples: ExampleSettings;
  params?: ParamSettings;
  /** The head of the page has the whole address, with that of the server. */
  isFullUrl?: boolean;
};

/** `api.params` of docs.json. */
export type ParamSettings = {
  /** Keys of schemas whose values are shown behind the names of fields. */
  post?: string[];
  /** Nested fields are shown without asking for them. */
  isOpen?: boolean;
};

/** Undefined for all other pages. `settings`: `api` of docs.json. */
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
