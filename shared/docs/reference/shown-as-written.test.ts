import { expect, test } from 'vitest';
import { testProject } from '#shared/docs/render/test-project.ts';

/** The page of an operation of a description, as Markdown and HTML, with the codes of its findings. */
async function pageOf(file: string, description: string) {
  const { model, render } = await testProject({
    'docs.json': JSON.stringify({
      name: 'Test',
      theme: 'mint',
      colors: { primary: '#0f766e' },
      navigation: { pages: ['page'] },
    }),
    'page.mdx': '---\nopenapi: POST /things\n---\n',
    [file]: description,
  });
  const { files, page } = render('page');
  const [html = '', markdown = ''] = files.map(({ body }) => Buffer.from(body).toString());
  const findings = [...model.diagnostics, ...page.diagnostics];
  return { html, markdown, findings, codes: findings.map(({ code }) => code) };
}

const json = (operation: string): string => `{"openapi":"3.1.0","paths":{"/things":{"post":${operation}}}}`;
const withSchema = (schema: string, type = 'application/json'): string =>
  json(`{"requestBody":{"content":{${JSON.stringify(type)}:{"schema":${schema}}}},"responses":{}}`);

test.each([
  [
    'api.json',
    withSchema(
      '{"type":"object","properties":{"a":{"type":"integer","example":9007199254740993},"b":{"type":"number","default":1.0}}}',
    ),
  ],
  [
    'api.yaml',
    'openapi: 3.1.0\npaths:\n  /things:\n    post:\n      responses: {}\n      requestBody:\n        content:\n          application/json:\n            schema:\n              type: object\n              properties:\n                a: { type: integer, example: 9007199254740993 }\n                b: { type: number, default: 1.0 }\n',
  ],
])('numbers of %s keep their digits to the page', async (file, description) => {
  const { html, markdown } = await pageOf(file, description);
  for (const text of [html, markdown]) {
    expect(text).toContain('9007199254740993');
    expect(text).not.toContain('9007199254740992');
    expect(text).toContain('1.0');
  }
});

test('text that only looks like a tag stays text in a description', async () => {
  const { html } = await pageOf(
    'api.json',
    json(
      '{"description":"Send <your-name>.\\n\\nAnd <b>no</b> <other-name>.","responses":{},"parameters":[{"in":"query","name":"q","description":"Of <some_id>.","schema":{"type":"string"}}]}',
    ),
  );
  expect(html).toMatch(/And no (?:&lt;|&#x3C;|&#60;)other-name(?:>|&gt;)\./);
  expect(html).toMatch(/Send (?:&lt;|&#x3C;|&#60;)your-name(?:>|&gt;)\./);
  expect(html).toMatch(/Of (?:&lt;|&#x3C;|&#60;)some_id(?:>|&gt;)/);
});

test('the parts of a form show their types', async () => {
  const schema =
    '{"type":"object","properties":{"file":{"type":"string","format":"binary"},"meta":{"type":"object","properties":{"a":{"type":"string"}}},"name":{"type":"string"}}}';
  const { markdown } = await pageOf('api.json', withSchema(schema, 'multipart/form-data'));
  expect(markdown).toContain('contentType: application/octet-stream');
  expect(markdown).toContain('contentType: application/json');
  expect(markdown.match(/contentType: /g)).toHaveLength(2);
});

test('an example that cannot be made is a finding, and one that can be made is not', async () => {
  const never = await pageOf('api.json', withSchema('{"type":"integer","minimum":5,"maximum":4}'));
  expect(never.codes).toEqual(['example-not-made']);
  const some = await pageOf('api.json', withSchema('{"type":"integer","minimum":4,"maximum":5}'));
  expect(some.codes).toEqual([]);
});

test('an example of options that allow the same objects is shown, with a finding', async () => {
  const option = (code: string): string =>
    `{"type":"object","properties":{"code":{"type":"string","default":"${code}"}}}`;
  const schema = `{"oneOf":[${option('EMPTY')},${option('UNKNOWN')}]}`;
  const content = `{"application/json":{"schema":${schema}}}`;
  const answer = `{"401":{"description":"No.","content":${content}}}`;
  const { markdown, findings } = await pageOf(
    'api.json',
    json(`{"requestBody":{"content":${content}},"responses":${answer}}`),
  );
  expect(markdown.match(/"code": "EMPTY"/g)?.length).toBeGreaterThanOrEqual(2);
  expect(findings).toMatchObject([
    { code: 'example-not-made', message: expect.stringContaining('the request of POST /things fits several options') },
    { code: 'example-not-made', message: expect.stringContaining('the answer 401 of POST /things fits several') },
  ]);
});
