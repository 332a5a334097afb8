import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContextOptions } from 'playwright-core';
import { expect, test } from 'vitest';
import { isolateFile } from '#shared/docs/render/isolate/isolate-file.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { pagesToOpen } from '../hostile/pages.ts';
import { siteInBrowser } from '../browser/site-folder.ts';

/** The hostile pages that can be rendered, as pages of one project. */
const hostile = Object.entries(pagesToOpen).flatMap(([file, { source, failure }]): [string, string][] =>
  failure === undefined && typeof source === 'string' ? [[file, source]] : [],
);

const hostilePicture = `<svg xmlns="http://www.w3.org/2000/svg" onload="pwned(1)"><script>pwned(2)</script>
<foreignObject width="9" height="9"><body xmlns="http://www.w3.org/1999/xhtml"><img src="x:" onerror="pwned(3)"/></body></foreignObject>
<image href="x:" onerror="pwned(4)"/><a><set attributeName="href" to="javascript:pwned(5)"/><text>x</text></a></svg>`;

describeWithServers(['chromium'], 'hostile pages in Chromium', () => {
  // Where components are allowed, those of a page run, and may do the same as scripts of the project.
  const { folder, newContext } = siteInBrowser(
    { ...Object.fromEntries(hostile), 'index.mdx': 'x' },
    { allowTenantScripts: false },
  );

  /** Code of the page that ran. */
  async function ran(path: string, options: BrowserContextOptions): Promise<string[]> {
    const context = await newContext(options);
    const found: string[] = [];
    await context.exposeFunction('pwned', (what: unknown) => found.push(`pwned(${String(what)})`));
    const page = await context.newPage();
    page.on('dialog', (dialog) => {
      found.push(`alert(${dialog.message()})`);
      void dialog.dismiss();
    });
    // Requests to other sites are blocked, because their answers are not part of the page.
    await page.route(/^https?:/, (route) => route.abort());
    await page.goto(`file://${folder()}/${path}`, { waitUntil: 'load' });
    const scripts = await page.evaluate(
      `[...document.scripts]
          .filter(({ src, type, parentNode }) => !src.includes('/_bindery/') && !(type === 'application/ld+json' && parentNode === document.head))
          .map(({ outerHTML }) => outerHTML)`,
    );
    found.push(...(scripts as string[]));
    return found;
  }

  test.each(['hostile.svg', 'isolated.svg'])('%s, opened directly', async (file) => {
    const source = Buffer.from(hostilePicture);
    writeFileSync(join(folder(), file), file === 'isolated.svg' ? isolateFile(file, source) : source);
    const found = await ran(file, {});
    // The published picture runs its scripts, which shows that the test would notice one.
    if (file === 'hostile.svg') expect(found).toEqual(expect.arrayContaining(['pwned(1)', 'pwned(2)', 'pwned(3)']));
    else expect(found).toEqual([]);
  });

  const hostileXml = {
    'its name after a quote': Buffer.from(
      `<a b="xmlns='" xmlns='http://www.w3.org/1999/xhtml'><script>pwned(1)</script></a>`,
    ),
    'UTF-16 without a mark': Buffer.from(
      '<?xml version="1.0"?><a xmlns="http://www.w3.org/1999/xhtml"><script>pwned(1)</script></a>',
      'utf16le',
    ),
  };
  test.each(Object.entries(hostileXml))('XML with %s, opened directly', async (_name, source) => {
    writeFileSync(join(folder(), 'hostile.xml'), source);
    expect(await ran('hostile.xml', {})).toContain('pwned(1)');
    writeFileSync(join(folder(), 'isolated.xml'), isolateFile('isolated.xml', source));
    expect(await ran('isolated.xml', {})).toEqual([]);
  });

  test.each(hostile)('%s runs nothing', async (file) => {
    const path = file.replace(/\.mdx?$/, '.html');
    // The browser bypasses the page's policy, because the content must be safe without it.
    expect(await ran(path, { bypassCSP: true })).toEqual([]);
  });
});
