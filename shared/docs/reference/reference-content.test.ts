import { describe, expect, test } from 'vitest';
import { testProject } from '#shared/docs/render/test-project.ts';

const settings = { name: 'Test', theme: 'mint', colors: { primary: '#0f766e' } };

/** The page of an operation: its Markdown without the head, its HTML and the codes of its diagnostics. */
async function pageOf(operation: string, rest = '', page = '---\nopenapi: POST /things\n---\n') {
  const indented = operation.trim().replaceAll(/^/gm, '      ');
  const project = await testProject({
    'docs.json': JSON.stringify({ ...settings, navigation: { pages: ['page'] } }),
    'page.mdx': page,
    'api.yaml': `openapi: 3.1.0\nservers: [{ url: 'https://api.example.com/v1' }]\npaths:\n  /things:\n    post:\n${indented}\n${rest}`,
  });
  const { files, page: rendered } = project.render('page');
  const markdown = Buffer.from(files[1]?.body ?? '').toString();
  const html = Buffer.from(files[0]?.body ?? '').toString();
  return {
    html,
    below: markdown.slice(markdown.indexOf('\n\n') + 2),
    withoutCode: markdown
      .slice(markdown.indexOf('\n\n') + 2)
      .replaceAll(/```[\s\S]*?```\s*/g, '')
      .trim(),
    anchors: rendered.anchors,
    codes: [...project.model.diagnostics, ...rendered.diagnostics].map(({ code }) => code),
  };
}

/** A request body with this schema. */
const bodyOf = (schema: string) =>
  `requestBody:\n  content:\n    application/json:\n      schema:\n${schema.trim().replaceAll(/^/gm, '        ')}`;

const components = `components:
  schemas:
    Category:
      type: object
      required: [name]
      properties:
        name: { type: string }
        parent: { $ref: '#/components/schemas/Category' }
        children: { type: array, items: { $ref: '#/components/schemas/Category' } }
    Cat: { title: A cat, type: object, required: [meow], properties: { meow: { type: boolean } } }
    Dog: { type: object, properties: { bark: { type: string, enum: [loud, soft] } } }
    Named: { type: object, required: [name], properties: { name: { type: string, description: Its name. } } }
`;

