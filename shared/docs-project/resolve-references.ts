import { posix } from 'node:path';
import { InvalidProject } from './invalid-project.ts';
import { MAX_CONFIG_BYTES, parseConfigJson } from './parse-config-json.ts';
import { isJsonObject, type JsonObject, type JsonValue } from './plain-json.ts';
import type { ProjectFiles } from './project-files.ts';
import { quoted } from './quoted.ts';

const MAX_VALUES = 200_000;
const MAX_REFERENCE_DEPTH = 16;

export type ResolvedConfig = {
  value: JsonValue;
  /** All files it was made of, the first one in front. */
  files: string[];
};

/**
 * The configuration in `file` with every `{"$ref": "./other.json"}` replaced by that file's content; keys beside `$ref` win over the
 * content's. References are relative to the file that has them and stay inside of the project. Throws `InvalidProject`
 * (`config-reference`, `config-cycle`, `config-too-large`, and what `parseConfigJson` throws).
 */
export async function resolveReferences(project: ProjectFiles, file: string): Promise<ResolvedConfig> {
  const known = new Set(project.files.map((entry) => entry.path));
  const parsed = new Map<string, JsonValue>();
  let values = 0;

  async function load(path: string, chain: string[]): Promise<JsonValue> {
    if (chain.includes(path)) {
      const message = `${path} refers to itself with "$ref": ${[...chain, path].join(' → ')}. Break the circle.`;
      throw new InvalidProject('config-cycle', path, message);
    }
    if (chain.length >= MAX_REFERENCE_DEPTH) {
      const message = `${path} is reached through more than ${MAX_REFERENCE_DEPTH} "$ref". Use fewer.`;
      throw new InvalidProject('config-reference', path, message);
    }
    let content = parsed.get(path);
    if (content === undefined) {
      content = parseConfigJson(await project.read(path, MAX_CONFIG_BYTES + 1), path);
      parsed.set(path, content);
    }
    return resolve(content, [...chain, path]);
  }

  async function resolve(value: JsonValue, chain: string[]): Promise<JsonValue> {
    values += 1;
    if (values > MAX_VALUES) {
      const message = `${file} has more than ${MAX_VALUES} values after its "$ref" are resolved. Refer to fewer files.`;
      throw new InvalidProject('config-too-large', file, message);
    }
    if (Array.isArray(value)) {
      const items: JsonValue[] = [];
      for (const item of value) items.push(typeof item === 'object' ? await resolve(item, chain) : item);
      return items;
    }
    if (!isJsonObject(value)) return value;
    const { $ref: reference, ...own } = value;
    const resolvedOwn: JsonObject = {};
    for (const [key, item] of Object.entries(own)) {
      resolvedOwn[key] = typeof item === 'object' ? await resolve(item, chain) : item;
    }
    if (reference === undefined) return resolvedOwn;
    const content = await load(target(reference, chain.at(-1) ?? file), chain);
    if (Object.keys(own).length === 0) return content;
    return isJsonObject(content) ? { ...content, ...resolvedOwn } : content;
  }

  function target(reference: JsonValue, from: string): string {
    const refuse = (why: string): InvalidProject =>
      new InvalidProject(
        'config-reference',
        from,
        `"$ref" in ${from} ${why}. Name a JSON file of this project, relative to ${from}.`,
      );
    if (typeof reference !== 'string') throw refuse('is not a text');
    if (/^[a-z][a-z0-9+.-]*:|^\/\/|[#\\]/i.test(reference))
      throw refuse(`is ${quoted(reference)}, which is no file of this project`);
    const path = posix.normalize(
      reference.startsWith('/') ? reference.slice(1) : posix.join(posix.dirname(from), reference),
    );
    if (path.startsWith('../') || path === '..') throw refuse(`climbs out of the project with ${quoted(reference)}`);
    if (!known.has(path)) throw refuse(`names ${quoted(reference)}, which does not exist`);
    return path;
  }

  const value = await load(file, []);
  return { value, files: [...parsed.keys()] };
}
