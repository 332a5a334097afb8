import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { publicRoutes } from '#services/gateway/build-gateway.ts';
import { localProject } from '../../../test/support/docs-projects.ts';
import { publishedProject } from '../../../test/support/published-project.ts';
import { ownTitles } from './interface-description.ts';
import { referencePages } from './reference-pages.ts';

const docs = join(import.meta.dirname, '../../../infra/docs');

const pages = await referencePages();

test.each(Object.entries(pages))('%s is up to date (else run npm run docs:reference)', (path, text) => {
  expect(readFileSync(join(docs, path), 'utf8')).toBe(text);
});

test('every page and description is in the navigation, and the schema is named', () => {
  const navigation = readFileSync(join(docs, 'docs.json'), 'utf8');
  for (const path of Object.keys(pages)) expect(navigation).toContain(`${path.replace('.mdx', '')}"`);
});

test('every documented route has a page with a title and a form, and no other page is made', async () => {
  const { model } = await publishedProject(await localProject(docs));
  const documented = publicRoutes.map(({ declaration }) => declaration).filter(({ undocumented }) => !undocumented);
  const pages = model.pages.filter(({ path }) => path.startsWith('api/'));
  expect(pages).toHaveLength(documented.length);
  expect(new Set(pages.map(({ title }) => title)).size).toBe(pages.length);
  for (const { title } of pages) expect(title).toMatch(/^[A-Z][A-Za-z0-9 ]{3,40}$/);
  const ids = new Set(documented.map(({ id }) => id));
  expect(Object.keys(ownTitles).filter((id) => !ids.has(id))).toEqual([]);
  expect(model.diagnostics).toEqual([]);
});

test('the page of dependencies names every package that services use, and no other', () => {
  const { dependencies } = JSON.parse(readFileSync(join(docs, '../../package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const rows = readFileSync(join(docs, 'operate/dependencies.mdx'), 'utf8').match(/^\| .*? \|/gm) ?? [];
  const named = rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  expect(new Set(named)).toEqual(new Set(Object.keys(dependencies)));
});
