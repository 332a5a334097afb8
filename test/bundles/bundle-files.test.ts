import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ProjectFiles } from '#shared/docs/project/project-files.ts';
import { newFolder } from '../support/new-folder.ts';
import { publishedProject } from '../support/published-project.ts';
import { unpackedSite } from '../support/unpacked-site.ts';
import { fullProject, plainProject } from './projects.ts';

/*
 * The complete list of files of a bundle. A missing or new file fails a test here. For a new kind of file, add the file to the list, and the feature
 * that needs it to `projects.ts`.
 */

/** Files of every bundle, whatever its project has. */
const filesOfEveryBundle = [
  '404.html',
  '_bindery/analytics.js',
  '_bindery/agents.js',
  '_bindery/assistant-selection.js',
  '_bindery/assistant.css',
  '_bindery/assistant.js',
  '_bindery/classes.css',
  '_bindery/config.js',
  '_bindery/manifest.json',
  '_bindery/report.json',
  '_bindery/search-index.js',
  '_bindery/search.js',
  '_bindery/search/0.js',
  '_bindery/sidebar.js',
  '_bindery/site.js',
  '_bindery/start.js',
  '_bindery/theme.css',
  '_bindery/third-party.txt',
  'index.html',
  'llms-full.txt',
  'llms.txt',
  'robots.txt',
  'sitemap.xml',
  'skill.md',
];

/** The index of the skills of a site, and the skill that is made from it. `name`: that of the site as a name of a skill. */
const skillFiles = (name: string): string[] =>
  ['agent-skills', 'skills'].flatMap((folder) => [
    `.well-known/${folder}/index.json`,
    `.well-known/${folder}/${name}/SKILL.md`,
  ]);

/** The path without its hashes, which depend on the content. */
const withoutHash = (path: string): string => path.replace(/[0-9a-f]{16,}/g, '<hash>');

async function bundleOf(project: ProjectFiles, folder: string): Promise<Map<string, Buffer>> {
  await unpackedSite(await publishedProject(project), folder);
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
  return new Map(paths.sort().map((path) => [path, readFileSync(join(folder, path))]));
}

describe('the bundle of a project with all features', () => {
  let bundle: Map<string, Buffer>;
  beforeAll(async () => {
    bundle = await bundleOf(fullProject, newFolder());
  });

  test('has these files and no others', () => {
    expect([...bundle.keys()].map(withoutHash)).toEqual(
      [
        ...filesOfEveryBundle,
        ...skillFiles('acme'),
        // The texts of its second language, and its part of the search index.
        '_bindery/navigation/en.js',
        '_bindery/navigation/ja.js',
        '_bindery/search/1.js',
        '_bindery/texts/ja.js',
        // Preview images of the pages in English; the font of the cards has no Japanese characters.
        '_bindery/cards/<hash>.png',
        '_bindery/cards/<hash>.png',
        '_bindery/cards/<hash>.png',
        // Files for diagrams, formulas, components that run in the browser, the playground, and styles and pictures of a page.
        '_bindery/diagrams.js',
        '_bindery/mermaid.js',
        '_bindery/fonts/KaTeX_Main-Regular.woff2',
        '_bindery/fonts/KaTeX_Math-Italic.woff2',
        '_bindery/math.css',
        '_bindery/islands.js',
        '_bindery/islands/<hash>.js',
        '_bindery/react.js',
        '_bindery/playground.css',
        '_bindery/playground.js',
        '_bindery/playground/en.js',
        '_bindery/styles/<hash>.css',
        '_bindery/pictures/<hash>/<hash>.svg',
        // Redirects: a page for each plain one, and for the host a list of the ones with wildcards.
        '_bindery/redirects.json',
        'old.html',
        // Pages with their Markdown twins, and the feed of the page with updates.
        'changelog.html',
        'changelog.md',
        'guides/first.html',
        'guides/first.md',
        'guides/rich.html',
        'guides/rich.md',
        'guides/rich/rss.xml',
        'ja/guides/plain.html',
        'ja/guides/plain.md',
        'ja/guides/rich.html',
        'ja/guides/rich.md',
        // Files of the project.
        'api/openapi.json',
        'dark.svg',
        'light.svg',
        'own.css',
        'own.js',
        'own.woff2',
        'picture.png',
      ].sort(),
    );
  });

  test('has no empty file', () => {
    expect([...bundle].flatMap(([path, bytes]) => (bytes.length === 0 ? [path] : []))).toEqual([]);
  });

  test('has a manifest of all files except itself and the settings that may be edited', () => {
    const manifest = JSON.parse(String(bundle.get('_bindery/manifest.json'))) as {
      pageCount: number;
      files: { path: string; size: number; sha256: string }[];
    };
    const listed = [...bundle].filter(([path]) => !/^_bindery\/(config\.js|manifest\.json)$/.test(path));
    expect(manifest.pageCount).toBe(5);
    expect(manifest.files).toEqual(
      listed.map(([path, bytes]) => ({
        path,
        size: bytes.length,
        sha256: createHash('sha256').update(bytes).digest('hex'),
      })),
    );
  });

  test('has every file that its pages and style sheets name', () => {
    const missing: string[] = [];
    for (const [path, bytes] of bundle) {
      const text = bytes.toString();
      const named = path.endsWith('.html')
        ? [...text.matchAll(/ (?:src|href|data-islands|data-fonts)="(\.{1,2}\/[^"#]*)/g)]
        : path.endsWith('.css')
          ? [...text.matchAll(/url\(["']?(?!data:)([^)"'#]+)/g)]
          : [];
      for (const [, address = ''] of named) {
        const target = new URL(address, `https://bundle.test/${path}`).pathname.slice(1);
        if (!bundle.has(decodeURIComponent(target))) missing.push(`${path} names ${target}`);
      }
    }
    expect(missing).toEqual([]);
  });
});

test('the bundle of a plain project has the files of every bundle, its sidebar and its page', async () => {
  expect([...(await bundleOf(plainProject, newFolder())).keys()]).toEqual(
    [...filesOfEveryBundle, ...skillFiles('plain'), '_bindery/navigation/main.js', 'index.md'].sort(),
  );
});
