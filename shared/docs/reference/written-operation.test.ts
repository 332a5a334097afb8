import { describe, expect, test } from 'vitest';
import { testProject } from '#shared/docs/render/test-project.ts';
import { writtenApi } from './written-operation.ts';

const settings = { name: 'Test', theme: 'mint', colors: { primary: '#0f766e' }, navigation: { pages: ['page'] } };

/** The Markdown of a page without its head, and its HTML. */
async function pageOf(frontmatter: string, content: string, api: object = {}) {
  const project = await testProject({
    'docs.json': JSON.stringify({ ...settings, api }),
    'page.mdx': `---\n${frontmatter}\n---\n\n${content}\n`,
  });
  const { files } = project.render('page');
  const [html = '', markdown = ''] = files.map(({ body }) => Buffer.from(body).toString());
  return { html, markdown: markdown.slice(markdown.indexOf('\n\n') + 2), diagnostics: project.model.diagnostics };
}

const acme = { mdx: { server: 'https://api.acme.com/', auth: { method: 'key', name: 'x-api-key' } } };
const fields = `<ParamField path="id" type="string" required>Whose.</ParamField>
<ParamField query="limit" type="integer" default="20" required />
<ParamField query="page" type="integer" />
<ParamField body="email" type="string" required>An address.</ParamField>
<ParamField body="tags" type="string[]" placeholder="new" />
<ParamField body="home" type="object">
  <Expandable title="home">
    <ParamField body="city" type="string" required />
    <ResponseField name="rooms" type="number" />
  </Expandable>
</ParamField>`;

describe('a page that describes an operation itself', () => {
  test('has samples from its fields, the server and the key of docs.json', async () => {
    const { markdown, html, diagnostics } = await pageOf('api: POST /v1/users/{id}', fields, acme);
    expect(diagnostics).toEqual([]);
    expect(markdown).toContain(`curl 'https://api.acme.com/v1/users/{id}?limit=20' \\
  --request POST \\
  --header 'x-api-key: <api-key>' \\
  --header 'Content-Type: application/json' \\
  --data '{
  "email": "<string>",
  "tags": [
    "new"
  ],
  "home": {
    "city": "<string>",
    "rooms": 123
  }
}'`);
    expect(markdown.match(/^```\w+ title/gm)).toHaveLength(8);
    // Each field of the body occurs once.
    expect(markdown.match(/`email`/g)).toHaveLength(1);
    expect(html).toContain('<span class="method method-post">POST</span><code tabindex="0">/v1/users/{id}</code>');
    expect(html).toContain('id="authorization-x-api-key"');
  });

  test('has as many languages and fields as the site wants', async () => {
    const examples = { languages: ['python', 'bash'], defaults: 'all' };
    const all = await pageOf('api: GET /users', fields, { ...acme, examples });
    expect(all.markdown.match(/^```\w+ title="\w+"/gm)).toEqual(['```python title="Python"', '```bash title="cURL"']);
    expect(all.markdown).toContain('limit=20&page=123');
    const few = await pageOf('api: POST /users', fields, { ...acme, examples: { defaults: 'required' } });
    expect(few.markdown).toContain(`--data '{\n  "email": "<string>"\n}'`);
    const none = await pageOf('api: GET /users', fields, { ...acme, examples: { autogenerate: false } });
    expect(none.html).not.toContain('request-example');
  });

  test('keeps the examples that its author wrote', async () => {
    const own = '<RequestExample>\n```bash Mine\nacme users\n```\n</RequestExample>';
    const { markdown } = await pageOf('api: GET /users', `${fields}\n\n${own}`, acme);
    expect(markdown.match(/^```\w+.*$/gm)).toEqual(['```bash Mine']);
  });

  test('asks for its own credential', async () => {
    const bearer = await pageOf('api: GET /a\nauthMethod: bearer', '', acme);
    expect(bearer.markdown).toContain("--header 'Authorization: Bearer <token>'");
    const none = await pageOf('api: GET /a\nauthMethod: none', '', acme);
    expect(none.markdown).not.toContain('## Authorizations');
    const header = '<ParamField header="Authorization" type="string" required>Mine.</ParamField>';
    const own = await pageOf('api: GET /a\nauthMethod: basic', header, { ...acme, examples: { languages: ['curl'] } });
    expect(own.markdown.match(/Authorization: Basic <credentials>/g)).toHaveLength(1);
  });

  test('cannot put tags into samples', async () => {
    const hostile =
      '<ParamField query={"</script><script>alert(1)</script>"} type="string" default="<img src=x onerror=alert(1)>" required />';
    const { html } = await pageOf('api: "GET https://x.example/<svg onload=alert(1)>"', hostile);
    expect(html).not.toMatch(/<img|<svg onload|<script>alert/);
  });
});

test.each([
  ['GET https://x.example/a/{b}', { method: 'GET', server: 'https://x.example', path: '/a/{b}' }],
  ['get https://{host}', { method: 'GET', server: 'https://{host}', path: '' }],
  ['DELETE users', { method: 'DELETE', path: '/users' }],
  ['/users', undefined],
])('%j is an operation', (api, made) => {
  expect(writtenApi({ api }, undefined)).toEqual(made);
});
