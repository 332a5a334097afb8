import { upgradeFromTwoToThree } from '@scalar/openapi-upgrader/2.0-to-3.0';
import {
  CORE_SCHEMA,
  floatCoreTag,
  intCoreTag,
  load,
  mapTag,
  mergeTag,
  NOT_RESOLVED,
  type ScalarTagDefinition,
  YAMLException,
} from 'js-yaml';
import { jsonProblem } from '#shared/docs/project/json-problem.ts';
import { exactNumber, parseExactJson } from '#shared/docs/project/exact-numbers.ts';
import { decodeSource } from '#shared/docs/project/decode-source.ts';
import {
  isExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectOf,
  putValue,
  textOf,
} from '#shared/docs/project/json-values.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { removeHiddenParts } from './hidden-parts.ts';
import { maxSpecificationBytes } from './specification-limits.ts';

/** The specification cannot be used. The message is for its author, and completes the sentence "<file> is left out: it …". */
export class SpecificationRefused extends Error {
  override name = 'SpecificationRefused';
}

const maxValues = 1_000_000;
/** Maximum characters of all keys and texts. Only aliases can make them longer than their file. */
const maxCharacters = 32 * 1024 * 1024;
const maxDepth = 200;
/** Maximum nesting of brackets in a JSON file, because its parser is recursive. */
const maxNesting = 1_000;
const maxAliases = 5_000;

/**
 * Reads an OpenAPI 3 or AsyncAPI 2 or 3 file in JSON or YAML without its hidden parts, and converts Swagger 2 to OpenAPI 3. The result has only
 * plain objects, and shares none of them. Its keys are those of the author, including `__proto__`, so code that sets keys in it uses `putValue`. Throws `SpecificationRefused` for
 * other files, and if a limit is broken: 16 MB, a million values, 200 levels, 5,000 aliases, 32 million characters with each use of an alias counted.
 */
export function parseSpecification(bytes: Uint8Array, file: string): JsonObject {
  if (bytes.byteLength > maxSpecificationBytes) throw new SpecificationRefused('is larger than 16 MB; split it');
  const { text } = decodeSource(bytes, file);
  const parsed = plainCopy(parse(text, file));
  if (!isJsonObject(parsed)) throw new SpecificationRefused('is not an object');
  if (/x-hidden|x-excluded/.test(text)) removeHiddenParts(parsed);
  if (textOf(parsed['swagger'])?.startsWith('2') === true) return fromSwagger(parsed);
  if (/^3(?:\.|$)/.test(textOf(parsed['openapi']) ?? '')) return parsed;
  if (/^[23]\b/.test(textOf(parsed['asyncapi']) ?? '')) return parsed;
  throw new SpecificationRefused(
    'does not say "openapi": "3.0" or "3.1", "swagger": "2.0", or "asyncapi": "2.6" or "3.0"',
  );
}

/** Reads the content of a description unchanged, with the digits of its numbers, whatever its version. Throws like `parseSpecification`. */
export function readWritten(bytes: Uint8Array, file: string): JsonValue {
  const parsed = parse(decodeSource(bytes, file).text, file);
  // JSON has no aliases that a copy would have to count.
  return file.toLowerCase().endsWith('.json') ? (parsed as JsonValue) : plainCopy(parsed);
}

const exact = (tag: ScalarTagDefinition<number>): ScalarTagDefinition => ({
  ...tag,
  resolve(source, ...rest) {
    const value = tag.resolve(source, ...rest);
    if (value !== NOT_RESOLVED) return exactNumber(source, value);
    // An exponent without a fraction may make the number larger than any JavaScript number.
    return /^-?[1-9]\d*[eE]\+?\d+$/.test(source) ? exactNumber(source) : value;
  },
});

/**
 * The core schema of YAML with `<<`, which YAML 1.2 does not have but authors use. The parser bounds the merged keys. Numbers keep their digits, and
 * keys are texts.
 */
const schema = CORE_SCHEMA.withTags(mergeTag, exact(intCoreTag), exact(floatCoreTag), {
  ...mapTag,
  addPair: (map, key, value) => mapTag.addPair(map, isExactNumber(key) ? JSON.stringify(key) : key, value),
});

function parse(text: string, file: string): unknown {
  const isJson = file.toLowerCase().endsWith('.json');
  try {
    if (!isJson) return parseYaml(text);
    if (isNestedTooDeep(text)) throw new Error(`it is nested deeper than ${maxNesting} levels`);
    return parseExactJson(text);
  } catch (error) {
    const why =
      error instanceof YAMLException
        ? `${error.reason}${error.mark === undefined ? '' : ` (line ${error.mark.line + 1})`}`
        : ((error instanceof SyntaxError ? jsonProblem(text) : undefined) ?? messageOf(error));
    throw new SpecificationRefused(`is not valid ${isJson ? 'JSON' : 'YAML'}: ${why.slice(0, 200)}`);
  }
}

const mostReindented = 10;