const constructs: [name: string, operation: string][] = [
  [
    'parameters',
    `parameters:
  - { name: id, in: path, required: true, schema: { type: string, format: uuid } }
  - { name: limit, in: query, description: At *most* this many., schema: { type: integer, minimum: 1, maximum: 100, default: 20 } }
  - { name: X-Trace, in: header, deprecated: true, schema: { type: string }, example: abc }
  - { name: session, in: cookie, required: true, schema: { type: string } }`,
  ],
  [
    'media types',
    'requestBody:\n  required: true\n  description: What to make.\n  content:\n    application/json: { schema: { $ref: "#/components/schemas/Named" } }\n    multipart/form-data: { schema: { type: object, properties: { file: { type: string, format: binary } } } }',
  ],
  [
    'responses',
    'responses:\n  200:\n    description: Made\n    headers: { X-Rate: { required: true, schema: { type: integer } } }\n    content: { application/json: { schema: { type: array, items: { $ref: "#/components/schemas/Named" } } } }\n  4XX: { description: Wrong }\n  default: { description: Other }',
  ],
  ['recursion', bodyOf("$ref: '#/components/schemas/Category'")],
  [
    'oneOf',
    bodyOf(
      "oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }]\ndiscriminator: { propertyName: kind }",
    ),
  ],
  [
    'anyOf',
    bodyOf(
      "type: object\nproperties:\n  pet:\n    anyOf: [{ $ref: '#/components/schemas/Cat' }, { type: 'null' }]\n  id:\n    anyOf: [{ type: string }, { type: integer }]",
    ),
  ],
  [
    'allOf',
    bodyOf(
      "allOf:\n  - $ref: '#/components/schemas/Named'\n  - { type: object, required: [age], properties: { age: { type: integer } } }",
    ),
  ],
  [
    'enums',
    bodyOf(
      'type: object\nproperties:\n  size: { type: string, enum: [s, m, l], default: m }\n  kind: { const: thing }\n  level: { type: integer, enum: [1, 2], x-mint-enum: { "1": low, "2": high } }',
    ),
  ],
  [
    'constraints',
    bodyOf(
      'type: object\nproperties:\n  code: { type: string, minLength: 3, maxLength: 5, pattern: "^[A-Z]+$" }\n  tags: { type: array, items: { type: string }, maxItems: 4, uniqueItems: true }\n  share: { type: number, exclusiveMinimum: 0, multipleOf: 0.5 }\n  none: { type: [string, "null"], default: null }',
    ),
  ],
  [
    'deprecated and read-only',
    `${bodyOf('type: object\nproperties:\n  id: { type: string, readOnly: true }\n  old: { type: string, deprecated: true }\n  password: { type: string, writeOnly: true }')}
responses:
  200:
    description: Made
    content:
      application/json:
        schema:
          type: object
          properties:
            id: { type: string, readOnly: true }
            password: { type: string, writeOnly: true }`,
  ],
  ['maps', bodyOf('type: object\nadditionalProperties: { type: integer, description: How many. }')],
  [
    'kinds of security',
    'security: [{ basic: [] }, { header: [], cookie: [] }, { oauth: [read] }, { openId: [] }, { mutual: [] }, {}]',
  ],
  ['security', 'security: [{ bearer: [read, write] }, { key: [] }]'],
  [
    'servers',
    'servers:\n  - { url: "https://{region}.example.com", description: By region, variables: { region: { default: eu } } }\n  - { url: "https://test.example.com" }',
  ],
  [
    'callbacks',
    'callbacks:\n  done:\n    "{$request.body#/url}":\n      post:\n        requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/Named" } } } }\n        responses: { 204: { description: Heard } }',
  ],
  [
    'descriptions',
    'externalDocs: { url: "https://example.com/more", description: A longer guide }\ndescription: |\n  First.\n\n  ## Details\n\n  The [next page](/page), <b>tags</b> and `code`.\n\n  | a | b |\n  |---|---|\n  | 1 | 2 |',
  ],
];

const securitySchemes = `  securitySchemes:
    bearer: { type: http, scheme: bearer, description: A token. }
    key: { type: apiKey, in: query, name: api_key }
    basic: { type: http, scheme: basic }
    header: { type: apiKey, in: header, name: X-Key }
    cookie: { type: apiKey, in: cookie, name: session }
    oauth: { type: oauth2, description: Ask for a token., flows: { clientCredentials: { tokenUrl: 'https://example.com/token', scopes: { read: Reads. } } } }
    openId: { type: openIdConnect, openIdConnectUrl: 'https://example.com/.well-known/openid-configuration' }
    mutual: { type: mutualTLS, description: A certificate of yours. }
`;

