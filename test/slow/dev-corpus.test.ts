import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { devSite } from '#services/cli/dev/dev-site.ts';
import { corpusFolder, ownDocumentation } from '../support/docs-projects.ts';
import { exportedHtml } from '../support/exported-pages.ts';

const names = ['fastmcp', 'meilisearch', 'mintlify-docs', 'turso-docs'];
const projects = names.map((name) => join(corpusFolder, name)).filter((folder) => existsSync(folder));
const tenMinutesMs = 600_000;

/** The content of a page, without its frame. */
const articleOf = (html: string): string => html.slice(html.indexOf('<main'), html.lastIndexOf('</main>'));

describe('the site that an author sees while writing', () => {
  test.each([ownDocumentation, ...projects])(
    '%s has the article of every page as an export has it',
    async (folder) => {
      const exported = await exportedHtml(folder);
      const site = await devSite(folder, () => []);
      try {
        const other: string[] = [];
        for (const [path, html] of exported) {
          const file = await site.answer(`/${path.split('/').map(encodeURIComponent).join('/')}`);
          const shown = file.kind === 'file' ? String(file.body) : '';
          if (articleOf(shown) !== articleOf(html)) other.push(path);
        }
        expect(exported.size).toBeGreaterThan(10);
        expect(other).toEqual([]);
      } finally {
        await site.close();
      }
    },
    tenMinutesMs,
  );
});
