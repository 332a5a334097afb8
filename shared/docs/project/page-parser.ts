import type { Finding } from '#shared/docs/findings/finding-texts.ts';
import type { Heading, Root } from 'mdast';
import { messageOf } from '#shared/runtime/failures.ts';
import { decodeSource } from './decode-source.ts';
import { droppedCells } from './dropped-cells.ts';
import { takePictures } from './inline-pictures.ts';
import { parseFrontmatter } from './parse-frontmatter.ts';
import type { PageParser, ParsedPage, ParseOptions } from './parse-page.ts';
import { Repairs, TooManyRepairs } from './lenient/repairs.ts';
import { prepareSource } from './prepare-source.ts';
import {
  bringBackLines,
  type BrokenLimit,
  brokenLimit,
  brokenMdxLimit,
  maxSourceBytes,
  ParserLimit,
  setAsideLongLines,
  sourceTooLarge,
} from './source-limits.ts';
import { withoutVersionLinks } from './version-names.ts';

/**
 * Parses a text whose limits are checked. `mdx` throws for invalid MDX; with `repairs` it repairs the text, and throws when too many repairs are
 * needed. `html` keeps tags as `html` nodes. `plain` reads tags and braces as text. With `math` it makes nodes for formulas.
 */
export type ToTree = (text: string, format: 'mdx' | 'html' | 'plain', math: boolean, repairs?: Repairs) => Root;

/** The common part of all page parsers: limits, frontmatter, preparation for MDX, and the result for a broken page. */
export function pageParser(toTree: ToTree): PageParser {
  return { parse: (source, file, options = {}) => parse(toTree, source, file, options) };
}

function parse(toTree: ToTree, source: Uint8Array | string, file: string, options: ParseOptions): ParsedPage {
  const sizeBytes = typeof source === 'string' ? Buffer.byteLength(source) : source.byteLength;
  const tooLarge = sourceTooLarge(sizeBytes);
  if (tooLarge) return refused(tooLarge, { frontmatter: {}, diagnostics: [] }, file);
  const decoded = decodeSource(source, file);
  const { data: frontmatter, body: written, diagnostics: found } = parseFrontmatter(decoded.text, file);
  const { text: body, pictures } = takePictures(written, options.pictureFolder ?? 'pictures');
  const prepared = prepareSource(body, file, options.variables ?? {});
  const { lines, fenced, headingIds } = prepared;
  const head = {
    frontmatter,
    diagnostics: [...decoded.diagnostics, ...found, ...prepared.diagnostics],
    ...(prepared.styles.length > 0 && { styles: prepared.styles }),
    ...(pictures.size > 0 && { pictures }),
  };
  const broken = sourceTooLarge(bytesOf(lines)) ?? brokenLimit(lines, fenced);
  if (broken) return refused(broken, head, file);
  const longLines = setAsideLongLines(lines, fenced);
  const text = lines.join('\n');
  const finished = (tree: Root): Root => {
    if (text.includes('|')) head.diagnostics.push(...droppedCells(tree, file));
    if (text.includes('@')) withoutVersionLinks(tree);
    return bringBackLines(withHeadingIds(tree, headingIds), longLines);
  };

  const isMarkdown = file.toLowerCase().endsWith('.md');
  const mdxProblem = brokenMdxLimit(lines, fenced);
  if (mdxProblem && mdxProblem.code !== 'mdx-syntax' && !isMarkdown) return refused(mdxProblem, head, file);
  const parsed = longLines.size > 0 ? {} : { text };
  const math = options.latex !== false && text.includes('$');
  const asMdx = (repairs?: Repairs): ParsedPage => {
    const tree = finished(toTree(text, 'mdx', math, repairs));
    if (repairs) head.diagnostics.push(...repairs.diagnostics);
    return { ...head, ...(repairs ? {} : parsed), tree, format: 'mdx' };
  };
  try {
    if (mdxProblem) throw Object.assign(new Error(mdxProblem.message), { line: mdxProblem.line });
    return asMdx();
  } catch (error) {
    const limit = limitIn(error);
    if (limit) return refused(limit, head, file);
    if (!isMarkdown) {
      try {
        if (mdxProblem) throw error;
        return asMdx(new Repairs(text, file, options.isComponent));
      } catch (problem) {
        const broken = limitIn(problem);
        if (broken) return refused(broken, head, file);
        head.diagnostics.push(syntaxDiagnostic(problem instanceof TooManyRepairs ? problem : error, file));
      }
    }
  }
  try {
    const tree = toTree(text, isMarkdown ? 'html' : 'plain', math);
    return { ...head, ...(isMarkdown ? parsed : {}), tree: finished(tree), format: 'markdown' };
  } catch (error) {
    const message = `The page cannot be parsed: ${sentenceOf(error)}`;
    return refused(limitIn(error) ?? { code: 'page-not-parsed', message }, head, file);
  }
}

/** Size in bytes of a text in lines; 0 if it is clearly below the limit. */
function bytesOf(lines: readonly string[]): number {
  let characters = 0;
  for (const line of lines) characters += line.length + 1;
  // A UTF-16 code unit has at most three bytes in UTF-8.
  return characters * 3 <= maxSourceBytes ? 0 : Buffer.byteLength(lines.join('\n'));
}

const overflow: BrokenLimit = { code: 'nesting-too-deep', message: 'The page is nested too deep. Use fewer levels.' };

/** The limit that a page broke during parsing. */
function limitIn(error: unknown): BrokenLimit | undefined {
  if (error instanceof ParserLimit) return error.limit;
  return error instanceof RangeError ? overflow : undefined;
}

function withHeadingIds(tree: Root, headingIds: ReadonlyMap<number, string>): Root {
  if (headingIds.size === 0) return tree;
  const stack: unknown[] = [tree];
  while (stack.length > 0) {
    const node = stack.pop() as { type: string; children?: unknown[] };
    if (node.type === 'heading') {
      const heading = node as Heading;
      const id = headingIds.get(heading.position?.start.line ?? 0);
      if (id !== undefined) heading.data = { ...heading.data, id };
    }
    if (node.children) for (const child of node.children) stack.push(child);
  }
  return tree;
}

function refused(limit: BrokenLimit, head: Pick<ParsedPage, 'frontmatter' | 'diagnostics'>, file: string): ParsedPage {
  const { code, message, line } = limit;
  const diagnostic: Finding = { severity: 'error', code, message, file, ...(line ? { line } : {}) };
  return {
    frontmatter: head.frontmatter,
    tree: { type: 'root', children: [] },
    format: 'none',
    failure: { code, message },
    diagnostics: [...head.diagnostics, diagnostic],
  };
}

function syntaxDiagnostic(error: unknown, file: string): Finding {
  const { line, column } = error as { line?: number; column?: number };
  const message = `This page is not valid MDX, so its tags are shown as text: ${sentenceOf(error)}`;
  return {
    severity: 'error',
    code: 'mdx-syntax',
    message,
    file,
    ...(line && line > 0 ? { line } : {}),
    ...(column && column > 0 ? { column } : {}),
  };
}

function sentenceOf(error: unknown): string {
  const { reason } = error as { reason?: string };
  return (reason ?? messageOf(error)).slice(0, 300);
}
