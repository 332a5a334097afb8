import type { Finding } from '#shared/docs/findings/finding-texts.ts';
import { quoted } from '#shared/docs/project/diagnostics.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#shared/docs/project/json-values.ts';
import {
  fieldsOfNode,
  type NodeKind,
  nodeKinds,
  nodeLists,
  type SettingShape,
  settingShapes,
} from './setting-shapes.ts';
import { colourPattern, fits, type ValueSchema } from './value-kinds.ts';

type Say = (message: string) => void;

/** Limit of the wrong values that are reported, because a file in another format has as many as settings. */
const mostReported = 50;

/**
 * Reports values of `docs.json` that cannot be written where they are, by the same schemas that editors get (`docs-schema.ts`). The code that reads a
 * setting leaves such a value out. A null counts as absent.
 */
export function reportWrongValues(config: JsonObject, file: string, report: (finding: Finding) => void): void {
  let reported = 0;
  const say: Say = (message) => {
    reported += 1;
    if (reported <= mostReported) report({ severity: 'warning', code: 'bad-setting', message, file });
  };
  for (const [name, shape] of settingShapes) checkSetting(config[name], name, shape, say);
  const { navigation } = config;
  if (Array.isArray(navigation)) checkNodes(navigation, 'navigation', 'group', say);
  else checkNode(navigation, 'root', say);
}

function checkSetting(value: JsonValue | undefined, name: string, shape: SettingShape, say: Say): void {
  if (value === undefined || value === null) return;
  const { support, isList, inner } = shape;
  if (isList) {
    if (!Array.isArray(value)) return say(`"${name}" must be a list of objects in brackets.`);
    for (const item of value) checkSetting(item, name, { ...shape, isList: false }, say);
    return;
  }
  if (inner.size > 0 && isJsonObject(value)) {
    for (const [key, innerShape] of inner) checkSetting(value[key], `${name}.${key}`, innerShape, say);
    return;
  }
  if (support === undefined)
    return say(`"${name}" must be an object with settings in braces; what is written there has no effect.`);
  checkValue(value, name, support.value.schema, say);
}

function checkValue(value: JsonValue, name: string, schema: ValueSchema, say: Say): void {
  if (fits(value, schema)) return;
  const { light, dark } = isJsonObject(value) ? value : {};
  const ofAppearance = schema.anyOf?.find(({ properties }) => properties?.['light'] !== undefined)?.properties?.[
    'light'
  ];
  if (ofAppearance !== undefined && isJsonObject(value)) {
    if (light !== undefined && light !== null) checkValue(light, `${name}.light`, ofAppearance, say);
    if (dark !== undefined && dark !== null && dark !== light) checkValue(dark, `${name}.dark`, ofAppearance, say);
    return;
  }
  const shown = typeof value === 'string' ? quoted(value) : quoted(JSON.stringify(value));
  say(`"${name}" is ${shown}; it ${expected(schema)}.`);
}

/** The rest of a sentence about the values of a schema, after "it". */
function expected({ enum: values, pattern, type, anyOf }: ValueSchema): string {
  if (values !== undefined) return `can be ${values.join(', ')}`;
  const inner = anyOf?.[0];
  if (pattern === colourPattern || inner?.pattern === colourPattern) return 'must be a colour such as #16A34A';
  const kinds = [type ?? anyOf?.flatMap((each) => each.type ?? []) ?? []].flat();
  return `must be ${[...new Set(kinds.map((kind) => kindNames[kind] ?? kind))].join(' or ')}`;
}

const kindNames: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list in brackets',
  object: 'an object in braces',
};

/** Checks the fields of the nodes of the navigation. The entries of `pages` and `groups` are checked when the navigation is read. */
function checkNode(value: JsonValue | undefined, around: NodeKind | 'root', say: Say): void {
  if (!isJsonObject(value)) return;
  const kind = nodeKinds.find((name) => typeof value[name] === 'string') ?? around;
  const fields = fieldsOfNode(kind);
  for (const [key, inner] of Object.entries(value)) {
    const support = fields.get(key);
    if (inner === null || support === undefined) continue;
    const name = `navigation: ${kind === 'root' ? '' : `${kind}.`}${key}`;
    if (key === 'global') checkNode(inner, 'root', say);
    if (!fits(inner, support.value.schema)) checkValue(inner, name, support.value.schema, say);
    else if (Array.isArray(inner)) checkNodes(inner, name, nodeLists.get(key) ?? 'group', say);
  }
}

function checkNodes(items: readonly JsonValue[], name: string, kind: NodeKind, say: Say): void {
  for (const item of items) {
    if (kind !== 'group' && !isJsonObject(item)) say(`"${name}" must be a list of objects in braces.`);
    else checkNode(item, kind, say);
  }
}
