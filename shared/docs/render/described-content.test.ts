import { describe, expect, test } from 'vitest';
import { brokenLinkDiagnostic } from './broken-link.ts';
import { brokenLinks } from './export-report.ts';
import { testOptions, testProject } from './test-project.ts';

/** Renders the page of an operation with this `x-mint.content`, in a project that has components. */
async function pageWith(content: string) {
  const description = {
    openapi: '3.1.0',
    info: { title: 'A', version: '1' },
    paths: { '/a': { get: { summary: 'a', 'x-mint': { content }, responses: {} } } },
  };
  const project = await testProject({
    'docs.json': JSON.stringify({
      name: 'Test',
      theme: 'mint',
      colors: { primary: '#0f766e' },
      navigation: { tabs: [{ tab: 'API', openapi: 'openapi.json' }] },
    }),
    'openapi.json': JSON.stringify(description),
    'snippets/counter.jsx': 'export const Counter = () => { const [n] = useState(41); return <b>{n + 1}</b>; };',
  });
  const { files, page } = project.render('api-reference/a', testOptions);
  const html = Buffer.from(files[0]?.body ?? '').toString();
  return { html, names: files.map(({ path }) => path), codes: page.diagnostics.map(({ code }) => code), page, project };
}

const counter = `export const Counter = () => {
  const [count, setCount] = useState(7);
  return <button onClick={() => setCount(count + 1)}>clicked {count}</button>;
};

<Counter />`;

describe('content in an API description', () => {
  test('is text and components', async () => {
    const { html, codes } = await pageWith('Ask **often**.\n\n<Note>Not *now*.</Note>\n\n{1 + 1}');
    expect(html).toContain('<strong>often</strong>');
    expect(html).toMatch(/class="callout callout-note"/);
    expect(codes).toEqual([]);
  });

  test('shows only the first look of islands', async () => {
    const { html, names, codes, page } = await pageWith(counter);
    expect(names).toEqual(['api-reference/a.html', 'api-reference/a.md']);
    expect(page).not.toHaveProperty('hasIslands');
    expect(html).toContain('clicked 7');
    expect(html).not.toMatch(/bindery-island|setCount/);
    expect(codes).toEqual(['island-not-run']);
  });

  test('imports no component of the project', async () => {
    const { html, names, codes } = await pageWith(
      'import { Counter } from "/snippets/counter.jsx";\n\nBefore\n\n<Counter />',
    );
    expect(names).toHaveLength(2);
    expect(html).not.toContain('>42<');
    expect(codes).toContain('import-not-found');
  });

  test('has findings that name the operation and count lines in its content', async () => {
    const { page, project } = await pageWith(
      'Text.\n\n<Unknown>x</Unknown>\n\n[a](javascript:x) [b](/none) [c](#none)',
    );
    const linked = [{ ...page, anchors: new Set(page.anchors) }];
    const links = [...brokenLinks(project.model, linked, new Set())];
    const found = [...page.diagnostics, ...links.map((link) => brokenLinkDiagnostic(link, 'openapi.json'))];
    const place = (line: number) => `line ${line} of the x-mint.content of GET /a.`;
    expect(found.map(({ code, message }) => [code, message.split(/It is in |The link is in /)[1]])).toEqual([
      ['unknown-component', place(3)],
      ['address-not-allowed', place(5)],
      ['broken-link', place(5)],
      ['broken-anchor', place(5)],
    ]);
    for (const finding of found) {
      expect(finding).toMatchObject({ file: 'openapi.json' });
      expect(finding).not.toHaveProperty('line');
      expect(finding).not.toHaveProperty('column');
    }
    for (const link of links) expect(link).not.toHaveProperty('line');
  });

  test.each([
    '<script>document.title = "x"</script>',
    '<img src="https://a.example/x.png" onerror="alert(1)" />',
    '<a href="javascript:alert(1)">run</a>',
    '<button onClick={() => alert(1)}>run</button>',
    '<div dangerouslySetInnerHTML={{ __html: "<script>alert(1)</script>" }} />',
    '<iframe srcdoc="<script>alert(1)</script>" />',
  ])('runs nothing of %s', async (content) => {
    const { html, names } = await pageWith(content);
    expect(names).toHaveLength(2);
    const main = html.slice(html.indexOf('class="mdx-content"'), html.indexOf('</main>'));
    expect(main).not.toMatch(/alert\(1\)|document\.title|<script(?! type="application\/json")/);
  });
});
