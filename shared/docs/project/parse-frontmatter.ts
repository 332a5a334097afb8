import type { Finding } from '#shared/docs/findings/finding-texts.ts';
import { CORE_SCHEMA, defineMappingTag, defineScalarTag, defineSequenceTag, load, type LoadOptions } from 'js-yaml';
import { messageOf } from '#shared/runtime/failures.ts';
import { isJsonObject, type JsonObject, plainJson, textsOf } from './json-values.ts';

export type Frontmatter = {
  data: JsonObject;
  /**
   * The text between the fences as written, or '' if there are none. If the block is never closed, or does not begin in the first line, these are its
   * first 64 KB, which are also in `body`.
   */
  raw: string;
  /** True if the block exists but could not be read; `data` then holds at most title and description. */
  broken: boolean;
  /** True if it names groups, or seems to, and they cannot be read. Then the page must not be open to everyone. */
  groupsUnreadable: boolean;
  /** The text after the block, preceded by as many empty lines as the block had, so that line numbers are those of the file. */
  body: string;
  diagnostics: Finding[];
};

const maxFrontmatterBytes = 64 * 1024;
const maxDepth = 20;

/**
 * Removes the YAML block from the start of a page. `text` comes from `decodeSource`. In the YAML 1.2 core schema dates stay text; aliases, merge keys
 * and language tags are refused. Never throws: problems are reported as `bad-frontmatter`.
 */
export function parseFrontmatter(text: string, file: string): Frontmatter {
  const found = blockOf(text, file);
  return { ...found, groupsUnreadable: losesGroups(found) };
}

type Block = Omit<Frontmatter, 'groupsUnreadable'>;

const noBlock = (body: string): Block => ({ data: {}, raw: '', broken: false, body, diagnostics: [] });

