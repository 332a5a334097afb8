import type { Element } from 'hast';
import { fromHtml } from 'hast-util-from-html';
import { visit } from 'unist-util-visit';
import { describe, expect, test } from 'vitest';
import { canary, pagesToRender } from '../../../test/hostile/pages.ts';
import { pageSlice } from './page-slice.ts';
import { indexSite } from './site-index.ts';
import { PageFailed } from './evaluate/evaluation.ts';
import { renderFailedPage, renderPage } from './render-page.ts';
import { testOptions, testProject } from './test-project.ts';

/** Lists the elements and attributes that no rendered page may have, whatever its source contains. */
function dangers(html: string): string[] {
  const found: string[] = [];
  visit(fromHtml(html), 'element', ({ tagName, properties, children }: Element) => {
    if (tagName === 'script' && !isData(properties, children)) {
      const source = properties.src ?? '';
      if (!/^(\.\.?\/)+_bindery\/[a-z0-9/-]+\.js$/.test(source)) found.push(`script ${source}`);
    }
    if (/^(object|embed|base|form|style|foreignobject|animate|set|noscript|template)$/i.test(tagName))
      found.push(tagName);
    // The `math` element of a rendered formula is ours. The parser reads no HTML in it.
    if (tagName === 'math' && !html.includes('<span class="katex-mathml"><math ')) found.push(tagName);
    if (tagName === 'meta' && properties.httpEquiv !== undefined && !isPolicy(properties, html))
      found.push('meta http-equiv');
    if (tagName === 'link' && !/^(\.\.?\/|https:)/.test(String(properties.href)))
      found.push(`link ${String(properties.href)}`);
    for (const [name, value] of Object.entries(properties)) {
      if (/^on/i.test(name)) found.push(`${tagName} ${name}`);
      if (/^(srcDoc|action|formAction|ping|srcSet)$/i.test(name)) found.push(`${tagName} ${name}`);
      const text = String(value).replace(/[\u0000-\u0020]/g, '');
      if (
        /^(href|src|poster|cite|xLinkHref)$/i.test(name) &&
        /^(javascript|vbscript|data:(?!image\/(png|jpeg|gif|webp|avif);)|file):?/i.test(text)
      ) {
        found.push(`${tagName} ${name} ${text.slice(0, 40)}`);
      }
      if (name === 'style' && /url\(|fixed|expression|@import/i.test(text)) found.push(`${tagName} style ${text}`);
    }
  });
  return found;
}

/** True for JSON-LD data, which browsers do not run. */
const isData = ({ type, src }: Element['properties'], [text]: Element['children']): boolean =>
  type === 'application/ld+json' && src === undefined && text?.type === 'text' && Boolean(JSON.parse(text.value));

/** True for our policy. Islands may load scripts of other sites, as the project's own scripts may. */
const isPolicy = ({ httpEquiv, content }: Element['properties'], html: string): boolean =>
  String(httpEquiv) === 'Content-Security-Policy' &&
  String(content).includes(`script-src 'self' file:${html.includes(' data-islands="') ? ' https:' : ''};`);

describe('hostile pages', () => {
  test.each(Object.entries(pagesToRender))(
    '%s',
    async (name, { source: written }) => {
      process.env['CANARY_SECRET'] = canary;
      const source = Buffer.from(written);
      const project = await testProject({ 'page.mdx': 'x', 'secret.mdx': 'TENANT-SECRET' });
      const slice = { ...pageSlice(indexSite(project.model), 'page', testOptions), file: name };
      const render = (allowTenantScripts = true) => {
        try {
          return renderPage({ slice, source, dependencies: {}, options: { ...testOptions, allowTenantScripts } });
        } catch (error) {
          if (!(error instanceof PageFailed)) throw error;
          expect(error.reason).toMatch(/\.$/);
          return renderFailedPage({ slice, source }, error.reason);
        }
      };
      const { files, page } = render();
      const html = Buffer.from(files[0]?.body ?? '').toString();
      expect(dangers(html)).toEqual([]);
      const text = files.map(({ body }) => Buffer.from(body).toString()).join('');
      expect(JSON.stringify(page) + text).not.toContain(canary);
      if (page.hasIslands === true) {
        const still = Buffer.from(render(false).files[0]?.body ?? '').toString();
        expect(dangers(still)).toEqual([]);
        expect(still).not.toMatch(/islands/);
      }
      expect(html).not.toContain('root:x:0');
      expect(render().files.every(({ body }, at) => body === files[at]?.body)).toBe(true);
      expect(({} as Record<string, unknown>)['polluted'] ?? ({} as Record<string, unknown>)['isAdmin']).toBeUndefined();
      expect((globalThis as Record<string, unknown>)['__canary']).toBeUndefined();
    },
    20_000,
  );
});

describe('content that authors may not write', () => {
  test('addresses that run or lead out of the site', async () => {
    const project = await testProject({
      'page.mdx':
        '[a](javascript:alert(1)) [b](//example.com/x) [c](\\\\example.com) <a href={"java\\tscript:x"}>d</a> ![e](file:///etc/passwd) ![f](http://169.254.169.254/)',
    });
    const html = Buffer.from(project.render('page').files[0]?.body ?? '').toString();
    expect(dangers(html)).toEqual([]);
    expect(html).toContain('href="https://example.com/x" target="_blank" rel="noopener noreferrer"');
    expect(html).not.toContain('169.254');
  });

  test('ids that shadow names that scripts use', async () => {
    const project = await testProject({
      'page.mdx': '## location\n\n# \\_\\_proto\\_\\_\n\n<a id="binderyConfig">x</a>\n\n# Fine\n',
    });
    const { page } = project.render('page');
    expect(page.anchors).toEqual(['location', 'h-__proto__', 'h-binderyConfig', 'fine']);
  });

  test('a heading keeps its id, and an element of the shell with the same id loses it', async () => {
    const project = await testProject({ 'page.mdx': '## Footer\n\n## Navbar' });
    const html = Buffer.from(project.render('page').files[0]?.body ?? '').toString();
    expect(html.match(/id="navbar"/g)).toHaveLength(1);
    expect(html).toContain('<h2 id="navbar">');
  });
});
