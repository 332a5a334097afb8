import { CORE_SCHEMA, dump, load } from 'js-yaml';
import { messageOf } from '#shared/runtime/failures.ts';
import { endsFence, fenceStart, fenceWords } from './code-fences.ts';
import { colonBlocks } from './colon-blocks.ts';
import { indentedBlocks } from './indented-blocks.ts';
import { addedBreak, type LineSink } from './page-lines.ts';

/** A rule for prose: everything that matches is replaced. `at` is the line in the source. */
export type ProseRule = {
  pattern: RegExp;
  replace: (match: RegExpExecArray, at: number) => string;
};

export type PageContext = {
  /** True where braces are expressions and tags are components. */
  isMdx: boolean;
  blocks: 'colons' | 'indented';
  /** True if the old site shows the title of the frontmatter. Elsewhere the first heading is what readers see, and the title is a name for menus. */
  showsTitle: boolean;
  /** Rules for the tags and marks of the generator, in order. They do not see code. */
  rules: readonly ProseRule[];
  /** A line outside code that has a meaning of its own; the lines in its place, or undefined. */
  wholeLine?: (line: string, at: number) => string[] | undefined;
  /** A link's or picture's new target. */
  target: (target: string, at: number) => string;
  /** The frontmatter of the new page. */
  frontmatter: (found: Record<string, unknown>, body: string) => Record<string, unknown>;
  /** Text before the page's own, from what the frontmatter says about a home page. */
  preface?: (found: Record<string, unknown>, target: PageContext['target']) => string;
  left: (at: number, what: string) => void;
};

/** The text of a page in the new project. Reports marks without a counterpart. */
export function convertPage(text: string, context: PageContext): string {
  const { found, body, firstLine } = frontmatterOf(text, context);
  const title = typeof found['title'] === 'string' ? found['title'] : undefined;
  // Imports and an empty paragraph may stand before the heading that is the title.
  const [begin = ''] = /^(?:\s|&nbsp;|import[ \t][^\n]*(?:\n|$))*/.exec(body) ?? [];
  const heading = /^#[ \t]+(.+?)[ \t]*#*[ \t]*(?:\{[^}]*\})?[ \t]*(?=\n|$)/.exec(body.slice(begin.length));
  const plain = heading?.[1]?.replaceAll(/[*_`]|\[([^\]]*)\]\([^)]*\)/g, '$1');
  // A page shows its title, so that a heading with the same words would be shown twice.
  const isTitle = heading !== null && (title === undefined || title === plain || !context.showsTitle);
  const kept = isTitle ? begin.replaceAll('&nbsp;', '') + body.slice(begin.length + heading[0].length) : body;
  // The heading had no line end of its own, so that the lines after it keep their numbers.
  const isOther = isTitle && title !== undefined && title !== plain;
  const head = context.frontmatter(
    {
      ...found,
      ...(isTitle && plain !== undefined && { title: plain }),
      ...(isOther && found['sidebar_label'] === undefined && { sidebar_label: title }),
    },
    kept,
  );
  const preface = context.preface?.(found, context.target) ?? '';
  const before = preface === '' ? '' : `${preface}\n\n`;
  const converted = convertBody(kept, firstLine, context);
  return `---\n${dump(head, { lineWidth: -1 })}---\n\n${before}${converted.trim()}\n`;
}

function frontmatterOf(
  text: string,
  { left }: PageContext,
): { found: Record<string, unknown>; body: string; firstLine: number } {
  const [whole, yaml = ''] = /^\ufeff?---[ \t]*\n([\s\S]*?)\n?---[ \t]*(?:\n|$)/.exec(text) ?? [];
  if (whole === undefined) return { found: {}, body: text, firstLine: 1 };
  const rest = { body: text.slice(whole.length), firstLine: whole.split('\n').length };
  try {
    const value: unknown = load(yaml, { schema: CORE_SCHEMA });
    return { found: typeof value === 'object' && value !== null ? { ...value } : {}, ...rest };
  } catch (error) {
    left(1, `The frontmatter is not YAML (${messageOf(error).split('\n')[0]})`);
    return { found: {}, ...rest };
  }
}

/** A run of lines: code as it is, or prose. */
type Run = { isCode: boolean; lines: { text: string; at: number }[] };

function convertBody(body: string, firstLine: number, context: PageContext): string {
  const runs: Run[] = [];
  const add = (isCode: boolean, text: string, at: number): void => {
    if (runs.at(-1)?.isCode !== isCode) runs.push({ isCode, lines: [] });
    runs.at(-1)?.lines.push({ text, at });
  };
  const sink: LineSink = {
    line: (text, at) => add(false, text, at),
    tag(text, at) {
      add(false, '', at);
      // Tags of ours are not prose, so that no rule changes them.
      if (text !== '') add(true, text, at);
      add(false, '', at);
    },
    left: context.left,
  };
  const indented = context.blocks === 'indented' ? indentedBlocks(sink) : undefined;
  const colons = indented === undefined ? colonBlocks(sink) : undefined;
  const openBlock = (line: string, at: number): boolean =>
    (indented?.open(line, at) ?? colons?.open(line, at)) === true;
  let fence: string | undefined;
  const lines = body.split('\n');
  for (const [index, given] of lines.entries()) {
    const at = firstLine + index;
    const line = indented?.within(given, at) ?? given;
    if (fence !== undefined) {
      add(true, line, at);
      if (endsFence(line, fence)) fence = undefined;
      continue;
    }
    const [, indent = '', mark, words = ''] = fenceStart.exec(line) ?? [];
    if (mark !== undefined && !words.includes(mark[0] ?? '')) {
      fence = mark;
      add(true, `${indent}${mark}${fenceWords(words)}`, at);
      continue;
    }
    if (openBlock(line, at)) continue;
    const instead = context.wholeLine?.(line, at);
    if (instead === undefined) add(false, line, at);
    else for (const each of instead) add(/^\s*(`{3}|<|$)/.test(each) || instead.length > 1, each, at);
  }
  indented?.end(firstLine + lines.length - 1);
  colons?.end(firstLine + lines.length - 1);
  return runs
    .map((run) => (run.isCode ? run.lines.map(({ text }) => text).join('\n') : convertProse(run, context)))
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n');
}

