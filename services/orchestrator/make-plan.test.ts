import { expect, test } from 'vitest';
import { exportPlanSchema, type PlanChunk } from '#shared/contracts/stored-objects.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { siteModel } from '../../test/support/site-model.ts';
import { makePlan, type PlanInput } from './make-plan.ts';

const input = (model: PlanInput['model'], changes: Partial<PlanInput> = {}): PlanInput => ({
  organization: 'acme',
  domain: 'docs',
  contentVersion: model.contentVersion,
  label: undefined,
  options: { groups: [], deployment: 'cloud', onPageError: 'fail', allowTenantScripts: true },
  model,
  rendererVersion: 'r-0123456789ab',
  ...changes,
});
const pages = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ path: `guides/page-${at}`, text: `# ${at}` }));
const pathsOf = (chunks: PlanChunk[], kind: 'pages' | 'assets') =>
  chunks.flatMap((chunk) => (chunk.kind === kind ? chunk.paths : []));
const keysOf = (chunks: PlanChunk[]) => chunks.map(({ key }) => key);

test('the same input makes the same plan, named by the hash of its text', async () => {
  const first = await makePlan(input(siteModel(pages(100))));
  const second = await makePlan(input(siteModel(pages(100))));
  expect(first.planHash).toBe(second.planHash);
  expect(first.planHash).toBe(sha256Of(first.text));
  expect(exportPlanSchema.parse(JSON.parse(first.text))).toEqual(first.plan);
});

test('the site comes first, then files, then every page once', async () => {
  const model = siteModel(pages(100), { assets: { 'images/a.png': 'a', 'guides/page-3.md': 'shadowed by the page' } });
  const { plan } = await makePlan(input(model));
  expect(plan.chunks.map(({ kind }) => kind).slice(0, 2)).toEqual(['site', 'assets']);
  expect(pathsOf(plan.chunks, 'assets')).toEqual(['images/a.png']);
  expect(pathsOf(plan.chunks, 'pages')).toEqual(model.pages.map(({ path }) => path));
  expect(plan.pageTotal).toBe(100);
});

test('pages of groups are there only when the request names a group', async () => {
  const model = siteModel([
    { path: 'open' },
    { path: 'inner', groups: ['staff'] },
    { path: 'other', groups: ['board'] },
  ]);
  const options = { groups: ['staff'], deployment: 'cloud', onPageError: 'fail', allowTenantScripts: true } as const;
  expect(pathsOf((await makePlan(input(model))).plan.chunks, 'pages')).toEqual(['open']);
  const named = await makePlan(input(model, { options: { ...options, groups: ['staff'] } }));
  expect(pathsOf(named.plan.chunks, 'pages')).toEqual(['inner', 'open']);
});

test('a selection makes a plan of its pages only', async () => {
  const { plan } = await makePlan(input(siteModel(pages(10)), { selection: ['guides/page-3', 'guides/page-7'] }));
  expect(pathsOf(plan.chunks, 'pages')).toEqual(['guides/page-3', 'guides/page-7']);
});

test('one changed page changes the key of its own chunk and of the closing segment', async () => {
  const before = (await makePlan(input(siteModel(pages(300))))).plan;
  const changed = pages(300).map((page) => (page.path === 'guides/page-17' ? { ...page, text: 'new' } : page));
  const after = (await makePlan(input(siteModel(changed)))).plan;
  const kept = new Set(keysOf(before.chunks));
  expect(after.chunks.filter(({ key }) => !kept.has(key))).toHaveLength(1);
  expect(after.closingKey).not.toBe(before.closingKey);
});

test('scripts of the project are left out where tenants may run none', async () => {
  const model = siteModel(pages(1), { scripts: { 'custom.js': '1' } });
  const options = { ...input(model).options, allowTenantScripts: false };
  expect(pathsOf((await makePlan(input(model))).plan.chunks, 'assets')).toEqual(['custom.js']);
  expect(pathsOf((await makePlan(input(model, { options }))).plan.chunks, 'assets')).toEqual([]);
});

test('files that are changed where scripts are not allowed have other keys there, others the same', async () => {
  const assets = { 'images/a.png': 'a', 'images/b.svg': '<svg/>' };
  const keysWith = async (files: Record<string, string>, allowTenantScripts: boolean) => {
    const options = { groups: [], deployment: 'cloud' as const, onPageError: 'fail' as const, allowTenantScripts };
    const { plan } = await makePlan(input(siteModel(pages(1), { assets: files }), { options }));
    return plan.chunks.flatMap(({ kind, key }) => (kind === 'assets' ? [key] : []));
  };
  expect(await keysWith(assets, false)).not.toEqual(await keysWith(assets, true));
  expect(await keysWith({ 'a.png': 'a' }, false)).toEqual(await keysWith({ 'a.png': 'a' }, true));
});
