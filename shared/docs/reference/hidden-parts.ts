import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  listOf,
  objectOf,
  objectsOf,
  textOf,
  textsOf,
} from '#shared/docs/project/json-values.ts';
import { escapedPointerPart, followed } from './operations.ts';

/** Removed parts, and JSON pointers to their places. */
export type HiddenParts = { removed: JsonObject[]; pointers: string[] };

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));
/** Keys of objects with named parts that can be hidden. */
const hideable = words('parameters headers responses content requestBodies properties patternProperties servers');
/** Keys of lists of parts that can be hidden. */
const hideableLists = words('parameters servers allOf oneOf anyOf');
/** The parts of these keys are schemas, whose marks count only where they are written: a schema that others refer to stays. */
const ofSchemas = words('properties patternProperties allOf oneOf anyOf');
/** Keys of other objects whose keys are names that authors choose. */
const ofNames = words(
  'schemas definitions $defs dependentSchemas paths webhooks x-webhooks pathItems additionalOperations callbacks channels operations messages links encoding securitySchemes securityDefinitions variables',
);
/** Values of these keys are data, where a name such as `x-hidden` hides nothing. */
const ofData = words('example examples default enum const');
/** Maximum number of parts of an `allOf` from whose `required` the names of hidden properties are removed. */
const mostVariants = 100;

/**
 * Removes the parts of operations and schemas that their author marks with `x-hidden` or `x-excluded`: parameters, headers, properties, variants, request
 * bodies, responses, media types and servers. Pages are made without them. Operations and channels stay, because `x-hidden` of those only keeps their
 * pages out of the navigation. The document is changed.
 */
export function removeHiddenParts(document: JsonObject): HiddenParts {
  const hidden: HiddenParts = { removed: [], pointers: [] };
  const changes: (() => void)[] = [];
  const open: { pointer: string; value: JsonObject; kind: string }[] = [];
  // Headers of AsyncAPI are a schema.
  const hasNames = (key: string): boolean =>
    (hideable.has(key) && !(key === 'headers' && document['asyncapi'] !== undefined)) || ofNames.has(key);

  /** The value of a key of the part, or else of the target of its reference. Parts are not merged, because many may refer to a large one. */
  const valueIn = (part: JsonObject, key: string): JsonValue | undefined =>
    followed(document, part)
      .items.map((each) => each[key])
      .find((value) => value !== undefined);

  function isHidden(kind: string, part: JsonValue | undefined): boolean {
    if (!isJsonObject(part)) return false;
    const isMarked = (mark: string) => (ofSchemas.has(kind) ? part[mark] : valueIn(part, mark)) === true;
    return isMarked('x-hidden') || isMarked('x-excluded');
  }

  /** Visits a value. `kind`: the key of the value, if the keys inside it are names. */
  function enter(pointer: string, value: JsonValue, kind = ''): void {
    if (Array.isArray(value)) for (const [at, item] of value.entries()) enter(`${pointer}/${at}`, item);
    else if (isJsonObject(value)) open.push({ pointer, value, kind });
  }

  function list(pointer: string, of: JsonObject, key: string, items: JsonValue[]): void {
    const { hides = [], shown = [] } = Object.groupBy(items, (item) => (isHidden(key, item) ? 'hides' : 'shown'));
    enter(pointer, shown);
    if (hides.length === 0) return;
    for (const item of hides) hidden.removed.push(objectOf(item));
    changes.push(() => {
      if (shown.length > 0) of[key] = shown;
      else delete of[key];
    });
  }

  function remove(pointer: string, of: JsonObject, key: string): void {
    hidden.removed.push(objectOf(of[key]));
    hidden.pointers.push(pointer);
    changes.push(() => delete of[key]);
  }

  const known = new Map<JsonObject, ReadonlySet<string>>();

  function hiddenNames(properties: JsonObject): ReadonlySet<string> {
    const names =
      known.get(properties) ??
      new Set(Object.entries(properties).flatMap(([name, part]) => (isHidden('properties', part) ? [name] : [])));
    known.set(properties, names);
    return names;
  }

  /** Removes the names of hidden properties from `required` of their schema and of the schemas beside it, and from `encoding` of the media type. */
  function forget(of: JsonObject): void {
    const { allOf, encoding, schema } = of;
    const variants = objectsOf(allOf).slice(0, mostVariants);
    const properties = [of, ...variants].flatMap((each) => valueIn(each, 'properties') ?? []).filter(isJsonObject);
    const isGone = (name: string): boolean =>
      properties.some((each) => hiddenNames(each).has(name)) &&
      !properties.some((each) => Object.hasOwn(each, name) && !hiddenNames(each).has(name));
    for (const each of [of, ...variants]) {
      const { required } = each;
      if (!Array.isArray(required)) continue;
      const gone = new Set(textsOf(required).filter(isGone));
      if (gone.size > 0)
        changes.push(
          () => void (each['required'] = listOf(each['required']).filter((name) => !gone.has(textOf(name) ?? ''))),
        );
    }
    if (!isJsonObject(encoding)) return;
    const encoded = objectOf(valueIn(objectOf(schema), 'properties'));
    for (const name of Object.keys(encoding))
      if (hiddenNames(encoded).has(name)) changes.push(() => delete encoding[name]);
  }

  enter('#', document);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { pointer, value, kind } = next;
    if (kind === '') forget(value);
    for (const [key, item] of Object.entries(value)) {
      const place = `${pointer}/${escapedPointerPart(key)}`;
      if (kind !== '') {
        if (hideable.has(kind) && isHidden(kind, item)) remove(place, value, key);
        else enter(place, item);
      } else if (key === 'requestBody' && isHidden(key, item)) remove(place, value, key);
      else if (hideableLists.has(key) && Array.isArray(item)) list(place, value, key, item);
      else if (!ofData.has(key)) enter(place, item, hasNames(key) ? key : '');
    }
  }
  for (const change of changes) change();
  return hidden;
}