describe('a page of an operation', () => {
  test.each(constructs)('shows %s', async (_name, operation) => {
    const { withoutCode, html, codes } = await pageOf(operation, components + securitySchemes);
    expect(codes).toEqual([]);
    expect(html).not.toMatch(/\[object Object\]|\$ref/);
    expect(withoutCode).toMatchSnapshot();
  });

  test('has an address for each field, and marks required ones', async () => {
    const { html, anchors } = await pageOf(bodyOf("$ref: '#/components/schemas/Category'"), components);
    expect(anchors).toEqual(['request-body', 'body-name', 'body-parent', 'body-children']);
    expect(html).toMatch(/id="body-name">.{1,300}field-required/s);
  });

  test('has the same request in eight languages, and answers', async () => {
    const operation = `parameters: [{ name: q, in: query, required: true, schema: { type: string }, example: a b }]
security: [{ bearer: [] }]
${bodyOf("$ref: '#/components/schemas/Named'")}
responses: { 201: { description: Made, content: { application/json: { schema: { $ref: '#/components/schemas/Named' } } } } }`;
    const { below } = await pageOf(operation, components + securitySchemes);
    const fences = below.slice(below.indexOf('```'));
    expect(fences.match(/^```\w+ title="[^"]*"$/gm)).toHaveLength(9);
    expect(fences).toMatchSnapshot();
  });

  test('serializes lists and objects of a sample as its parameters require, and keeps numbers within their bounds', async () => {
    const { below } = await pageOf(`parameters:
  - { name: filter, in: query, required: true, style: deepObject, schema: { type: object, properties: { from: { type: string, format: date } } } }
  - { name: ids, in: query, required: true, explode: false, schema: { type: array, items: { type: integer } }, example: [1, 2] }
  - { name: of, in: query, required: true, schema: { type: array, items: { type: string } }, example: [a, b] }
  - { name: json, in: query, required: true, content: { application/json: { schema: { type: object, properties: { a: { type: integer, maximum: 30 } } } } } }
  - { name: weight, in: query, required: true, schema: { type: number, minimum: 0, exclusiveMinimum: true, maximum: 5 } }`);
    expect(below).toContain("things?filter[from]=2023-12-25&ids=1,2&of=a&of=b&json=%7B%22a%22%3A30%7D&weight=5'");
  });

  test('is overridden by examples and parameters of its author', async () => {
    const operation =
      'parameters: [{ name: id, in: query, schema: { type: string } }, { name: more, in: query, schema: { type: string } }]';
    const page =
      '---\nopenapi: POST /things\n---\n\n<ParamField query="id" type="mine">Mine.</ParamField>\n\n<RequestExample>\n```bash\nmine\n```\n</RequestExample>\n';
    const { below } = await pageOf(operation, '', page);
    expect(below.match(/`id`/g)).toHaveLength(1);
    expect(below).toContain('`more`');
    expect(below.match(/```\w+/g)).toEqual(['```bash']);
  });

  test('shows the request first, even beside a response of its author', async () => {
    const page = '---\nopenapi: POST /things\n---\n\n<ResponseExample>\n```json\n{}\n```\n</ResponseExample>\n';
    const { html } = await pageOf('responses: { 200: { description: Done } }', '', page);
    expect(html.match(/request-example|response-example/g)).toEqual(['request-example', 'response-example']);
  });

  test('shows combinations of credentials, the addresses that issue tokens, and the descriptions of scopes', async () => {
    const flow =
      '{ authorizationUrl: "https://a.example/auth", tokenUrl: "https://a.example/token", scopes: { read: Reads all., write: Writes. } }';
    const schemes = `components: { securitySchemes: { token: { type: http, scheme: bearer }, key: { type: apiKey, in: header, name: X-Key }, login: { type: http, scheme: basic }, oauth: { type: oauth2, flows: { authorizationCode: ${flow} } } } }`;
    const several = await pageOf('security: [{ token: [], key: [] }, { login: [] }, { key: [], token: [] }]', schemes);
    expect(several.withoutCode).toContain(
      'One of: `Authorization: Bearer <token>` + `X-Key`, `Authorization: Basic <credentials>`, `X-Key` + ',
    );
    expect(several.withoutCode).not.toContain('required');
    const shared = await pageOf('security: [{ token: [], key: [] }, { key: [] }]', schemes);
    expect(shared.withoutCode).toContain('`X-Key` (string, header, required)');
    const oauth = await pageOf('security: [{ oauth: [read] }]', schemes);
    for (const shown of ['`tokenUrl: https://a.example/token`', '`read` – Reads all.', 'string, header, required'])
      expect(oauth.withoutCode).toContain(shown);
    expect(oauth.withoutCode).not.toContain('One of:');
    expect(oauth.withoutCode).not.toContain('Writes');
  });

  test('names credentials that read the same by their schemes', async () => {
    const schemes =
      'components: { securitySchemes: { publicKey: { type: http, scheme: bearer }, secretKey: { type: http, scheme: bearer }, "a `b": { type: http, scheme: bearer } } }';
    const { withoutCode } = await pageOf('security: [{ publicKey: [] }, { secretKey: [] }]', schemes);
    expect(withoutCode).toContain('One of: `Authorization: Bearer <publicKey>`, `Authorization: Bearer <secretKey>`');
    const odd = await pageOf('security: [{ publicKey: [] }, { "a `b": [] }]', schemes);
    expect(odd.withoutCode).toContain('One of: `Authorization: Bearer <publicKey>`, `Authorization: Bearer <token>`');
  });

  test('has the fields and the example of each event of a stream, beside another form of the answer', async () => {
    const job = '{ type: object, properties: { progress: { type: integer, description: In percent. } } }';
    const { below, withoutCode } = await pageOf(`responses:
  200:
    description: Done
    content:
      application/json: { schema: { type: object, properties: { whole: { type: boolean } } }, example: { whole: true } }
      text/event-stream: { itemSchema: ${job}, example: "event: job\\ndata: {\\"progress\\":7}\\n\\n" }
      text/csv: { schema: { type: string } }`);
    expect(withoutCode).toContain('In percent.');
    expect(below).toContain('```json title="200"\n{\n  "whole": true\n}\n```');
    expect(below).toContain('```text title="200 text/event-stream"\nevent: job\ndata: {"progress":7}\n');
    expect(below).not.toContain('title="200 text/csv"');
  });

  test('of an operation at the address of its server shows that', async () => {
    const { html } = await pageOf('', '', '---\napi: GET https://region.example.com\n---\n');
    expect(html).toMatch(/class="endpoint">.{1,100}>https:\/\/region\.example\.com</);
  });

  test('has the code samples of the specification', async () => {
    const { below } = await pageOf('x-codeSamples: [{ lang: python, label: SDK, source: "client.make()" }]');
    expect(below).toContain('```python title="SDK"\nclient.make()\n```');
    expect(below.match(/```\w+/g)).toHaveLength(1);
  });

  test('of a webhook shows the sent request, and no request of the reader', async () => {
    const rest = `webhooks:
  petAdded:
    post:
      description: After a pet was added.
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/Named' } } } }
      responses: { 204: { description: Heard } }
${components}`;
    const { below, html } = await pageOf('summary: Make', rest, '---\nopenapi: webhook petAdded\n---\n');
    expect(html).toContain('<span class="method method-webhook">WEBHOOK</span><code tabindex="0">petAdded</code>');
    expect(below).toMatchSnapshot();
  });

  test('of a schema shows its fields and an example', async () => {
    const { below } = await pageOf('summary: Make', components, '---\nopenapi-schema: Named\n---\n');
    expect(below).toContain('- `name` (string, required)');
    expect(below).toContain('"name": "<string>"');
  });

  test('of a schema has its description once', async () => {
    const rest = 'components:\n  schemas:\n    Named: { description: A thing with a name., type: string }\n';
    const page = '---\nopenapi-schema: Named\n---\n';
    const { html, below } = await pageOf('summary: Make', rest, page);
    expect(html.split('<main')[1]?.match(/A thing with a name\./g)).toHaveLength(1);
    expect(below).toContain('`string`');
    const own = await pageOf('summary: Make', rest, page.replace('Named', 'Named\ndescription: Ours'));
    expect(own.below).toContain('A thing with a name.');
  });

  test('has the first items of a list, and properties like a pattern', async () => {
    const { withoutCode, below } = await pageOf(
      bodyOf(`type: object
properties:
  place: { type: array, prefixItems: [{ type: number, description: North }, { type: number }], items: false }
  old: { type: array, items: [{ type: string }, { type: integer }] }
  open: { prefixItems: [{ type: string }], items: { type: number } }
  marks: { patternProperties: { ^x-: { type: string, description: Any } } }
  around: { prefixItems: [{ $ref: '#/components/schemas/Around' }] }
  nothing: { const: null }
  some: { enum: [null, 1] }`),
      "components:\n  schemas:\n    Around: { prefixItems: [{ $ref: '#/components/schemas/Around' }] }\n",
    );
    expect(withoutCode.replaceAll(/\n+/g, '\n')).toContain(`- \`place\` ([number, number])
  \`items: false\`
  - \`[0]\` (number)
    North
  - \`[1]\` (number)
- \`old\` ([string, integer])
  - \`[0]\` (string)
  - \`[1]\` (integer)
- \`open\` ([string, ...number[]])
  - \`[0]\` (string)
- \`marks\` (object)
  - \`/^x-/\` (string)
    Any
- \`around\` (`);
    expect(withoutCode).toContain('`nothing` (null)');
    expect(withoutCode).toContain('`some` (enum<null | number>)');
    expect(below.replaceAll(/\s+/g, '')).toContain('"place":[123,123],"old":["<string>",123],"open":["<string>"]');
  });

  test('reports a reference without a target, and continues', async () => {
    const { withoutCode, codes } = await pageOf(
      bodyOf(
        "type: object\nproperties:\n  a: { $ref: '#/components/schemas/Gone' }\n  b: { $ref: './other.yaml' }\n  c: { type: string }",
      ),
    );
    expect(codes).toEqual(['openapi-reference-missing', 'openapi-reference-missing']);
    expect(withoutCode).toContain('`c` (string)');
  });
});

describe('a hostile specification', () => {
  test('cannot put tags into a page', async () => {
    const { html } = await pageOf(
      'summary: "<script>alert(1)</script>"\ndescription: "<img src=x onerror=alert(1)> [x](javascript:alert(1))"\nresponses: { "<b>": { description: "<svg onload=alert(1)>" } }\nparameters: [{ name: "\\"><script>", in: query, schema: { type: "<i>" } }]\nx-codeSamples: [{ lang: "\\"><script>", source: "<script>" }]',
    );
    expect(html).not.toMatch(/<script>|<img|<svg onload|<[^>]*javascript:/);
  });

  /** A page of an operation and components that repeat references. */
  const pageOfJson = async (written: object, components: object) => {
    const { model, render } = await testProject({
      'docs.json': JSON.stringify({ ...settings, navigation: { openapi: 'api.json' } }),
      'api.json': JSON.stringify({
        openapi: '3.1.0',
        paths: { '/a': { get: { summary: 'A', ...written } } },
        components,
      }),
    });
    expect(model.diagnostics).toEqual([]);
    return Buffer.from(render('api-reference/a').files[0]?.body ?? '').toString();
  };
  const named = (name: string) => ({ $ref: `#/components/${name}` });
  const many = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
  const answers = (schema: object) => ({ 200: { description: '', content: { 'application/json': { schema } } } });

  test('with nested choices costs no more than its page', async () => {
    const choices = many(10, (at) => [`S${at}`, { oneOf: many(20, () => named(`schemas/S${at + 1}`)) }]);
    const schemas = { ...Object.fromEntries(choices), S10: { type: 'string' } };
    const html = await pageOfJson({ responses: answers(named('schemas/S0')) }, { schemas });
    expect(html.length).toBeLessThan(200_000);
  });

  test('with a recursive schema in all fields costs no more than its page', async () => {
    const properties = Object.fromEntries(many(3_000, (at) => [`p${at}`, named('schemas/S')]));
    const S = { properties, allOf: many(3_000, () => named('schemas/T')) };
    const html = await pageOfJson({ responses: answers(named('schemas/S')) }, { schemas: { S, T: { properties } } });
    expect(html.length).toBeLessThan(200_000);
  });

  test('with very many headers and parameters costs no more than its page', async () => {
    const properties = Object.fromEntries(many(4_000, (at) => [`p${at}`, { type: 'string' }]));
    const headers = Object.fromEntries(many(3_000, (at) => [`H${at}`, named('headers/H')]));
    const responses = Object.fromEntries(many(30, (at) => [200 + at, named('responses/R')]));
    const parameters = many(2_000, (at) => ({ in: 'query', name: `q${at}` }));
    const html = await pageOfJson(
      { parameters, responses },
      { headers: { H: { schema: { type: 'object', properties } } }, responses: { R: { description: '', headers } } },
    );
    expect(html).toContain('param-q299');
    expect(html).not.toContain('param-q300');
    expect(html.length).toBeLessThan(400_000);
  });

  test('has callbacks only for methods of HTTP', async () => {
    const item = { post: { summary: 'Called' }, 'x-owner': { name: 'Somebody' } };
    const html = await pageOfJson({ callbacks: { done: { '{$url}': item } } }, {});
    expect(html).toContain('POST {$url}');
    expect(html).not.toContain('X-OWNER');
  });

  test('has callbacks of groups only if all its readers are in them', async () => {
    const called = (summary: string, groups: unknown) => ({ post: { summary, 'x-mint': { groups } } });
    const callbacks = {
      open: { '{$url}': called('Open to all', []) },
      staff: { '{$url}': called('Hushed', ['staff']) },
      unreadable: { '{$url}': called('Hushed', { staff: true }) },
      path: { '{$url}': { 'x-mint': { metadata: { groups: ['staff'] } }, post: { summary: 'Hushed' } } },
    };
    const html = await pageOfJson({ callbacks }, {});
    expect(html).toContain('Open to all');
    expect(html).not.toContain('Hushed');
    const ofStaff = await pageOfJson({ callbacks, 'x-mint': { groups: ['staff'] } }, {});
    expect(ofStaff.match(/Hushed/g)).toHaveLength(2);
  });

  test('with cyclic schemas costs no more than its page', async () => {
    const schemas = Array.from({ length: 60 }, (_, at) => {
      const others = Array.from({ length: 60 }, (_each, to) => `p${to}: { $ref: '#/components/schemas/S${to}' }`).join(
        ', ',
      );
      return `    S${at}: { type: object, properties: { ${others} } }`;
    });
    const options = Array.from({ length: 60 }, (_, to) => `{ $ref: '#/components/schemas/S${to}' }`).join(', ');
    const rest = `components:\n  schemas:\n${schemas.join('\n')}\n    All: { allOf: [${options}], oneOf: [${options}], anyOf: [{ $ref: '#/components/schemas/All' }] }\n`;
    const { html } = await pageOf(bodyOf("$ref: '#/components/schemas/All'"), rest);
    expect(html.match(/class="field"/g)?.length).toBeLessThan(400);
    const loop =
      "components: { schemas: { A: { $ref: '#/components/schemas/B' }, B: { $ref: '#/components/schemas/A' } } }\n";
    expect((await pageOf(bodyOf("$ref: '#/components/schemas/A'"), loop)).codes).toEqual([]);
  });
});

test('a schema that is already on the page is a link to it', async () => {
  const error =
    "{ description: Wrong, content: { application/json: { schema: { $ref: '#/components/schemas/Problem' } } } }";
  const rest =
    'components: { schemas: { Problem: { type: object, properties: { code: { type: string }, text: { type: string } } } } }\n';
  const { html, anchors } = await pageOf(`responses: { 400: ${error}, 404: ${error} }`, rest);
  expect(anchors).toContain('response-400-code');
  expect(anchors).not.toContain('response-404-code');
  expect(html).toContain('<a href="#response-400">Problem</a>');
});

describe('repeated content of a page', () => {
  const header = '{ X-Rate: { description: How often., schema: { type: integer } } }';
  const problem = '{ schema: { type: object, properties: { code: { type: integer } } } }';

  test('is shown once: headers of answers, examples, media types', async () => {
    const answer = `{ description: Wrong, headers: ${header}, content: { application/json: ${problem}, text/json: ${problem} } }`;
    const { html, anchors, below } = await pageOf(`responses: { 400: ${answer}, 404: ${answer}, 409: ${answer} }`);
    expect(anchors.filter((id) => id.endsWith('X-Rate'))).toEqual(['response-400-header-X-Rate']);
    expect(html).toContain('<a href="#response-400-header-X-Rate"><code>X-Rate</code></a>');
    expect(below.match(/^```json.*$/gm)).toEqual(['```json title="400, 404, 409"']);
    expect(html).toContain('<code>application/json</code>, <code>text/json</code>');
    expect(html).not.toContain('role="tabpanel"');
  });

  test('is shown only for the request, unless a response differs', async () => {
    const both = (schema: string) =>
      `${bodyOf("$ref: '#/components/schemas/Pet'")}\nresponses: { 200: { description: Fine, content: { application/json: ${schema} } } }`;
    const pet = (more: string) =>
      `components: { schemas: { Pet: { type: object, properties: { name: { type: string }, age: { type: integer${more} } } } } }\n`;
    const response = "{ schema: { $ref: '#/components/schemas/Pet' } }";
    const same = await pageOf(both(response), pet(''));
    expect(same.html).toContain('<a href="#request-body">Pet</a>');
    const other = await pageOf(both(response), pet(', readOnly: true'));
    expect(other.anchors).toEqual(expect.arrayContaining(['body-name', 'response-200-name', 'response-200-age']));
    expect(other.anchors).not.toContain('body-age');
  });
});

test('names with a meaning in JavaScript are ordinary names', async () => {
  const names = ['__proto__', 'constructor', 'prototype', 'toString'];
  const properties = names.map((name) => `${name}: { type: string }`).join(', ');
  const { html, below, codes } = await pageOf(
    `${bodyOf(`type: object\nrequired: [__proto__]\nproperties: { ${properties} }`)}\nparameters: [{ name: constructor, in: query, required: true, schema: { $ref: '#/components/schemas/__proto__' } }]`,
    'components: { schemas: { __proto__: { type: integer, maximum: 7 } } }\n',
  );
  expect(codes).toEqual([]);
  for (const name of names) expect(html).toContain(`id="body-${name}"`);
  expect(below).toContain('`constructor` (integer, required)');
  expect(below).toContain('`__proto__` (string, required)');
  expect(below).toContain('"__proto__": "<string>"');
});

test('a long request has only its required fields', async () => {
  const property = (at: number) =>
    `property${at}: { type: object, properties: { a: { type: string }, b: { type: string } } }`;
  const properties = Array.from({ length: 40 }, (_, at) => property(at)).join(', ');
  const { below } = await pageOf(
    bodyOf(`type: object\nproperties: { ${properties}, must: { type: string } }\nrequired: [must]`),
  );
  expect(below).toContain(`--data '{\n  "must": "<string>"\n}'`);
});

test('deep fields do not take the space of those that come first', async () => {
  const level = (depth: number): string =>
    depth === 0
      ? '{ type: string }'
      : `{ type: object, properties: { ${['a', 'b', 'c', 'd', 'e'].map((name) => `${name}: ${level(depth - 1)}`).join(', ')} } }`;
  const { html, anchors } = await pageOf(
    bodyOf(`type: object\nproperties: { first: ${level(4)}, last: { type: string } }`),
  );
  expect(anchors).toContain('body-last');
  expect(html.match(/class="field"/g)?.length).toBeLessThan(80);
});

test('fields without space are listed by name', async () => {
  const many = Array.from({ length: 30 }, (_, at) => `f${at}: { type: string }`).join(', ');
  const inner = '{ type: object, properties: { street: { type: string }, city: { type: string } } }';
  const { below } = await pageOf(
    bodyOf(
      `type: object\nproperties: { deep: { type: object, properties: { a: { type: object, properties: { b: { type: object, properties: { ${many} } }, c: ${inner}, d: { type: array, items: ${inner} }, e: { type: array, items: { oneOf: [{ title: Book, type: object, properties: { x: { type: string } } }, { type: integer }] } } } } } } }`,
    ),
  );
  for (let at = 0; at < 30; at += 1) expect(below).toMatch(new RegExp(`[\`\\s]f${at}[\`,]`));
  expect(below).toContain('… `street, city`');
  expect(below).toContain('… `Book, integer`');
});

test('the name of a schema is unique, even beside a response of that name', async () => {
  const problem = "{ $ref: '#/components/responses/Problem' }";
  const rest = `components:
  responses: { Problem: { description: Wrong, content: { application/json: { schema: { $ref: '#/components/schemas/Problem' } } } } }
  schemas: { Problem: { type: object, properties: { code: { type: string }, text: { type: string } } } }
`;
  const { html } = await pageOf(`responses: { 400: ${problem}, 404: ${problem} }`, rest);
  expect(html).toContain('<a href="#response-400">Problem</a>');
});

test('a field in many places has the id of each, and is otherwise equal', async () => {
  const size = '{ type: string, enum: [s, "a|b"], description: How *large* it is. }';
  const outer = `{ type: object, required: [size], properties: { size: ${size}, in: { type: object, properties: { size: ${size} } } } }`;
  const made = await pageOf(
    `security: [{ key: [] }]
parameters: [{ name: size, in: query, description: How *large* it is., schema: ${size} }]
requestBody: { content: { application/json: { schema: ${outer} } } }
responses: { 200: { description: Fine, headers: { size: { description: How *large* it is., schema: { type: string } } }, content: { application/json: { schema: ${outer} } } } }`,
    'components: { securitySchemes: { key: { type: apiKey, in: header, name: size, description: How *large* it is. } } }',
  );
  const own = (id: string): string =>
    new RegExp(`<div class="field" id="${id}">(.*?)<div>`, 's').exec(made.html)?.[1]?.replaceAll(`#${id}"`, '#"') ?? id;
  const required = own('body-size');
  expect(required).toContain('<a href="#">size</a></code> <samp>enum&lt;string&gt;</samp>');
  expect(required).toContain('field-required');
  expect(own('response-200-size')).toBe(required);
  const optional = own('body-in-size');
  expect(own('response-200-in-size')).toBe(optional);
  expect(own('param-size')).toBe(optional);
  expect(optional).not.toContain('field-required');
  expect(own('authorization-size')).toContain('field-post">header<');
  expect(own('response-200-header-size')).not.toContain('field-post');
  for (const id of ['param-size', 'body-size', 'body-in-size', 'response-200-size', 'response-200-in-size'])
    expect(made.anchors.filter((anchor) => anchor === id)).toEqual([id]);
  const items = made.below.split('\n').filter((line) => line.includes('`size` (enum'));
  expect(items.map((line) => line.replace(/`.*/, ''))).toEqual(['- ', '- ', '  - ', '- ', '  - ']);
});

test('headers of responses are shown, also in lower case', async () => {
  const { withoutCode } = await pageOf(
    'responses:\n  200:\n    description: Made\n    headers: { x-request-id: { schema: { type: string } }, x-note: an extension }',
  );
  expect(withoutCode).toContain('`x-request-id` (string)');
  expect(withoutCode).not.toContain('x-note');
});

test('nested lists that repeat their type are visited once', async () => {
  const list = (items: string) => `{ type: [${'array, '.repeat(50)}"null"], items: ${items} }`;
  const { withoutCode } = await pageOf(
    `parameters: [{ name: q, in: query, schema: ${list(list(list(list(list('{ type: string }')))))} }]`,
  );
  expect(withoutCode).toContain('`q` (');
});
