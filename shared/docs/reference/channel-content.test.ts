import { describe, expect, test } from 'vitest';
import { testProject } from '#shared/docs/render/test-project.ts';
import type { JsonObject } from '#shared/docs/project/json-values.ts';

const settings = { name: 'Test', theme: 'mint', colors: { primary: '#0f766e' } };
const docs = (navigation: unknown, more: object = {}) => JSON.stringify({ ...settings, navigation, ...more });

const schemas = `
    Light:
      type: object
      required: [id]
      properties:
        id: { type: string, format: uuid }
        lumens: { type: integer, minimum: 0, description: How *bright*. }
        next: { $ref: '#/components/schemas/Light' }
    Command:
      oneOf:
        - { title: Turn on, type: object, required: [on], properties: { on: { const: true } } }
        - { title: Dim, type: object, properties: { percent: { type: integer, maximum: 100 } } }`;

const securitySchemes = `
  securitySchemes:
    token: { type: httpApiKey, in: query, name: token, description: From your account. }
    login: { type: userPassword }
    oauth: { type: oauth2, flows: {} }`;

const version3 = `asyncapi: 3.0.0
info: { title: Lights, version: 1.0.0 }
servers:
  production:
    host: '{region}.example.com'
    pathname: /live
    protocol: wss
    description: The real one
    variables: { region: { default: eu } }
    security: [{ $ref: '#/components/securitySchemes/token' }]
  test: { host: 'test.example.com:1883', protocol: mqtt, security: [{ $ref: '#/components/securitySchemes/login' }] }
channels:
  light:
    address: lights/{street}
    title: A street light
    description: Commands and measured values.
    parameters: { street: { description: Its name., enum: [main, side], default: main } }
    messages:
      measured: { $ref: '#/components/messages/measured' }
      command: { $ref: '#/components/messages/command' }
    bindings: { ws: { method: GET, query: { type: object, properties: { since: { type: string } } }, bindingVersion: 0.1.0 } }
  quiet: { address: quiet, x-hidden: true }
  secret: { address: secret, x-excluded: true }
  plain: { messages: { only: { payload: { schemaFormat: 'application/vnd.apache.avro;version=1.9.0', schema: { type: record, name: Only } } } } }
operations:
  measure:
    action: send
    channel: { $ref: '#/channels/light' }
    messages: [{ $ref: '#/channels/light/messages/measured' }]
  command:
    action: receive
    channel: { $ref: '#/channels/light' }
    summary: Tell a light what to do.
    security: [{ $ref: '#/components/securitySchemes/oauth' }]
    messages: [{ $ref: '#/channels/light/messages/command' }]
    reply: { address: { location: '$message.header#/replyTo' }, messages: [{ $ref: '#/channels/light/messages/measured' }] }
components:
  messages:
    measured:
      title: Light measured
      summary: A value that a light measured.
      contentType: application/json
      traits: [{ headers: { type: object, required: [trace], properties: { trace: { type: string } } } }]
      payload: { $ref: '#/components/schemas/Light' }
      bindings: { mqtt: { payloadFormatIndicator: 1 } }
    command: { payload: { $ref: '#/components/schemas/Command' }, examples: [{ name: On, payload: { on: true } }] }
  schemas:${schemas}${securitySchemes}
`;

const version2 = `asyncapi: 2.6.0
info: { title: Lights, version: 1.0.0 }
defaultContentType: application/json
servers:
  production: { url: 'broker.example.com:{port}', protocol: kafka, variables: { port: { default: '9092' } }, security: [{ login: [] }] }
  other: { url: other.example.com, protocol: kafka }
channels:
  lights/{street}:
    servers: [production]
    description: Commands and measured values.
    parameters: { street: { description: Its name., schema: { type: string, minLength: 3 } } }
    publish:
      operationId: sendCommand
      message:
        oneOf:
          - { name: command, payload: { $ref: '#/components/schemas/Command' } }
          - { $ref: '#/components/messages/stop' }
    subscribe:
      operationId: onMeasured
      bindings: { kafka: { groupId: { type: string, enum: [mine] } } }
      message:
        title: Light measured
        headers: { type: object, properties: { trace: { type: string } } }
        payload: { $ref: '#/components/schemas/Light' }
components:
  messages:
    stop: { summary: Stop., payload: { type: 'null' } }
  schemas:${schemas}${securitySchemes}
`;

async function pageOf(specification: string, channel: string, page = '') {
  const project = await testProject({
    'docs.json': docs({ pages: ['page'] }),
    'page.mdx': `---\nasyncapi: "/events.yaml ${channel}"\n---\n${page}`,
    'events.yaml': specification,
  });
  const { files, page: rendered } = project.render('page');
  const [html = '', markdown = ''] = files.map(({ body }) => Buffer.from(body).toString());
  const codes = [...project.model.diagnostics, ...rendered.diagnostics].map(({ code }) => code);
  return { html, markdown, anchors: rendered.anchors, codes };
}

