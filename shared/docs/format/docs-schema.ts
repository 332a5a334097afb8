import {
  fieldsOfNode,
  nodeKinds,
  type NodeKind,
  nodeLists,
  type SettingShape,
  settingShapes,
} from './setting-shapes.ts';
import type { Support } from './support.ts';
import type { ValueSchema } from './value-kinds.ts';

/** A JSON schema, in the keywords of draft 7, which editors know. */
export type JsonSchema = Omit<ValueSchema, 'items' | 'properties' | 'additionalProperties' | 'anyOf'> & {
  $schema?: string;
  $ref?: string;
  title?: string;
  description?: string;
  definitions?: Readonly<Record<string, JsonSchema>>;
  items?: JsonSchema;
  properties?: Readonly<Record<string, JsonSchema>>;
  additionalProperties?: JsonSchema | boolean;
  required?: readonly string[];
  anyOf?: readonly JsonSchema[];
  allOf?: readonly JsonSchema[];
  not?: JsonSchema;
  deprecated?: true;
};

/** Part of another file in place of a value: `{ "$ref": "./navigation.json" }`. */
const otherFile = '#/definitions/otherFile';
const reference = `${otherFile}/properties/$ref`;
const node = (kind: string): JsonSchema => ({ $ref: `#/definitions/${kind}` });

/**
 * The JSON schema of `docs.json`, made from the tables by which settings and the navigation are read and checked (`settings.ts`, `navigation.ts`).
 * A description also says why a setting has no effect. Keys that Bindery does not know are allowed inside of settings, and not at the top. Pure.
 */
export function docsSchema(): JsonSchema {
  const settings = [...settingShapes].map(([name, shape]) => [name, ofShape(shape)] as const);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'docs.json',
    description: 'Configuration of a docs project.',
    type: 'object',
    properties: {
      $schema: { type: 'string', description: 'Address of this schema, for editors.' },
      $ref: { $ref: reference },
      ...Object.fromEntries(settings.map(([name, schema]) => [name, name === 'colors' ? withPrimary(schema) : schema])),
      navigation: { description: 'Pages in the order of the sidebar.', anyOf: [node('navigation'), node('entries')] },
    },
    additionalProperties: false,
    anyOf: [{ required: ['name', 'theme', 'colors', 'navigation'] }, { required: ['$ref'] }],
    definitions: {
      otherFile: {
        description: 'Values of another file.',
        type: 'object',
        properties: {
          $ref: {
            type: 'string',
            description: 'Path of a JSON file of the project, relative to this one. Keys beside it take precedence.',
          },
        },
        required: ['$ref'],
      },
      navigation: ofNode('root'),
      entries: { type: 'array', items: { anyOf: [{ type: 'string' }, ...nodeKinds.map(entryOf), node('otherFile')] } },
      ...Object.fromEntries(nodeKinds.map((kind) => [kind, ofNode(kind)])),
    },
  };
}

/** An entry of `pages` or `groups`: a node of the kind whose name it has, or a group. */
const entryOf = (kind: NodeKind): JsonSchema => {
  const others = nodeKinds.filter((each) => each !== 'group').map((each) => ({ required: [each] }));
  return { allOf: [node(kind), kind === 'group' ? { not: { anyOf: others } } : { required: [kind] }] };
};

/** The schema as a file. `infra/docs` has it, and new projects get a copy, which their `docs.json` names. */
export const docsSchemaFile = {
  name: 'docs.schema.json',
  text: (): string => `${JSON.stringify(docsSchema(), undefined, 1)}\n`,
};

const withPrimary = (schema: JsonSchema): JsonSchema => ({
  ...schema,
  anyOf: [{ required: ['primary'] }, { required: ['$ref'] }],
});

/** Description and support of a setting. */
function aboutOf({ is, says, note }: Support): JsonSchema {
  const limit = is === 'not' ? `\n\nHas no effect: ${note ?? ''}.` : note === undefined ? '' : `\n\nLimits: ${note}.`;
  return { description: says + limit, ...(is === 'not' && { deprecated: true as const }) };
}

function ofShape({ support, says, isList, inner }: SettingShape): JsonSchema {
  const about = support === undefined ? { description: says } : aboutOf(support);
  if (inner.size === 0) return { ...about, ...(support?.value.schema as JsonSchema | undefined) };
  const object: JsonSchema = {
    type: 'object',
    properties: {
      $ref: { $ref: reference },
      ...Object.fromEntries([...inner].map(([name, shape]) => [name, ofShape(shape)])),
    },
  };
  if (isList) return { ...about, anyOf: [{ type: 'array', items: object }, { $ref: otherFile }] };
  return support === undefined ? { ...about, ...object } : { ...about, anyOf: [support.value.schema, object] };
}

function ofNode(kind: NodeKind | 'root'): JsonSchema {
  const fields = [...fieldsOfNode(kind)].map(([name, support]): [string, JsonSchema] => {
    const about = aboutOf(support);
    const { schema } = support.value;
    if (name === 'global') return [name, { ...about, ...node('navigation') }];
    if (schema.type !== 'array') return [name, { ...about, ...(schema as JsonSchema) }];
    const list = nodeLists.get(name) ?? 'group';
    const items =
      list === 'group' ? node('entries') : { type: 'array', items: { anyOf: [node(list), node('otherFile')] } };
    return [name, { ...about, anyOf: [items, node('otherFile')] }];
  });
  return { type: 'object', properties: { $ref: { $ref: reference }, ...Object.fromEntries(fields) } };
}
