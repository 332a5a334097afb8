import { expect, test } from 'vitest';
import { InvalidProject } from '#shared/docs/project/diagnostics.ts';
import { checkedPages } from '#shared/docs/render/checked-page.ts';
import { pageSlice } from '#shared/docs/render/page-slice.ts';
import { indexSite } from '#shared/docs/render/site-index.ts';
import { testOptions, testProject } from '#shared/docs/render/test-project.ts';
import type { FindingText } from './finding-text.ts';
import { findingGroups, findingTexts } from './finding-texts.ts';
import { repaired, repairOf } from './repair.ts';
import { type RepairableFinding, siteFindings } from './site-findings.ts';

const basicConfig = { name: 'Acme', theme: 'mint', colors: { primary: '#0f766e' } };

/** All files of an example. Its part of `docs.json` replaces settings of a small configuration. */
function projectOf(file: string, text: string, others: Readonly<Record<string, string>> = {}): Record<string, string> {
  const files: Record<string, string> = { 'index.mdx': '---\ntitle: Start\n---\n\nWords of a page.', ...others };
  if (text !== '') files[file] = text;
  const paths = Object.keys(files).filter((path) => /\.mdx?$/.test(path) && !path.startsWith('snippets/'));
  const config = { ...basicConfig, navigation: { pages: paths.map((path) => path.replace(/\.mdx?$/, '')) } };
  const isPart = file === 'docs.json' && !text.startsWith('{');
  const own = isPart ? { ...config, ...(JSON.parse(`{${text}}`) as object) } : config;
  return { ...files, 'docs.json': isPart ? JSON.stringify(own) : (files['docs.json'] ?? JSON.stringify(own)) };
}

async function findingsOf(files: Record<string, string>): Promise<RepairableFinding[]> {
  try {
    const project = await testProject(files);
    const { model } = project;
    const text = (path: string): string => project.text(path);
    const index = indexSite(model);
    const pages = [...index.exported].flatMap((path) => {
      const slice = pageSlice(index, path, testOptions);
      const texts = Object.fromEntries(slice.dependencies.map((one) => [one.path, text(one.path)]));
      return checkedPages({ pages: [{ slice, source: text(slice.file) }], texts, options: testOptions });
    });
    const found = [...model.diagnostics, ...pages.flatMap(({ diagnostics }) => diagnostics)];
    return [
      ...found.map((finding) => {
        const repair = repairOf(finding);
        return { finding, ...(repair && { repair }) } as RepairableFinding;
      }),
      ...siteFindings(model, pages, testOptions),
    ];
  } catch (error) {
    if (!(error instanceof InvalidProject)) throw error;
    const { code, file, message } = error;
    return [{ finding: { severity: 'error', code, file, message } }];
  }
}

const codesIn = (found: readonly RepairableFinding[]): string[] => [
  ...new Set(found.map(({ finding }) => finding.code)),
];

const rank = ['error', 'warning', 'info'];

const withExample = Object.entries<FindingText>(findingTexts).flatMap(([code, text]) =>
  text.example === undefined ? [] : [{ code, text, example: text.example }],
);

test.each(withExample)(
  'the example of $code has the finding, and the repaired one does not',
  async ({ code, text, example }) => {
    const { file, before, after } = example;
    const found = await findingsOf(projectOf(file, before, text.others));
    expect(codesIn(found)).toContain(code);
    const severities = found.flatMap(({ finding }) => (finding.code === code ? [rank.indexOf(finding.severity)] : []));
    expect(Math.min(...severities)).toBeGreaterThanOrEqual(rank.indexOf(text.severity));
    expect(codesIn(await findingsOf(projectOf(file, after, text.others)))).not.toContain(code);
  },
);

const fixed = withExample.filter(({ text }) => text.fix === true);

test.each(fixed)(
  'the repair of $code makes the repaired example, and repairs nothing twice',
  async ({ code, text, example }) => {
    const files = projectOf(example.file, example.before, text.others);
    const repairs = (await findingsOf(files)).flatMap(({ finding, repair }) =>
      finding.code === code && repair ? [repair] : [],
    );
    const { text: next, made } = repaired(example.before, repairs);
    expect(made).toHaveLength(1);
    expect(next).toBe(example.after);
    const again = await findingsOf(projectOf(example.file, next, text.others));
    expect(again.flatMap(({ repair }) => repair ?? [])).toEqual([]);
  },
);

/** Codes whose finding needs large or damaged files, a server, other sites or git. Tests of their own files make them. */
const withoutExample =
  `missing-config config-too-large config-too-deep project-not-read no-pages generated-file-left-out file-too-large
  file-not-read more-diagnostics bad-encoding mdx-syntax page-not-parsed page-not-rendered page-too-large nesting-too-deep expression-too-deep
  island-not-run import-too-deep component-recursion island-not-compiled islands-too-large diagram-too-large bidi-in-code too-many-classes
  card-left-out claimed-groups page-moved page-removed broken-external-link external-link-moved external-link-not-known api-pages-not-rendered
  openapi-reference-missing openapi-too-large openapi-operation-too-large example-not-made heavy-picture
  heavy-page remote-fetch-failed remote-copy-used remote-changed remote-not-there-yet lock-out-of-date bad-lock`.split(
    /\s+/,
  );

test('every code has an example, but those that no short file has', () => {
  const without = Object.entries<FindingText>(findingTexts).flatMap(([code, { example }]) => (example ? [] : [code]));
  expect(without.sort()).toEqual(withoutExample.toSorted());
});

test('no code is in two groups, and every text is a sentence', () => {
  const codes = Object.values(findingGroups).flatMap((texts) => Object.keys(texts));
  expect(new Set(codes).size).toBe(codes.length);
  for (const { says, repair } of Object.values<FindingText>(findingTexts)) {
    expect(says).toMatch(/^(?:API|[^A-Z]).*\.$/s);
    expect(repair).toMatch(/^[A-Z`].*\.$/s);
  }
});
