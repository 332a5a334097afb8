import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import type { JsonObject, JsonValue } from '#shared/docs/project/json-values.ts';
import { readFonts } from '#shared/docs/project/read-fonts.ts';
import { readNavigation } from '#shared/docs/project/read-navigation.ts';
import { readRedirects } from '#shared/docs/project/read-redirects.ts';
import { readSettings } from '#shared/docs/project/read-settings.ts';
import { readSynonyms } from '#shared/docs/project/read-synonyms.ts';
import { sharedFolder } from '../../../test/support/docs-projects.ts';
import { docsSchema } from './docs-schema.ts';
import {
  fieldsOfNode,
  type NodeKind,
  nodeKinds,
  nodeLists,
  type SettingShape,
  settingShapes,
} from './setting-shapes.ts';
import type { Support } from './support.ts';
import { fits, type ValueSchema } from './value-kinds.ts';

const schema = docsSchema();
const validate = new Ajv({ allErrors: true, strict: false }).compile(schema);
const problemsOf = (config: unknown): string[] => {
  validate(config);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
};

const minimal = { name: 'A', theme: 'mint', colors: { primary: '#112233' }, navigation: { pages: ['index'] } };
const reference = {
  filesOf: () => [],
  pageOf: () => undefined,
  pagesOfAll: () => [],
  pagesOfChannels: () => [],
  pages: new Map(),
  preset: { names: [], directory: '' },
} as unknown as Parameters<typeof readNavigation>[4];

/** The findings of the code that reads `docs.json` about its form. */
function findingsOf(config: JsonObject): Diagnostic[] {
  const found: Diagnostic[] = [];
  readSettings(config, 'docs.json', (one) => found.push(one));
  readNavigation(
    config['navigation'],
    'docs.json',
    (path) => path,
    (one) => found.push(one),
    reference,
  );
  return found.filter(({ code }) => /^(bad-setting|unknown-setting|bad-navigation-entry)$/.test(code));
}

const projects = ['mintlify-docs', 'meilisearch', 'turso-docs', 'fastmcp'].map((name) =>
  join(sharedFolder, 'corpus', name),
);
const own = join(import.meta.dirname, '../../../infra/docs');