/**
 * Parses YAML, which requires the end of a list in brackets to be indented more than its parent. Other parsers do not require it, so up to ten such
 * lines are indented.
 */
function parseYaml(text: string): unknown {
  for (let mended = text, times = 0; ; times += 1) {
    try {
      return load(mended, { schema, maxAliases, maxDepth, json: true });
    } catch (error) {
      if (times === mostReindented || !(error instanceof YAMLException) || error.reason !== 'deficient indentation')
        throw error;
      const lines = mended.split('\n');
      const at = error.mark?.line ?? 0;
      const line = lines[at] ?? '';
      if (!/^[ \t]*[\]}][\]},\s]*$/.test(line)) throw error;
      lines[at] = (/^ */.exec(lines[at - 1] ?? '')?.[0] ?? '') + line.trim();
      mended = lines.join('\n');
    }
  }
}

function isNestedTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (inString) {
      if (character === 0x5c) at += 1;
      else if (character === 0x22) inString = false;
    } else if (character === 0x22) inString = true;
    else if (character === 0x7b || character === 0x5b) {
      depth += 1;
      if (depth > maxNesting) return true;
    } else if (character === 0x7d || character === 0x5d) depth -= 1;
  }
  return false;
}

/** A tree of JSON values. Values shared by YAML aliases are copied for each use, and each copy counts. */
function plainCopy(
  root: unknown,
  nameOf = (key: string): string => key,
  numbers?: 'as texts' | 'from texts',
): JsonValue {
  let values = 0;
  let characters = 0;
  const count = (text: string): void => {
    characters += text.length;
    if (characters > maxCharacters)
      throw new SpecificationRefused('has more than 32 million characters with its aliases written out; use fewer');
  };
  const copy = (value: unknown, depth: number): JsonValue => {
    values += 1;
    if (values > maxValues) throw new SpecificationRefused('has more than a million values; split it');
    if (typeof value === 'string') count(value);
    if (numbers === 'from texts' && typeof value === 'string' && value.startsWith(mark))
      return exactNumber(value.slice(mark.length));
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
    if (typeof value === 'number') return Number.isFinite(value) ? value : null;
    if (typeof value !== 'object') return null;
    if (isExactNumber(value)) {
      const digits = JSON.stringify(value);
      count(digits);
      return numbers === 'as texts' ? mark + digits : (value as JsonValue);
    }
    if (depth > maxDepth) throw new SpecificationRefused(`is nested deeper than ${maxDepth} levels; make it flatter`);
    if (Array.isArray(value)) return value.map((item) => copy(item, depth + 1));
    const made: JsonObject = {};
    for (const [key, item] of Object.entries(value)) {
      count(key);
      putValue(made, nameOf(key), copy(item, depth + 1));
    }
    return made;
  };
  return copy(root, 0);
}

/** Keys that reach prototypes, and numbers whose digits are kept, get this prefix while a library processes them. */
const mark = '\u{f8ff}';
const marked = (key: string): string => (/^(?:__proto__|constructor|prototype)$/.test(key) ? mark + key : key);
const unmarked = (key: string): string => (key.startsWith(mark) ? key.slice(mark.length) : key);

function fromSwagger(swagger: JsonObject): JsonObject {
  try {
    // The version may be written as a number.
    const whole = withoutNothing({ ...(plainCopy(swagger, marked, 'as texts') as JsonObject), swagger: '2.0' });
    return plainCopy(upgradeFromTwoToThree(whole), unmarked, 'from texts') as JsonObject;
  } catch (error) {
    if (error instanceof SpecificationRefused) throw error;
    throw new SpecificationRefused(`is Swagger 2 that cannot be read as OpenAPI 3: ${messageOf(error).slice(0, 200)}`);
  }
}

const withoutNulls = (
  value: JsonValue | undefined,
  each: (item: JsonValue) => JsonValue = (item) => item,
): JsonValue =>
  Array.isArray(value)
    ? value.filter((item) => item !== null).map(each)
    : Object.fromEntries(
        Object.entries(objectOf(value)).flatMap(([key, item]) => (item === null ? [] : [[key, each(item)]])),
      );

/** Removes nulls, because the library accepts none in place of an object, and authors leave responses or methods empty. */
function withoutNothing(swagger: JsonObject): JsonObject {
  const operation = (item: JsonValue): JsonValue => {
    if (!isJsonObject(item)) return item;
    const { parameters, responses, ...rest } = item;
    return {
      ...rest,
      ...(Array.isArray(parameters) && { parameters: withoutNulls(parameters) }),
      ...(responses !== undefined && { responses: withoutNulls(responses) }),
    };
  };
  const made: JsonObject = {
    ...swagger,
    paths: withoutNulls(swagger['paths'], (path) => operation(withoutNulls(path, operation))),
  };
  for (const key of ['parameters', 'responses', 'definitions', 'securityDefinitions'])
    if (made[key] !== undefined) made[key] = withoutNulls(made[key]);
  return made;
}
