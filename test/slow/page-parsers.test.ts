import { readdirSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { micromarkPageParser } from '#shared/docs/project/micromark-page-parser.ts';
import { comparable } from '#shared/docs/project/page-parser.contract.ts';
import { satteriPageParser } from '#shared/docs/project/satteri-page-parser.ts';
import { corpusFolder, isThere } from '../support/docs-projects.ts';

const svgPath = 'a string over two lines, in an expression of an attribute, keeps the indentation of its second line';

/** All pages of the corpus whose trees differ, with the difference, which readers do not see. */
const differences: Record<string, string> = {
  'fastmcp/python-sdk/fastmcp-apps-config.mdx': 'text after an address is two nodes',
  'mintlify-docs/integrations/analytics/overview.mdx': svgPath,
  'mintlify-docs/es/integrations/analytics/overview.mdx': svgPath,
  'mintlify-docs/fr/integrations/analytics/overview.mdx': svgPath,
  'mintlify-docs/zh/integrations/analytics/overview.mdx': svgPath,
};

describe.skipIf(!isThere(corpusFolder, 'the corpus of real projects'))('satteri and micromark', () => {
  const projects = ['fastmcp', 'keep', 'meilisearch', 'mintlify-docs', 'turso-docs'];
  it.each(projects)('give the same trees of the pages of %s', (project) => {
    const folder = `${corpusFolder}/${project}`;
    const names = readdirSync(folder, { recursive: true }).map(String);
    const files = names.filter((name) => /\.mdx?$/.test(name)).sort();
    const different = files.filter((file) => {
      const source = readFileSync(`${folder}/${file}`);
      const [one, other] = [satteriPageParser, micromarkPageParser].map((parser) =>
        comparable(parser.parse(source, file)),
      );
      return !isDeepStrictEqual(one, other);
    });
    expect(different.filter((file) => !Object.hasOwn(differences, `${project}/${file}`))).toEqual([]);
  });
});