describe('the schema of docs.json', () => {
  it.each([own, ...projects.filter((folder) => existsSync(folder))])('accepts the one of %s', (folder) => {
    expect(problemsOf(JSON.parse(readFileSync(join(folder, 'docs.json'), 'utf8')))).toEqual([]);
  });

  it('needs what a project needs, and knows the names at the top', () => {
    expect(problemsOf(minimal)).toEqual([]);
    expect(problemsOf({ $ref: './other.json' })).toEqual([]);
    for (const key of ['name', 'theme', 'colors', 'navigation']) {
      const { [key]: _, ...others } = minimal as JsonObject;
      expect(problemsOf(others), key).not.toEqual([]);
    }
    expect(problemsOf({ ...minimal, colours: {} })).toEqual([' must NOT have additional properties']);
    expect(
      problemsOf({ ...minimal, colors: { $ref: './colors.json' }, navbar: { links: { $ref: './links.json' } } }),
    ).toEqual([]);
  });

  it('has a description of everything', () => {
    const without: string[] = [];
    const visit = (name: string, value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      const { properties = {}, anyOf = [], items } = value as typeof schema;
      for (const [key, inner] of Object.entries(properties)) {
        const own = typeof inner === 'object' && 'description' in inner ? inner.description : '';
        const isOfValue = ['light', 'dark', '$ref'].includes(key);
        if (!isOfValue && !/^[A-Z`].*[.]$/s.test(own)) without.push(`${name}.${key}`);
        visit(`${name}.${key}`, inner);
      }
      for (const each of anyOf) visit(name, each);
      visit(name, items);
    };
    visit('', schema);
    for (const [kind, node] of Object.entries(schema.definitions ?? {})) visit(kind, node);
    expect(without).toEqual([]);
  });

  it('agrees with the code that reads docs.json on generated ones', () => {
    const counts = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(generatedConfig, (config) => {
        const isAccepted = problemsOf(config).length === 0;
        counts[isAccepted ? 'accepted' : 'refused'] += 1;
        expect({ isAccepted, findings: findingsOf(config).length === 0 }).toEqual({ isAccepted, findings: isAccepted });
      }),
      { numRuns: 400, seed: 37 },
    );
    expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(40);
  });

  it('knows every key that the code reads', async () => {
    const asked = new Set<string>();
    const config = recorded(fullConfig(), '', asked) as JsonObject;
    readSettings(config, 'docs.json', () => undefined);
    readNavigation(
      config['navigation'],
      'docs.json',
      (path) => path,
      () => undefined,
      reference,
    );
    readRedirects(
      config['redirects'],
      'docs.json',
      () => false,
      () => undefined,
    );
    readSynonyms(config['search'], 'docs.json', () => undefined);
    await readFonts(config['fonts'], 'docs.json', { files: [], read: async () => new Uint8Array() }, () => undefined);
    const unknown = [...asked].filter((path) => !isInSchema(path) && !olderNames.test(path));
    expect(unknown).toEqual([]);
    expect(asked.size).toBeGreaterThan(80);
  });
});

test('values fit a schema exactly if a validator of JSON Schema says so', () => {
  const kinds = [...settingShapes.values()].flatMap((shape) => supportsIn(shape)).map(({ value }) => value.schema);
  const validators = new Map(kinds.map((one) => [one, new Ajv({ strict: false }).compile(one)]));
  fc.assert(
    fc.property(fc.constantFrom(...validators), anyValue, ([one, isValid], value) => {
      expect(fits(value, one)).toBe(isValid(value));
    }),
    { numRuns: 300, seed: 5 },
  );
});

/** Names of earlier formats that are read without being offered. `null` keys of lists are their lengths and items. */
const olderNames =
  /\.(?:headings|collapsed|page|title|name|label|length|map|filter|flatMap|slice|toJSON|then|trim|constructor)$|\.light$|\.dark$|socials\.|variables\.|metatags\.|items\.|\.rawJSON$|^integrations\.[a-z\d]+\.|^contextual\.options\.|fonts\.(?:heading|body)\.|thumbnails\.fonts\.|^search\.synonyms\./;

function isInSchema(path: string): boolean {
  const [top = '', ...parts] = path.split('.');
  if (top === 'navigation') {
    const key = parts.at(-1) ?? '';
    return (
      ['root', ...nodeKinds].some((kind) => fieldsOfNode(kind as NodeKind).has(key)) ||
      parts.length === 0 ||
      key === 'source' ||
      key === 'directory'
    );
  }
  let at: Pick<SettingShape, 'inner'> = { inner: new Map(settingShapes) };
  for (const part of [top, ...parts]) {
    const next = at.inner.get(part);
    if (next === undefined && /^\d+$/.test(part)) continue;
    if (next === undefined) return part === '$schema';
    at = next;
  }
  return true;
}

/** A copy that notes the path of each own or missing text key that is asked for. */
function recorded(value: JsonValue, path: string, asked: Set<string>): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  const copy = Array.isArray(value)
    ? value.map((item, at) => recorded(item, `${path}.${at}`, asked))
    : Object.fromEntries(
        Object.entries(value).map(([key, item]) => [key, recorded(item, path === '' ? key : `${path}.${key}`, asked)]),
      );
  const handler: ProxyHandler<typeof copy> = {
    get(target, key, receiver) {
      if (typeof key === 'string' && !Array.isArray(target)) asked.add(path === '' ? key : `${path}.${key}`);
      return Reflect.get(target, key, receiver) as unknown;
    },
  };
  return new Proxy(copy, handler);
}

const supportsIn = ({ support, inner }: SettingShape): Support[] => [
  ...(support === undefined ? [] : [support]),
  ...[...inner.values()].flatMap(supportsIn),
];

/** A value of the schema. */
function valueOf({ enum: values, pattern, type, anyOf, items }: ValueSchema): JsonValue {
  if (values !== undefined) return values[0] ?? '';
  if (pattern !== undefined) return '#aabbcc';
  if (anyOf !== undefined) return valueOf(anyOf[0] ?? {});
  const [kind] = [type ?? 'string'].flat();
  if (kind === 'array') return items === undefined ? [] : [valueOf(items)];
  return { string: 'https://a.example', number: 400, boolean: true, object: {} }[kind ?? ''] ?? 'text';
}

function settingOf({ support, isList, inner }: SettingShape): JsonValue {
  if (inner.size === 0) return valueOf(support?.value.schema ?? {});
  const object = Object.fromEntries([...inner].map(([key, shape]) => [key, settingOf(shape)]));
  return isList ? [object] : object;
}

/** A configuration with every setting, and with every field of every node. */
function fullConfig(): JsonObject {
  const nodeOf = (kind: NodeKind): JsonObject => ({
    ...Object.fromEntries(
      [...fieldsOfNode(kind)]
        .filter(([key]) => !nodeLists.has(key))
        .map(([key, { value }]) => [key, valueOf(value.schema)]),
    ),
    pages: ['index'],
    hidden: false,
    href: 'https://a.example',
  });
  const lists = [...nodeLists].map(([key, kind]) => [key, [nodeOf(kind)]] as const);
  return {
    ...Object.fromEntries([...settingShapes].map(([key, shape]) => [key, settingOf(shape)])),
    navigation: { ...Object.fromEntries(lists), pages: ['index'], global: {} },
  };
}

const anyValue: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom<JsonValue>('', 'dark', 'mint', 'system', '#abc', '#abcdef', 'red', 'https://a.example', '/x.svg'),
  fc.constantFrom<JsonValue>(0, 400, -1, true, false, [], {}, ['a'], [1], [[]], [{}], [['a', 'b']]),
  fc.constantFrom<JsonValue>({ light: '#fff' }, { light: 'x', dark: 1 }, { light: true }, { a: 'b' }, { a: [] }),
);

/** One setting with a value that may be wrong. */
const oneSetting: fc.Arbitrary<JsonObject> = fc
  .constantFrom(...settingShapes)
  .chain(([key, shape]) => generatedIn(shape).map((value) => ({ [key]: value })));

function generatedIn(shape: SettingShape): fc.Arbitrary<JsonValue> {
  const { support, isList, inner } = shape;
  if (inner.size === 0) return fc.oneof(anyValue, fc.constant(valueOf(support?.value.schema ?? {})));
  const object: fc.Arbitrary<JsonValue> = fc
    .constantFrom(...inner)
    .chain(([key, next]) => generatedIn(next).map((value) => ({ [key]: value })));
  const written = isList ? fc.array(object, { maxLength: 2 }) : object;
  return fc.oneof({ arbitrary: written, weight: 8 }, { arbitrary: anyValue, weight: 1 });
}

const generatedNode = (kind: NodeKind | 'root', depth: number): fc.Arbitrary<JsonObject> =>
  fc
    .uniqueArray(fc.constantFrom(...fieldsOfNode(kind)), { minLength: 1, maxLength: 3, selector: ([key]) => key })
    .chain((fields) =>
      fc.tuple(
        ...fields.map(([key, { value }]) => {
          const inner = nodeLists.get(key);
          if (key === 'global') return generatedNode('root', depth + 1).map((node) => [key, node] as const);
          if (key === 'pages' || (inner !== undefined && depth < 3)) {
            const entry = fc.oneof(
              fc.constant('index'),
              generatedNode(inner ?? 'group', depth + 1),
              fc.constantFrom<JsonValue>(1, true),
            );
            const node = generatedNode(inner ?? 'group', depth + 1);
            const entries =
              inner === undefined || inner === 'group'
                ? entry
                : fc.oneof({ arbitrary: node, weight: 6 }, { arbitrary: fc.constant<JsonValue>('x'), weight: 1 });
            return fc.array(entries as fc.Arbitrary<JsonValue>, { maxLength: 2 }).map((list) => [key, list] as const);
          }
          const good = fc.constant(valueOf(value.schema));
          return fc
            .oneof({ arbitrary: good, weight: 6 }, { arbitrary: anyValue, weight: 1 })
            .map((one) => [key, one] as const);
        }),
      ),
    )
    .map((entries) => ({ ...Object.fromEntries(entries), ...(kind !== 'root' && { [kind]: 'Name' }) }));

const generatedConfig: fc.Arbitrary<JsonObject> = fc
  .tuple(
    fc.array(oneSetting, { maxLength: 3 }),
    fc.oneof(fc.constant<JsonObject>({}), generatedNode('root', 0)),
    fc.oneof({ arbitrary: fc.constant({}), weight: 9 }, { arbitrary: fc.constant({ colours: {} }), weight: 1 }),
  )
  .map(([settings, navigation, other]) => {
    // A project without a name is refused before its settings are read.
    const config: JsonObject = Object.assign({}, minimal, ...settings, { name: 'A', navigation }, other) as JsonObject;
    const { colors } = config;
    // The code that reads a colour reports one that is missing with another code.
    return typeof colors === 'object' && colors !== null && !Array.isArray(colors)
      ? { ...config, colors: { primary: '#112233', ...colors } }
      : config;
  });
