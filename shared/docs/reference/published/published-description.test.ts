import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { publishedDescription } from './published-description.ts';

const schema = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const answer = (name: string) => ({
  responses: { 200: { description: 'ok', content: { 'application/json': { schema: schema(name) } } } },
});
const description = () => ({
  openapi: '3.1.0',
  info: { title: 'T', version: '1' },
  tags: [{ name: 'Users' }, { name: 'Internal', description: 'What the secret team does' }],
  paths: {
    '/users': {
      summary: 'Users',
      get: {
        operationId: 'listUsers',
        tags: ['Users'],
        responses: {
          200: {
            description: 'ok',
            content: { 'application/json': { schema: schema('User') } },
            links: { next: { operationId: 'secretOperation' }, same: { operationId: 'listUsers' } },
          },
        },
      },
      post: { operationId: 'makeUser', tags: ['Users'], 'x-mint': { groups: ['admins'] }, ...answer('Draft') },
    },
    '/secret': { get: { operationId: 'secretOperation', tags: ['Internal'], 'x-excluded': true, ...answer('Secret') } },
    '/all': { 'x-excluded': true, get: { operationId: 'all', ...answer('User') } },
    '/left': { get: { operationId: 'left', ...answer('Left') } },
  },
  webhooks: { secretHook: { post: { 'x-excluded': true, operationId: 'secretHook' } } },
  components: {
    schemas: {
      User: { type: 'object', properties: { name: { type: 'string' }, pet: schema('Pet') } },
      Pet: { oneOf: [schema('Dog')], discriminator: { propertyName: 'kind', mapping: { dog: 'Dog' } } },
      Dog: { type: 'object' },
      Secret: { type: 'object', properties: { inner: schema('SecretInner'), user: schema('User') } },
      SecretInner: { type: 'object' },
      Draft: { type: 'object' },
      Left: { type: 'object' },
      Orphan: { type: 'object', properties: { part: schema('OrphanPart') } },
      OrphanPart: { maximum: 9_007_199_254_740_991 },
    },
    securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
  },
});

type Described = ReturnType<typeof description>;
const publish = (document: object, readers: { groups?: string[]; leftOut?: string[] } = {}) => {
  const made = publishedDescription(Buffer.from(JSON.stringify(document)), 'a.json', {
    groups: readers.groups ?? [],
    leftOut: readers.leftOut ?? [],
  });
  return made && (JSON.parse(Buffer.from(made).toString()) as Described);
};

test('excluded operations, those of other groups, and parts that only they refer to are not in the file', () => {
  const made = publish(description(), { leftOut: ['GET /left'] });
  expect(JSON.stringify(made)).not.toMatch(/secret|Internal|Draft|Left|makeUser/i);
  expect(Object.keys(made?.paths ?? {})).toEqual(['/users']);
  expect(made?.paths['/users']).toMatchObject({ summary: 'Users', get: { operationId: 'listUsers' } });
  expect(Object.keys(made?.components.schemas ?? {})).toEqual(['User', 'Pet', 'Dog', 'Orphan', 'OrphanPart']);
  expect(made?.components.securitySchemes).toEqual(description().components.securitySchemes);
  expect(made?.tags).toEqual([{ name: 'Users' }]);
  expect(made?.paths['/users'].get.responses[200].links).toEqual({ same: { operationId: 'listUsers' } });
});

test('operations of requested groups stay', () => {
  const made = publish(description(), { groups: ['admins'] });
  expect(Object.keys(made?.paths ?? {})).toEqual(['/users', '/left']);
  expect(made?.paths['/users'].post.operationId).toBe('makeUser');
  expect(made?.components.schemas).toHaveProperty('Draft');
});

test('a schema is removed if all its pages are left out, unless another part refers to it', () => {
  const { paths, ...rest } = description();
  const open = { ...rest, webhooks: {}, paths: { '/users': { get: paths['/users'].get } } };
  const made = publish(open, { leftOut: ['Orphan', 'Dog'] });
  expect(Object.keys(made?.components.schemas ?? {})).not.toContain('Orphan');
  expect(Object.keys(made?.components.schemas ?? {})).toContain('Dog');
});

test('a file without parts to remove stays unchanged', () => {
  const { '/users': users } = description().paths;
  expect(publish({ ...description(), webhooks: {}, paths: { '/users': { get: users.get } } })).toBeUndefined();
});

