import { messageOf } from '#shared/runtime/failures.ts';
import { decodeSource } from './decode-source.ts';
import { InvalidProject, quoted } from './diagnostics.ts';
import { docsFromMint } from './docs-from-mint.ts';
import { jsonProblem } from './json-problem.ts';
import { isJsonObject, type JsonObject, type JsonValue, plainJson } from './json-values.ts';
import { type NamedFiles, resolvePath } from './project-files.ts';

const maxIgnoreBytes = 64 * 1024;

/** The configuration of a project in the shape of `docs.json`, and the files that it was read from, with `file` first. */
export type Config = { value: JsonObject; file: string; files: string[] };

/** Throws `InvalidProject` if there is none or it cannot be read. */
export async function readConfig(project: NamedFiles): Promise<Config> {
  const file = ['docs.json', 'mint.json'].find((name) => project.files.some(({ path }) => path === name));
  if (file === undefined) {
    const message =
      'There is no docs.json (or mint.json) at the root of the project. Publish the folder that has it, or add one.';
    throw new InvalidProject('missing-config', 'docs.json', message);
  }
  const { value, files } = await resolveReferences(project, file);
  if (!isJsonObject(value)) throw new InvalidProject('bad-config', file, `${file} must be a JSON object.`);
  return { value: file === 'mint.json' ? docsFromMint(value) : value, file, files };
}

/** Text of `.mintignore`; '' if there is none. */
export async function readIgnoreFile(project: NamedFiles): Promise<string> {
  const path = '.mintignore';
  const exists = project.files.some((entry) => entry.path === path);
  return exists ? decodeSource(await project.read(path, maxIgnoreBytes), path).text : '';
}

const maxValues = 200_000;
const maxReferenceDepth = 16;

export type ResolvedConfig = {
  value: JsonValue;
  /** All files that it was read from, the given one first. */
  files: string[];
};

/**
 * The configuration in `file`, with every `{"$ref": "./other.json"}` replaced by the content of that file. Keys beside `$ref` override that content.
 * References are relative to their file and stay inside the project. Throws `InvalidProject` (`config-reference`, `config-cycle`, `config-too-large`,
 * and the errors of `parseConfigJson`).
 */
export async function resolveReferences(project: NamedFiles, file: string): Promise<ResolvedConfig> {
  const known = new Set(project.files.map((entry) => entry.path));
  const parsed = new Map<string, JsonValue>();
  let values = 0;

  async function load(path: string, chain: string[]): Promise<JsonValue> {
    if (chain.includes(path)) {
      const message = `${path} refers to itself with "$ref": ${[...chain, path].join(' → ')}. Break the circle.`;
      throw new InvalidProject('config-cycle', path, message);
    }
    if (chain.length >= maxReferenceDepth) {
      const message = `${path} is reached through more than ${maxReferenceDepth} "$ref". Use fewer.`;
      throw new InvalidProject('config-reference', path, message);
    }
    let content = parsed.get(path);
    if (content === undefined) {
      content = parseConfigJson(await project.read(path, maxConfigBytes + 1), path);
      parsed.set(path, content);
    }
    return resolve(content, [...chain, path]);
  }

  async function resolve(value: JsonValue, chain: string[]): Promise<JsonValue> {
    values += 1;
    if (values > maxValues) {
      const message = `${file} has more than ${maxValues} values after its "$ref" are resolved. Refer to fewer files.`;
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
    if (typeof reference !== 'string') throw refuse('is not a string');
    if (/^[a-z][a-z0-9+.-]*:|^\/\/|[#\\]/i.test(reference))
      throw refuse(`is ${quoted(reference)}, which is not a file of this project`);
    const path = resolvePath(reference, from);
    if (path === undefined) throw refuse(`is ${quoted(reference)}, which is outside the project`);
    if (!known.has(path)) throw refuse(`names ${quoted(reference)}, which does not exist`);
    return path;
  }

  const value = await load(file, []);
  return { value, files: [...parsed.keys()] };
}

const maxConfigBytes = 5 * 1024 * 1024;
/** Maximum nesting of brackets. A navigation of 32 levels needs about two for each. */
const maxConfigNesting = 64;

/** Reads a JSON file of the project's configuration. Throws `InvalidProject` (`bad-config`, `config-too-deep`, `config-too-large`). */
function parseConfigJson(bytes: Uint8Array, file: string): JsonValue {
  if (bytes.byteLength > maxConfigBytes) {
    const message = `${file} is larger than 5 MB. Split it, or remove unused parts.`;
    throw new InvalidProject('config-too-large', file, message);
  }
  const { text } = decodeSource(bytes, file);
  if (nesting(text) >= maxConfigNesting) {
    const message = `${file} is nested deeper than ${maxConfigNesting} levels. Make its navigation flatter.`;
    throw new InvalidProject('config-too-deep', file, message);
  }
  try {
    return plainJson(JSON.parse(text));
  } catch (error) {
    const why = jsonProblem(text) ?? messageOf(error).slice(0, 200);
    throw new InvalidProject('bad-config', file, `${file} is not valid JSON: ${why}.`);
  }
}

function nesting(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') deepest = Math.max(deepest, (depth += 1));
    else if (character === '}' || character === ']') depth -= 1;
  }
  return deepest;
}