/** Matches the key in any frontmatter language: at the start of a line or in braces, quoted or not, with or without a tag. */
const groupsKey = /(?:^[ \t]*|[{,?]\s*)(?:[!&]\S*[ \t]+)?["']?groups["']?\s*[:=]/im;

function losesGroups({ data, raw, broken, diagnostics }: Block): boolean {
  const written = Object.keys(data).find((key) => key.trim().toLowerCase() === 'groups');
  if (written !== undefined && written !== 'groups') return true;
  if (textsOf(data['groups']).length > 0) return false;
  return (broken || diagnostics.length > 0) && groupsKey.test(raw);
}

function blockOf(text: string, file: string): Block {
  const none = noBlock(text);
  const opening = /^---([^\n]*)(?:\n|$)/.exec(text);
  const language = (opening?.[1] ?? '').trim();
  if (!opening || (language !== '' && !/^[A-Za-z]+$/.test(language))) return misplacedBlock(text, file) ?? none;
  const report = (message: string, line = 1): Finding => ({
    severity: 'warning',
    code: 'bad-frontmatter',
    message,
    file,
    line,
  });

  const start = opening[0].length;
  const closing = /^---[ \t]*$/m.exec(text.slice(start));
  if (!closing) {
    const head = text.slice(start, start + maxFrontmatterBytes);
    if (!startsLikeYaml(head)) return none;
    const diagnostics = [report('The frontmatter is never closed. Add a line "---" after it.')];
    return { ...none, raw: head, broken: true, diagnostics };
  }
  const raw = text.slice(start, start + closing.index);
  const rest = text.slice(start + closing.index + closing[0].length);
  const body = '\n'.repeat(raw.split('\n').length) + rest;
  if (language !== '' && language !== 'yaml' && language !== 'yml') {
    const message = `Frontmatter in the language "${language.slice(0, 20)}" is not read. Write it as YAML between two lines "---".`;
    return { data: {}, raw, broken: true, body, diagnostics: [report(message)] };
  }
  if (Buffer.byteLength(raw) > maxFrontmatterBytes) {
    return { data: {}, raw, broken: true, body, diagnostics: [report('The frontmatter is larger than 64 KB.')] };
  }
  return { ...readYaml(raw, report), raw, body };
}

/** A block that its author meant as frontmatter, but that does not begin in the first line, or not with only three dashes. It is text. */
function misplacedBlock(text: string, file: string): Block | undefined {
  const head = text.slice(0, maxFrontmatterBytes);
  const [, above = '', raw = ''] = /^(\s*)-{3}[^\n]*\n(.*?)\n[ \t]*(?:-{3,}|\.{3})[ \t]*(?:\n|$)/s.exec(head) ?? [];
  if (!/^["']?(?:title|sidebarTitle|description|groups)["']?[ \t]*:/im.test(raw)) return undefined;
  const message =
    'This is not read as frontmatter. Begin the file with it, and write "---" alone in its first line and in its last.';
  const line = above.split('\n').length;
  const found: Finding = { severity: 'warning', code: 'bad-frontmatter', message, file, line };
  return { ...noBlock(text), raw, broken: true, diagnostics: [found] };
}

/** True if the first line that is not a comment names a key. Otherwise a "---" that is never closed is a thematic break above the text. */
function startsLikeYaml(head: string): boolean {
  const line = head.split('\n').find((each) => each.trim() !== '' && !each.startsWith('#')) ?? '';
  return /^["']?[\w$-]+["']?[ \t]*:(?:\s|$)/.test(line);
}

function readYaml(
  raw: string,
  report: (message: string, line?: number) => Finding,
): Pick<Block, 'data' | 'broken' | 'diagnostics'> {
  if (!/^[^\n#]*[^\s#]/m.test(raw)) return { data: {}, broken: false, diagnostics: [] };
  const simple = quotedLines(raw);
  if (simple !== undefined) return { data: plainJson(simple) as JsonObject, broken: false, diagnostics: [] };
  const unknownTags = new Set<string>();
  try {
    const value = loadLeniently(raw, {
      schema: raw.includes('!') ? schemaThatDropsUnknownTags(unknownTags) : CORE_SCHEMA,
      maxAliases: 0,
      maxDepth,
      maxTotalMergeKeys: 0,
      json: true,
    });
    const diagnostics = [...unknownTags].map((tag) =>
      report(`The YAML tag "${tag}" is not allowed; its value is left out.`),
    );
    const data = plainJson(value);
    if (isJsonObject(data)) return { data, broken: false, diagnostics };
    return { data: {}, broken: true, diagnostics: [report('The frontmatter must be a list of "key: value" lines.')] };
  } catch (error) {
    const { sentence, line } = explain(error, raw);
    return { data: rescued(raw), broken: true, diagnostics: [report(sentence, line)] };
  }
}

/** Matches `name: "text"` if the text has no character that is special in YAML. */
const quotedLine = /^([A-Za-z][\w-]{0,99}): "([ !#-[\]-~\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]*)"$/;

/** Reads frontmatter that consists only of such lines, as on most pages, without a parser. Undefined if it has others. */
function quotedLines(raw: string): JsonObject | undefined {
  const data: JsonObject = {};
  for (const line of raw.split('\n')) {
    if (line === '') continue;
    const found = quotedLine.exec(line);
    if (found === null) return undefined;
    data[found[1] ?? ''] = found[2] ?? '';
  }
  return data;
}

function loadLeniently(raw: string, options: LoadOptions): unknown {
  try {
    return load(raw, options);
  } catch (error) {
    const indented = indentQuotedLines(raw);
    if (indented === raw) throw error;
    return load(indented, options);
  }
}

function explain(error: unknown, raw: string): { sentence: string; line: number } {
  const { reason, mark } = error as { reason?: string; mark?: { line?: number } };
  const why = (reason ?? messageOf(error)).slice(0, 200);
  const at = mark?.line ?? 0;
  const advice = valueWithColon.test(raw.split('\n')[at] ?? '') ? ' Put a value with a colon into quotes.' : '';
  // The mark's line counts from 0 within the block, which starts on the file's second line.
  return { sentence: `The frontmatter is not valid YAML: ${why}.${advice}`, line: at + 2 };
}

/** Matches a line whose value has a colon but no quotes, such as `title: Part one: the start`. */
const valueWithColon = /^[\w-]+:[ \t]+[^"'{[\s][^\n]*:(?:\s|$)/;

/** Title and description of a block that is not valid YAML, often because of a colon in a title, so that the page keeps its name. */
function rescued(raw: string): JsonObject {
  const data: JsonObject = {};
  for (const key of ['title', 'description', 'sidebarTitle']) {
    const line = new RegExp(`^${key}:[ \\t]*([^\\n]{1,500})$`, 'm').exec(raw);
    const text = line?.[1]?.trim().replace(/^(["'])(.*)\1$/, '$2');
    if (text && !/^[*&!|>{[]/.test(text)) data[key] = text;
  }
  return data;
}

/** Turns a value whose tag is not in the core schema into null, and notes the tag. Otherwise the whole block would be refused. */
function schemaThatDropsUnknownTags(seen: Set<string>) {
  const note = (tag: string): void => void seen.add(shortTag(tag));
  const dropped = { matchByTagPrefix: true as const, identify: () => false };
  const collection = {
    ...dropped,
    create: (tag: string): null[] => {
      note(tag);
      return [];
    },
    finalize: () => null,
  };
  return CORE_SCHEMA.withTags(
    ['!', 'tag:'].flatMap((prefix) => [
      defineScalarTag<null>(prefix, {
        ...dropped,
        resolve: (_source, _isExplicit, tag) => {
          note(tag);
          return null;
        },
      }),
      defineSequenceTag<null[], null>(prefix, { ...collection, addItem: () => undefined }),
      defineMappingTag<null[], null>(prefix, {
        ...collection,
        addPair: () => '',
        has: () => false,
        keys: () => [],
        get: () => undefined,
      }),
    ]),
  );
}

const shortTag = (tag: string): string => tag.replace('tag:yaml.org,2002:', '!!').slice(0, 60);

/**
 * Adds a blank before the second and later lines of a quoted value: YAML 1.2 requires them to be indented. Older parsers did not, and real
 * frontmatter often does not indent them.
 */
function indentQuotedLines(yaml: string): string {
  let quote: string | undefined;
  return yaml
    .split('\n')
    .map((line) => {
      if (quote) {
        if (closes(line, 0, quote)) quote = undefined;
        return ` ${line}`;
      }
      const opening = /^[\w"'.:-]+:[ \t]+(["'])/.exec(line);
      const mark = opening?.[1];
      if (opening && mark && !closes(line, opening[0].length, mark)) quote = mark;
      return line;
    })
    .join('\n');
}

function closes(line: string, from: number, quote: string): boolean {
  for (let at = from; at < line.length; at += 1) {
    if (quote === '"' && line[at] === '\\') at += 1;
    else if (line[at] === quote) {
      if (quote === '"' || line[at + 1] !== quote) return true;
      at += 1;
    }
  }
  return false;
}
