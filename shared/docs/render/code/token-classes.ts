import type { PrismToken } from './prism.ts';
import { plain, Runs } from './runs.ts';

const byType = (classes: Readonly<Record<string, string>>): [type: string, className: string][] =>
  Object.entries(classes).flatMap(([className, types]) =>
    types
      .trim()
      .split(/\s+/)
      .map((type): [string, string] => [type, className === 'plain' ? plain : className]),
  );

/**
 * Classes of the theme, short because a page has thousands of them: `tc` constant, `ts` unquoted string, `te` string, `tm` comment, `tk` keyword,
 * `tf` function, `tl` link, `ti` and `td` inserted and deleted lines. A type has the class that TextMate's grammars give to most of its characters in
 * real documentation; a type without a class inherits the colour around it.
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

/** Differences of some languages. `rest` is the class of text that Prism leaves plain. */
const special: ReadonlyMap<string, Special> = new Map<string, Special>([
  ['scss', { types: new Map(byType({ tc: 'property variable' })), rest: 'tc' }],
  ['json5', { types: new Map(byType({ tk: 'property' })) }],
  ['ini', { types: new Map(byType({ tk: 'key', te: 'value' })) }],
  ['c', { types: new Map(byType({ tc: 'class-name' })) }],
]);

/** Languages with the same differences as a language of `special`. */
const like: ReadonlyMap<string, string> = new Map([
  ['less', 'scss'],
  ['hcl', 'json5'],
  ...['toml', 'properties', 'systemd'].map((name) => [name, 'ini'] as const),
  ...['cpp', 'kotlin'].map((name) => [name, 'c'] as const),
]);

/** The runs of code from its Prism tokens. `language` is Prism's own name, not an alias. */
export function classifiedRuns(code: string, tokens: readonly (string | PrismToken)[], language: string): Runs {
  const { types, rest = plain } = special.get(like.get(language) ?? language) ?? { types: new Map<string, string>() };
  const runs = new Runs(code);
  let end = 0;

  const classOf = ({ type, alias }: PrismToken, inherited: string, parent: string): string => {
    // Quotes have the class of their string; the brackets of a tag do not have the class of its name.
    if (type === 'punctuation') return parent === 'string' || parent === 'attr-value' ? inherited : plain;
    const own = types.get(type) ?? common.get(type);
    if (own !== undefined || alias === undefined) return own ?? inherited;
    for (const name of typeof alias === 'string' ? [alias] : alias) {
      const found = types.get(name) ?? common.get(name);
      if (found !== undefined) return found;
    }
    return inherited;
  };

  const walk = (content: PrismToken['content'], className: string, parent: string): void => {
    if (typeof content === 'string') {
      end += content.length;
      runs.add(end, className);
    } else if (Array.isArray(content)) for (const part of content) walk(part, className, parent);
    else walk(content.content, classOf(content, className, parent), content.type);
  };
  for (const token of tokens) walk(token, rest, '');
  return runs;
}