test('a file that cannot be read becomes empty if it may have parts that not everybody may read', () => {
  const published = (bytes: Buffer, file = 'a.json') =>
    Buffer.from(publishedDescription(bytes, file, { groups: [], leftOut: [] }) ?? 'unchanged').toString();
  const cut = '{"openapi": "3.1.0", "paths": {"/hushed": {"x-excluded": true';
  expect(published(Buffer.from(cut))).toBe('{}\n');
  expect(published(Buffer.from(cut, 'utf16le'))).toBe('{}\n');
  expect(published(Buffer.from(cut.replace('x-excluded', 'x-hidden')))).toBe('{}\n');
  expect(published(Buffer.from('openapi: 3.1.0\n\tpaths: { x-mint: { groups: [staff] } }'), 'a.yaml')).toBe('{}\n');
  expect(published(Buffer.from(cut + ' '.repeat(16 * 1024 * 1024)))).toBe('{}\n');
  expect(published(Buffer.from('{"openapi": "3.1.0", "paths": {'))).toBe('unchanged');
});

test('digits of numbers stay, and so do keys that are names of prototypes', () => {
  const text = JSON.stringify(description()).replace('9007199254740991', '9007199254740993');
  const odd = text.replace(
    '"/users":',
    '"__proto__":{"get":{"x-excluded":true},"put":{"operationId":"kept"}},"/users":',
  );
  const made = publishedDescription(Buffer.from(odd), 'a.json', { groups: [], leftOut: [] });
  const written = Buffer.from(made ?? '').toString();
  expect(written).toContain('"maximum": 9007199254740993');
  expect(written).toMatch(/"__proto__": \{\s+"put": \{\s+"operationId": "kept"/);
});

test('parts are removed from YAML, Swagger 2 and AsyncAPI too', () => {
  const yaml = `swagger: '2.0'
paths:
  /a: { get: { responses: { '200': { description: ok, schema: { $ref: '#/definitions/A' } } } } }
  /b: { get: { x-excluded: true, responses: { '200': { description: ok, schema: { $ref: '#/definitions/B' } } } } }
definitions: { A: { type: object }, B: { type: object } }
`;
  const made = publishedDescription(Buffer.from(yaml), 'a.yaml', { groups: [], leftOut: [] });
  expect(load(Buffer.from(made ?? '').toString())).toMatchObject({
    paths: { '/a': { get: {} } },
    definitions: { A: { type: 'object' } },
  });
  expect(Buffer.from(made ?? '').toString()).not.toMatch(/\/b|B:/);
  const channels = publish({
    asyncapi: '3.0.0',
    channels: { open: { address: 'open' }, secret: { address: 'hush', 'x-excluded': true } },
    operations: { sendHush: { action: 'send', channel: { $ref: '#/channels/secret' } } },
  });
  expect(channels).toEqual({ asyncapi: '3.0.0', channels: { open: { address: 'open' } }, operations: {} });
});

test('callbacks, security schemes, references and tag groups do not reveal excluded parts', () => {
  const hushed = { 'x-excluded': true, operationId: 'hushed', ...answer('Hushed') };
  const made = publish({
    openapi: '3.1.0',
    tags: [{ name: 'open' }, { name: 'hushed' }],
    'x-tagGroups': [
      { name: 'hushed group', tags: ['hushed'] },
      { name: 'all', tags: ['open', 'hushed'] },
      { name: 'empty', tags: [] },
    ],
    security: [{ key: [] }],
    paths: {
      '/open': {
        get: {
          tags: ['open'],
          callbacks: {
            both: { '{$url}': { post: hushed, put: { operationId: 'kept', ...answer('Open') } } },
            hushedAlone: { '{$url}': { 'x-excluded': true, post: { operationId: 'hushedToo' } } },
            named: { $ref: '#/components/callbacks/HushedCallback' },
          },
          responses: {
            200: {
              description: 'ok',
              links: { a: { operationRef: '#/paths/~1hushed%7Bid%7D/get' }, b: { operationRef: '#/paths/~1open/get' } },
            },
          },
        },
      },
      '/hushed{id}': { get: { ...hushed, tags: ['hushed'], security: [{ hushedKey: [] }, { shared: [] }] } },
      '/shared': { get: { operationId: 'shared', security: [{ shared: [] }] } },
      '/named': { $ref: '#/components/pathItems/Hushed' },
    },
    components: {
      schemas: { Hushed: { type: 'object' }, Open: { type: 'object' } },
      callbacks: { HushedCallback: { '{$url}': { post: hushed } } },
      pathItems: { Hushed: { get: { 'x-excluded': true, operationId: 'hushedItem' } } },
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer' },
        shared: { type: 'http', scheme: 'basic' },
        unused: { type: 'http', scheme: 'digest' },
        hushedKey: { type: 'apiKey', in: 'header', name: 'X-Hushed' },
      },
    },
  });
  expect(JSON.stringify(made)).not.toMatch(/hushed/i);
  expect(made).toMatchObject({
    tags: [{ name: 'open' }],
    'x-tagGroups': [
      { name: 'all', tags: ['open'] },
      { name: 'empty', tags: [] },
    ],
    paths: { '/open': { get: { callbacks: { both: { '{$url}': { put: { operationId: 'kept' } } } } } } },
    components: { schemas: { Open: {} } },
  });
  const get = made?.paths as unknown as { '/open': { get: { responses: { 200: { links: object } } } } };
  expect(Object.keys(get['/open'].get.responses[200].links)).toEqual(['b']);
  expect(Object.keys(made?.components.securitySchemes ?? {})).toEqual(['key', 'shared', 'unused']);
});

test('operations of AsyncAPI that are excluded go, in versions 2 and 3', () => {
  const newer = publish({
    asyncapi: '3.0.0',
    channels: { open: { address: 'open' }, hushed: { 'x-excluded': true } },
    operations: {
      sendHushed: { action: 'send', channel: { $ref: '#/channels/open' }, 'x-excluded': true },
      ask: { action: 'send', channel: { $ref: '#/channels/open' }, reply: { channel: { $ref: '#/channels/hushed' } } },
    },
  });
  expect(newer).toEqual({
    asyncapi: '3.0.0',
    channels: { open: { address: 'open' } },
    operations: { ask: { action: 'send', channel: { $ref: '#/channels/open' }, reply: {} } },
  });
  const older = publish({
    asyncapi: '2.6.0',
    channels: { open: { publish: { operationId: 'hushed', 'x-excluded': true }, subscribe: { operationId: 'kept' } } },
  });
  expect(older).toEqual({ asyncapi: '2.6.0', channels: { open: { subscribe: { operationId: 'kept' } } } });
});

test('excluded parts are also removed from places that get no page', () => {
  const hushed = { 'x-excluded': true, operationId: 'hushed', ...answer('Hushed') };
  const made = publish({
    openapi: '3.2.0',
    paths: {
      '/open': { get: { operationId: 'kept' }, additionalOperations: { COPY: hushed, MOVE: { operationId: 'move' } } },
      '/upper': { GET: hushed, get: { operationId: 'lower' } },
    },
    'x-webhooks': { items: { post: hushed }, kept: { post: { operationId: 'hook' } } },
    components: {
      pathItems: { Unused: { post: hushed, put: { 'x-mint': { groups: { hushed: true } }, operationId: 'hushed' } } },
      schemas: { Hushed: { type: 'object' }, Named: { properties: { 'x-excluded': true } } },
    },
  });
  expect(JSON.stringify(made)).not.toMatch(/hushed/i);
  expect(made).toMatchObject({
    paths: {
      '/open': { get: { operationId: 'kept' }, additionalOperations: { MOVE: {} } },
      '/upper': { get: { operationId: 'lower' } },
    },
    'x-webhooks': { kept: { post: { operationId: 'hook' } } },
    components: { schemas: { Named: { properties: { 'x-excluded': true } } } },
  });
});

test('channels of AsyncAPI are found through references, and operations of excluded channels and traits go', () => {
  const made = publish({
    asyncapi: '3.0.0',
    channels: {
      open: { address: 'open', 'x-note': 'kept' },
      chain: { $ref: '#/components/channels/one' },
      slash: { $ref: '#/components/channels/hushed~1b' },
      extension: { $ref: '#/x-channels/hushed' },
    },
    operations: {
      ofChain: { action: 'send', channel: { $ref: '#/channels/chain' }, summary: 'hushed' },
      ofComponent: { action: 'send', channel: { $ref: '#/components/channels/two' }, summary: 'hushed' },
      ofTrait: {
        action: 'send',
        channel: { $ref: '#/channels/open' },
        traits: [{ $ref: '#/components/operationTraits/t' }],
        summary: 'hushed',
      },
      named: { $ref: '#/components/operations/hushed' },
      kept: { action: 'send', channel: { $ref: '#/channels/open' } },
    },
    'x-channels': { hushed: { 'x-excluded': true } },
    components: {
      channels: {
        one: { $ref: '#/components/channels/two' },
        two: { 'x-excluded': true, address: 'hushed' },
        'hushed/b': { 'x-excluded': true },
      },
      operations: { hushed: { 'x-excluded': true, channel: { $ref: '#/channels/open' } } },
      operationTraits: { t: { 'x-mint': { groups: ['hushed'] } } },
    },
  });
  expect(JSON.stringify(made)).not.toMatch(/hushed|chain|slash/i);
  expect(made).toMatchObject({
    channels: { open: { address: 'open' } },
    operations: { kept: { channel: { $ref: '#/channels/open' } } },
  });
  const older = publish({
    asyncapi: '2.6.0',
    channels: { items: { publish: { operationId: 'hushed', traits: [{ 'x-excluded': true }] }, subscribe: {} } },
  });
  expect(older).toEqual({ asyncapi: '2.6.0', channels: { items: { subscribe: {} } } });
});
