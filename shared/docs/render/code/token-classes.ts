import type { PrismToken } from './prism.ts';

/** A piece of a line; `className` is absent for plain text. */
export type Token = { text: string; className?: string };

/** No colour of its own, also inside something coloured. */
const plain = '';

const byType = (classes: Readonly<Record<string, string>>): [type: string, className: string][] =>
  Object.entries(classes).flatMap(([className, types]) =>
    types
      .trim()
      .split(/\s+/)
      .map((type): [string, string] => [type, className === 'plain' ? plain : className]),
  );

/**
 * Classes of the theme, short because a page has thousands: `tc` constant, `ts` unquoted string, `te` string, `tm` comment, `tk` keyword,
 * `tf` function, `tl` link, `ti` and `td` inserted and deleted lines. A type has the class that TextMate's grammars give to most of its
 * characters in real documentation; one without class looks like what is around it.
 */
const common: ReadonlyMap<string, string> = new Map(
  byType({
    te: 'string char attr-value tag template-string string-property regex heredoc lifetime-annotation header-name code-snippet',
    ts: 'cdata scalar url header-value',
    tm: 'comment prolog doctype shebang triple-quoted-string',
    tk: 'keyword operator rule unit important template-punctuation interpolation-punctuation directive-hash metadata',
    tc: 'number boolean constant symbol null nil atom object constant-name datetime date package',
    tf: `function class-name attr-name selector builtin decorator annotation macro method call label argument-name`,
    ti: 'inserted inserted-sign',
    td: 'deleted deleted-sign',
    plain:
      'script interpolation expression plain-text embedded-code title table-header front-matter entity assign-left',
  }),
);

type Special = { types: ReadonlyMap<string, string>; rest?: string };

/** Where a language differs. `rest` is what Prism leaves plain. */
const special: ReadonlyMap<string, Special> = new Map<string, Special>([
  ['bash', { types: new Map(byType({ ts: 'parameter', tk: 'builtin' })), rest: 'ts' }],
  ['css', { types: new Map(byType({ tc: 'property variable' })), rest: 'tc' }],
  ['json', { types: new Map(byType({ tk: 'property' })) }],
  ['yaml', { types: new Map(byType({ tk: 'key', tc: 'important' })), rest: 'te' }],
  ['ini', { types: new Map(byType({ tk: 'key', te: 'value' })) }],
  ['go', { types: new Map(byType({ tk: 'builtin' })) }],
  ['python', { types: new Map(byType({ tc: 'builtin' })) }],
  ['typescript', { types: new Map(byType({ tc: 'builtin' })) }],
  ['sql', { types: new Map(byType({ tk: 'boolean' })) }],
  ['java', { types: new Map(byType({ tk: 'class-name namespace' })) }],
  ...['c', 'cpp', 'dart', 'php', 'ruby'].map((name): [string, Special] => [
    name,
    { types: new Map(byType({ tc: 'class-name' })) },
  ]),
]);

/** Languages that look like another one of `special`. */
const like: ReadonlyMap<string, string> = new Map([
  ...['scss', 'less'].map((name) => [name, 'css'] as const),
  ...['json5', 'hcl'].map((name) => [name, 'json'] as const),
  ...['toml', 'properties', 'systemd'].map((name) => [name, 'ini'] as const),
  ['tsx', 'typescript'],
  ['kotlin', 'dart'],
]);

/** Coloured code, line by line; neighbours of the same class are one piece. `language` is Prism's own name, not an alias. */
export function classifiedLines(tokens: readonly (string | PrismToken)[], language: string): Token[][] {
  const { types, rest = plain } = special.get(like.get(language) ?? language) ?? { types: new Map<string, string>() };
  let line: Token[] = [];
  const lines = [line];

  const classOf = ({ type, alias }: PrismToken, inherited: string, parent: string): string => {
    // Quotes belong to their string; the brackets of a tag do not belong to its name.
    if (type === 'punctuation') return parent === 'string' || parent === 'attr-value' ? inherited : plain;
    const own = types.get(type) ?? common.get(type);
    if (own !== undefined || alias === undefined) return own ?? inherited;
    for (const name of typeof alias === 'string' ? [alias] : alias) {
      const found = types.get(name) ?? common.get(name);
      if (found !== undefined) return found;
    }
    return inherited;
  };

  const add = (text: string, className: string): void => {
    if (text === '') return;
    const last = line.at(-1);
    if (last && (last.className ?? plain) === className) last.text += text;
    else line.push(className === plain ? { text } : { text, className });
  };

  const walk = (content: PrismToken['content'], className: string, parent: string): void => {
    if (typeof content === 'string') {
      let from = 0;
      for (let end = content.indexOf('\n'); end >= 0; end = content.indexOf('\n', from)) {
        add(content.slice(from, end), className);
        line = [];
        lines.push(line);
        from = end + 1;
      }
      add(from === 0 ? content : content.slice(from), className);
    } else if (Array.isArray(content)) for (const part of content) walk(part, className, parent);
    else walk(content.content, classOf(content, className, parent), content.type);
  };
  for (const token of tokens) walk(token, rest, '');
  return lines;
}