/** Code and formulas in a line, and tags of components over several lines. */
const untouched = /(`+)(?!`)[\s\S]*?[^`]\1(?!`)|\$\$[\s\S]+?\$\$|\$(?![\s$])[^$\n]*[^$\s\\]\$(?!\d)/g;

function convertProse({ lines }: Run, context: PageContext): string {
  const text = lines.map((line) => line.text).join('\n');
  const kept: string[] = [];
  // A private character holds the place of code.
  let prose = text.replaceAll(untouched, (code) => {
    const isFormula = code.startsWith('$');
    if (isFormula && !/[\\{}^_]/.test(code)) return code;
    kept.push(code);
    return `\ue000${kept.length - 1}\ue001${'\n'.repeat(code.split('\n').length - 1)}`;
  });
  const apply = ({ pattern, replace }: ProseRule): void => {
    let made = '';
    let from = 0;
    let line = 0;
    let lineEnd = prose.indexOf('\n');
    for (const match of prose.matchAll(pattern)) {
      // Matches come in their order, so that the lines of a long page are counted once.
      for (; lineEnd >= 0 && lineEnd < match.index; lineEnd = prose.indexOf('\n', lineEnd + 1)) line += 1;
      const replaced = replace(match, lines[line]?.at ?? 1);
      // The number of lines stays the same until all rules have run, so that their reports name the right ones.
      const missing = match[0].split('\n').length - replaced.split('\n').length;
      made += prose.slice(from, match.index) + replaced + '\n'.repeat(Math.max(0, missing));
      from = match.index + match[0].length;
    }
    prose = made + prose.slice(from);
  };
  for (const rule of [...context.rules, ...commonRules(context)]) apply(rule);
  return prose.replaceAll(addedBreak, '\n').replaceAll(/\ue000(\d+)\ue001(\n*)/g, (_, index: string, ends: string) => {
    const code = kept[Number(index)] ?? '';
    // This removes only the line ends that held the place of those in the code.
    return code + ends.slice(code.split('\n').length - 1);
  });
}

const voidTag = /<(br|hr|img|input|source|wbr|col|embed|track)\b((?:[^<>"']|"[^"]*"|'[^']*')*)>/gi;
const withoutSlash = (attributes: string): string => attributes.trimEnd().replace(/\/$/, '').trimEnd();
const inlineLink = /(!?\[(?:[^[\]]|\[[^\]]*\])*\]\()\s*(<[^>\n]*>|[^)\s]+)((?:\s+(?:"[^"]*"|'[^']*'))?\s*\))/g;
const definition = /^( {0,3}\[[^\]^\n]+\]:[ \t]*)(\S+)/gm;
const addressOfTag = /(\s(?:href|src|to)=)(["'])([^"'{}]*)\2/g;

function commonRules({ isMdx, target }: PageContext): ProseRule[] {
  return [
    ...(isMdx ? [] : [{ pattern: /(?<!\\)[{}]/g, replace: ([brace]: RegExpExecArray) => `\\${brace}` }]),
    ...(isMdx
      ? []
      : [{ pattern: /<(https?:\/\/[^\s<>]+)>/g, replace: ([, to = '']: RegExpExecArray) => `[${to}](${to})` }]),
    // The identifier of a heading is the one use of braces in Markdown that stays.
    { pattern: /^(#{1,6} .*?)\\?\{(#[\w:.-]+)\\?\}[ \t]*$/gm, replace: ([, text, id]) => `${text}{${id}}` },
    {
      pattern: /<!--([\s\S]*?)-->/g,
      replace: ([, words = '']) =>
        words.trim() === '' ? '' : `{/*${words.replaceAll('*/', '* /').replaceAll(/\\([{}])/g, '$1')}*/}`,
    },
    { pattern: voidTag, replace: ([, name = '', rest = '']) => `<${name.toLowerCase()}${withoutSlash(rest)} />` },
    {
      pattern: inlineLink,
      replace: ([, before = '', given = '', after = ''], at) =>
        `${before}${spaced(target(given.replace(/^<|>$/g, ''), at))}${after}`,
    },
    { pattern: definition, replace: ([, before = '', given = ''], at) => `${before}${spaced(target(given, at))}` },
    {
      pattern: addressOfTag,
      replace: ([, before = '', quote = '', given = ''], at) => `${before}${quote}${target(given, at)}${quote}`,
    },
  ];
}

const spaced = (target: string): string => target.replaceAll(' ', '%20');
