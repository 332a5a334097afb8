import { isJsonObject, type JsonObject, type JsonValue, objectOf } from '#shared/docs/project/json-values.ts';
import { shownValue } from './open-slice.ts';

type Pair = [string, string];

const mostItems = 10;

/** Serializes a value of a query or cookie parameter as OpenAPI requires by style and explode. The playground sends the same. */
export function parameterPairs(parameter: JsonObject, name: string, value: JsonValue): Pair[] {
  const style = typeof parameter['style'] === 'string' ? parameter['style'] : 'form';
  const isExploded = typeof parameter['explode'] === 'boolean' ? parameter['explode'] : style === 'form';
  if (isMedia(parameter) || isScalar(value)) return [[name, shownValue(value)]];
  if (style === 'deepObject') return deepPairs(name, value).slice(0, mostItems);
  if (!isExploded) return [[name, flat(value).join(separators.get(style) ?? ',')]];
  if (Array.isArray(value)) return value.slice(0, mostItems).map((item) => [name, shownValue(item)]);
  return Object.entries(value)
    .slice(0, mostItems)
    .map(([key, item]) => [key, shownValue(item)]);
}

/** Serializes a value of a header. */
export function headerValue(parameter: JsonObject, value: JsonValue): string {
  if (isMedia(parameter) || isScalar(value)) return shownValue(value);
  if (Array.isArray(value) || parameter['explode'] !== true) return flat(value).join(',');
  return Object.entries(value)
    .slice(0, mostItems)
    .map(([key, item]) => `${key}=${shownValue(item)}`)
    .join(',');
}

const isScalar = (value: JsonValue): value is string | number | boolean | null =>
  !isJsonObject(value) && !Array.isArray(value);

/** True if the value has a media type; then it is written as JSON. */
const isMedia = ({ content }: JsonObject): boolean => content !== undefined;

const separators: ReadonlyMap<string, string> = new Map([
  ['spaceDelimited', ' '],
  ['pipeDelimited', '|'],
]);

/** Items of a list; names and values of an object in alternation. */
function flat(value: JsonValue): string[] {
  if (Array.isArray(value)) return value.slice(0, mostItems).map(shownValue);
  return Object.entries(objectOf(value))
    .slice(0, mostItems)
    .flatMap(([key, item]) => [key, shownValue(item)]);
}

const deepest = 4;

/** Leaves of an object with their names in brackets. */
function deepPairs(name: string, value: JsonValue, depth = 0): Pair[] {
  if (depth > deepest || !(isJsonObject(value) || Array.isArray(value))) return [[name, shownValue(value)]];
  return Object.entries(value)
    .slice(0, mostItems)
    .flatMap(([key, item]) => deepPairs(`${name}[${key}]`, item, depth + 1));
}