describe('a page of a channel', () => {
  test.each([
    ['3', version3, 'light'],
    ['2', version2, 'lights/{street}'],
  ])('shows what AsyncAPI %s says', async (_version, specification, channel) => {
    const { html, markdown, codes } = await pageOf(specification, channel);
    expect(codes).toEqual([]);
    expect(html).not.toMatch(/\[object Object\]|\$ref/);
    expect(markdown).toMatchSnapshot();
  });

  test('has an address for each message and field, and marks required ones', async () => {
    const { html, anchors } = await pageOf(version3, 'light');
    expect(new Set(anchors).size).toBe(anchors.length);
    expect(anchors).toEqual(
      expect.arrayContaining(['send-messages', 'receive-measure-measured', 'command-reply-measured-id']),
    );
    expect(html).toMatch(/id="command-reply-measured-id">.{1,300}field-required/s);
    expect(html).toContain(
      '<span class="method method-wss">WSS / MQTT</span><code tabindex="0">lights/{street}</code>',
    );
  });

  test('shows messages without an operation, with a payload that is not a schema as written', async () => {
    const { markdown } = await pageOf(version3, 'plain');
    expect(markdown).toContain('## Messages\n');
    expect(markdown).toContain('"type": "record"');
  });

  test('is overridden by content of its author', async () => {
    const own =
      '\nMine.\n\n<ParamField path="street">Whose.</ParamField>\n\n<ResponseExample>\n```json Mine\n{}\n```\n</ResponseExample>\n';
    const { markdown } = await pageOf(version3, 'lights/{street}', own);
    expect(markdown.match(/`street`/g)).toHaveLength(1);
    expect(markdown.match(/^```\w+.*$/gm)).toEqual(['```json Mine', '```json title="command"']);
  });

  test('has no operation or reply that only some of its readers may see', async () => {
    const channel = { $ref: '#/channels/light' };
    const operation = (summary: string, more: object = {}) => ({ action: 'send', channel, summary, ...more });
    const document = {
      asyncapi: '3.0.0',
      channels: {
        light: { address: 'lights' },
        hushed: { address: 'hushed', 'x-excluded': true, messages: { hushed: {} } },
        staff: { address: 'hushed', 'x-mint': { groups: ['staff'] }, messages: { hushed: {} } },
      },
      operations: {
        open: operation('Open to all'),
        ofGroup: operation('Hushed', { 'x-mint': { groups: ['staff'] } }),
        answered: operation('Answered', { reply: { channel: { $ref: '#/channels/hushed' } } }),
        answeredToStaff: operation('Also answered', { reply: { channel: { $ref: '#/channels/staff' } } }),
      },
    };
    const { html } = await pageOf(JSON.stringify(document), 'light');
    expect(html).toMatch(/Open to all.*Answered.*Also answered/s);
    expect(html).not.toMatch(/hushed/i);
  });

  test('is missing for an unknown channel, which is reported', async () => {
    expect((await pageOf(version3, 'none')).codes).toEqual(['asyncapi-channel-missing']);
    expect((await pageOf(version3, 'secret')).codes).toEqual(['asyncapi-channel-missing']);
  });

  test('cannot put tags into the page, whatever its description says', async () => {
    const hostile: JsonObject = {
      asyncapi: '3.0.0',
      servers: { a: { host: '<img src=x onerror=alert(1)>', protocol: '<script>alert(1)</script>' } },
      channels: {
        light: {
          address: '<svg onload=alert(1)>',
          description: '<script>alert(1)</script>\n\n[x](javascript:alert(1))',
          messages: { '"><script>': { payload: { type: '<i>', properties: { '<script>': {} } } } },
          bindings: { '<script>': { '<script>': '<script>' } },
        },
      },
      operations: {
        1: 2,
        3: { channel: { $ref: 7 }, messages: 'x' },
        4: { channel: { $ref: '#/channels/light' }, traits: 1 },
      },
    };
    const { html } = await pageOf(JSON.stringify(hostile), 'light');
    expect(html).not.toMatch(/<script>(?:alert|<)|<img|<svg onload|<[^>]*javascript:/);
  });
});

test('pages are made for all channels of a file, in the folder that the node names', async () => {
  const { model, render } = await testProject({
    'docs.json': docs({
      groups: [
        { group: 'Events', asyncapi: { source: '/apis', directory: 'events' } },
        { group: 'Guide', pages: ['index'] },
      ],
    }),
    'index.mdx': 'Hello',
    'apis/two.yaml': version2,
    'apis/three.yaml': version3,
    'apis/other.json': JSON.stringify({ openapi: '3.0.0', paths: {} }),
  });
  expect(model.diagnostics).toEqual([]);
  expect(model.pages.map(({ path, title, hidden, inNavigation }) => [path, title, hidden, inNavigation])).toEqual([
    ['events/a-street-light', 'A street light', false, true],
    ['events/lights-street', 'lights/{street}', false, true],
    ['events/plain', 'plain', false, true],
    ['events/quiet', 'quiet', false, false],
    ['index', 'Index', false, true],
  ]);
  expect(model.pages[0]).toMatchObject({ description: 'Commands and measured values.', file: 'apis/three.yaml' });
  const html = Buffer.from(render('events/a-street-light').files[0]?.body ?? '').toString();
  expect(html).toContain('wss://eu.example.com/live');
});
