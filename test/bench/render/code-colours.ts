/*
 * Measures how far our colours of code agree with those of TextMate's grammars, by character and language, over the blocks of real projects and of
 * the neutral corpus. Blanks do not count, and punctuation counts as plain. Shiki, which has the grammars, is not a dependency: `npm install --prefix
 * <folder> shiki && node test/bench/render/code-colours.ts <folder>`
 */
import { join, resolve } from 'node:path';
import type { Code, Nodes } from 'mdast';
import { satteriPageParser } from '#shared/docs/project/satteri-page-parser.ts';
import { codeFacts } from '#shared/docs/render/code/code-block.ts';
import { highlight, knownLanguage } from '#shared/docs/render/code/highlighter.ts';
import { ownLexers } from '#shared/docs/render/code/languages/own-lexers.ts';
import { corpusFolder, localProject } from '../../support/docs-projects.ts';
import { shown, table } from '../export/measurement.ts';
import { neutralCorpus } from './neutral-corpus.ts';

const projects = ['mintlify-docs', 'fastmcp', 'turso-docs', 'meilisearch', 'keep'];
const longestCode = 20_000;

type Block = { language: string; code: string; from: 'real' | 'neutral' };

/** The part of Shiki's API that is used. */
type Shiki = {
  bundledLanguages: Record<string, unknown>;
  createCssVariablesTheme(options: { name: string; variablePrefix: string }): unknown;
  createHighlighter(options: { themes: unknown[]; langs: string[] }): Promise<{
    codeToTokensBase(
      code: string,
      options: { lang: string; theme: string; tokenizeTimeLimit: number },
    ): { content: string; color?: string }[][];
  }>;
};

/** Our classes by Shiki's names of colours. */
const classes: Readonly<Record<string, string>> = {
  constant: 'tc',
  string: 'ts',
  comment: 'tm',
  keyword: 'tk',
  parameter: 'tp',
  function: 'tf',
  'string-expression': 'te',
  link: 'tl',
};

async function blocks(): Promise<Block[]> {
  const found = new Map<string, Block>();
  const take = (source: string | Uint8Array, file: string, from: Block['from']): void => {
    for (const { value, lang, meta } of codeIn(satteriPageParser.parse(source, file, {}).tree)) {
      const { language } = codeFacts({ code: value, language: lang, meta });
      if (language !== '' && value.length <= longestCode)
        found.set(`${language}\n${value}`, { language, code: value, from });
    }
  };
  for (const name of projects) {
    const project = await localProject(join(corpusFolder, name));
    for (const { path } of project.files) {
      if (/\.mdx?$/.test(path)) take(await project.read(path, longestCode * 100), path, 'real');
    }
  }
  for (const [path, source] of neutralCorpus(200)) take(source, path, 'neutral');
  return [...found.values()];
}

function codeIn(node: Nodes): Code[] {
  if (node.type === 'code') return [node];
  return 'children' in node ? node.children.flatMap((child) => codeIn(child)) : [];
}

/** The class of each character; a blank for plain. */
const spread = (lines: { text: string; className?: string | undefined }[][]): string =>
  lines
    .map((line) => line.map(({ text, className }) => (className?.[1] ?? ' ').repeat(text.length)).join(''))
    .join('\n');

/** Number of agreeing characters of a block, and of all. */
function agreement(code: string, ours: string, theirs: string): { agreed: number; of: number } {
  let [agreed, of] = [0, 0];
  for (let at = 0; at < code.length; at += 1) {
    if (/\s/.test(code.charAt(at))) continue;
    of += 1;
    if (ours[at] === theirs[at]) agreed += 1;
  }
  return { agreed, of };
}

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Name the folder where Shiki is: code-colours.ts <folder>');
const shiki = (await import(resolve(folder, 'node_modules/shiki/dist/index.mjs'))) as Shiki;
const theme = shiki.createCssVariablesTheme({ name: 'colours', variablePrefix: '--' });
const highlighters = new Map<string, ReturnType<Shiki['createHighlighter']>>();
const sums = new Map<string, { agreed: number; of: number; blocks: number }>();
for (const { language, code, from } of await blocks()) {
  const name = language in shiki.bundledLanguages ? language : knownLanguage(language);
  const ownName = knownLanguage(language);
  if (name === undefined || ownName === undefined || !(name in shiki.bundledLanguages)) continue;
  // Each language has a separate highlighter, because grammars also colour embedded code if its language is loaded.
  const made = highlighters.get(name) ?? shiki.createHighlighter({ themes: [theme], langs: [name] });
  highlighters.set(name, made);
  const lines = (await made).codeToTokensBase(code, { lang: name, theme: 'colours', tokenizeTimeLimit: 0 });
  const theirs = lines.map((line) =>
    line.map(({ content, color }) => ({
      text: content,
      className: classes[/^var\(--token-([a-z-]+)\)$/.exec(color ?? '')?.[1] ?? ''],
    })),
  );
  const { agreed, of } = agreement(code, spread(highlight(code, language).lines()), spread(theirs));
  const key = `${ownName} (${from})`;
  const sum = sums.get(key) ?? { agreed: 0, of: 0, blocks: 0 };
  sums.set(key, { agreed: sum.agreed + agreed, of: sum.of + of, blocks: sum.blocks + 1 });
}
const rows = [...sums]
  .sort(([, a], [, b]) => b.of - a.of)
  .map(([key, { agreed, of, blocks: count }]) => [
    key,
    ownLexers.has(key.split(' ')[0] ?? '') ? 'own' : 'Prism',
    String(count),
    String(of),
    `${shown((100 * agreed) / of)} %`,
  ]);
process.stdout.write(`${table(['language', 'by', 'blocks', 'characters', 'agree'], rows)}\n`);
