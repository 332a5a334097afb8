import { textsOf } from './config-fields.ts';
import type { JsonObject } from './plain-json.ts';

export const SNIFFED_BYTES = 64 * 1024;

/** Whether a JSON or YAML file is an OpenAPI or AsyncAPI description, by its first 64 KB. */
export function isSpec(bytes: Uint8Array, path: string): boolean {
  const text = new TextDecoder().decode(bytes.subarray(0, SNIFFED_BYTES));
  if (path.toLowerCase().endsWith('.json')) return /"(?:openapi|asyncapi|swagger)"\s*:\s*"\d/.test(text);
  return /^(?:openapi|asyncapi|swagger)["']?\s*:\s*["']?\d/m.test(text);
}

/** The specs that a page's frontmatter refers to; all of them where it names an operation without a file. */
export function specsOfPage(frontmatter: JsonObject, specs: readonly string[]): string[] {
  const named = ['openapi', 'openapi-schema', 'asyncapi', 'sdk'].flatMap((key) => textsOf(frontmatter[key]));
  if (named.length === 0) return [];
  const found = named.flatMap((reference) => {
    const path = (reference.split(/\s+/, 1)[0] ?? '').replace(/^\.?\//, '');
    return specs.includes(path) ? [path] : specs;
  });
  return [...new Set(found)];
}
