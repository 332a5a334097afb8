import type { Finding, FindingCode } from '#shared/docs/findings/finding-texts.ts';
import { Parser } from 'acorn';
import { transformSync } from 'oxc-transform';
import jsx from 'acorn-jsx';
import type { Declaration, Directive, ModuleDeclaration, Program, Statement } from 'estree';
import type { Heading, Nodes, Root } from 'mdast';
import { micromarkPageParser } from '#shared/docs/project/micromark-page-parser.ts';
import type { InlinePictures } from '#shared/docs/project/inline-pictures.ts';
import { leadingTitleOf } from '#shared/docs/project/leading-title.ts';
import type { ParsedPage, ParseOptions } from '#shared/docs/project/parse-page.ts';
import { resolvePath } from '#shared/docs/project/project-files.ts';
import { resolveImport } from '#shared/docs/project/read-sources.ts';
import { satteriPageParser } from '#shared/docs/project/satteri-page-parser.ts';
import { decoded } from '#shared/docs/project/url-policy.ts';
import { evaluateJsx } from './evaluate-element.ts';
import { markFile, type Place } from '../findings.ts';
import { bindPattern, boundNames, evaluateExpression, nameClosure } from './evaluate-expression.ts';
import { nodesIn } from './evaluate-island.ts';
import { evaluateModule, evaluateSnippet } from './evaluate-tree.ts';
import { withStyles } from './place-styles.ts';
import {
  Budget,
  type Evaluation,
  type Frame,
  type KnownComponents,
  maxDepth,
  maxNodes,
  maxPageText,
  NotStatic,
  PageFailed,
  report,
} from './evaluation.ts';
import {
  Closure,
  ComponentReference,
  type Island,
  type Module,
  Scope,
  type StaticValue,
  Unknown,
} from './static-tree.ts';

type PageSource = {
  /** Path in the project. */
  file: string;
  source: Uint8Array | string;
  /** Texts of the files that the page may import, by project path. */
  dependencies: Readonly<Record<string, string>>;
};

export type EvaluatedPage = {
  tree: Root;
  /** The heading that became the title of the page; it is not in the tree. */
  titleHeading?: Heading;
  diagnostics: Finding[];
  /** Islands of the page, by the numbers that they have in the tree. */
  islands: Island[];
  /** Texts of the `<style>` elements of the page and of the snippets that it imports. The tree has them, too. */
  styles: string[];
  /** Pictures that are embedded in the source of the page and of its snippets. */
  pictures: InlinePictures;
  /** The text of the page, and the nodes of its source tree. Nodes of the evaluated tree that are among them are unchanged. */
  source?: { text: string; nodes: ReadonlySet<Nodes> };
};

/**
 * Parses a page and evaluates its expressions, components and snippets. Throws `PageFailed` for a page that exceeds a limit; all other problems are
 * diagnostics.
 */
export function evaluatePage(
  { file, source, dependencies }: PageSource,
  options: ParseOptions & { allowsScripts?: boolean; title?: string },
  components: KnownComponents,
): EvaluatedPage {
  const parseOptions = { ...options, isComponent: (name: string) => components.has(name) };
  const parsed = parserOf(options).parse(source, file, parseOptions);
  const pictures: InlinePictures = new Map(parsed.pictures);
  if (parsed.failure) throw new PageFailed(parsed.failure.code, parsed.failure.message);
  const evaluation: Evaluation = {
    budget: new Budget(),
    // The publication has reported the frontmatter.
    diagnostics: parsed.diagnostics.filter(({ code }) => code !== 'bad-frontmatter'),
    components,
    active: [],
    islands: [],
    allowsScripts: options.allowsScripts ?? true,
    isFirstLook: false,
    ofFiles: [],
    styles: (parsed.styles ?? []).map(({ text }) => text),
    loadModule: moduleLoader(dependencies, parseOptions, pictures, () => evaluation),
    evaluateJsx,
    evaluateSnippet,
  };
  const page = emptyModule(file);
  page.tree = withStyles(parsed.tree, parsed.styles);
  evaluation.active.push(page);
  bindModule(page, evaluation);
  const whole = evaluateModule(page, evaluation);
  const titleHeading = titleHeadingOf(whole, parsed, options.title, { file, source });
  const tree =
    titleHeading === undefined ? whole : { ...whole, children: whole.children.filter((node) => node !== titleHeading) };
  measure(tree);
  const { text } = parsed;
  const { islands, styles } = evaluation;
  const found = {
    ...{ tree, diagnostics: withoutRunning(evaluation), islands, styles, pictures },
    ...(titleHeading && { titleHeading }),
  };
  return text === undefined ? found : { ...found, source: { text, nodes: new Set<Nodes>(parsed.tree.children) } };
}

/** The heading that is the title of the page. It is shown above the content instead of in it. */
function titleHeadingOf(
  tree: Root,
  { frontmatter }: Pick<ParsedPage, 'frontmatter'>,
  title: string | undefined,
  { file, source }: Pick<PageSource, 'file' | 'source'>,
): Heading | undefined {
  const first = tree.children.find((node) => !(node.type === 'staticElement' && node.name === 'style'));
  if (first?.type !== 'heading' || first.depth !== 1 || title === undefined || frontmatter['title'] !== undefined)
    return undefined;
  return leadingTitleOf(source, file) === title ? first : undefined;
}

/** Findings of the page. Findings about whole files are dropped for files with islands, because all code of such a file runs in the browser. */
function withoutRunning({ diagnostics, islands, ofFiles }: Evaluation): Finding[] {
  const running = new Set(islands.map(({ module }) => module));
  const needless = new Set(ofFiles.flatMap(({ module, found }) => (running.has(module) ? [found] : [])));
  return needless.size === 0 ? diagnostics : diagnostics.filter((found) => !needless.has(found));
}

const parserOf = ({ parser }: ParseOptions) => (parser === 'micromark' ? micromarkPageParser : satteriPageParser);

const emptyModule = (path: string): Module => ({
  path,
  tree: { type: 'root', children: [] },
  scope: new Scope(),
  exports: new Set(),
  imports: new Map(),
  missing: new Set(),
});

/** Checks the size of the evaluated page. It is known only at the end, because nodes may be used in many places. */
function measure(tree: Root): void {
  let nodes = 0;
  let text = 0;
  const pending: Nodes[] = [tree];
  for (let node = pending.pop(); node; node = pending.pop()) {
    nodes += 1;
    if ('value' in node) text += node.value.length;
    if (nodes > maxNodes) throw new PageFailed('page-too-large', `it has more than ${maxNodes} nodes`);
    if (text > maxPageText) throw new PageFailed('page-too-large', `it has more than ${maxPageText} characters`);
    if ('children' in node) for (const child of node.children) pending.push(child);
    if (node.type === 'staticElement') for (const value of node.props.values()) pending.push(...nodesIn(value));
  }
}

/** Loads imported files, each once per page. `files`: the texts of all files that may be imported, by project path. */
function moduleLoader(
  files: Readonly<Record<string, string>>,
  options: ParseOptions,
  pictures: InlinePictures,
  evaluation: () => Evaluation,
): Evaluation['loadModule'] {
  const loaded = new Map<string, Module>();
  let depth = 0;
  return (path) => {
    const known = loaded.get(path);
    if (known || !Object.hasOwn(files, path)) return known;
    const module = emptyModule(path);
    loaded.set(path, module);
    if (depth === maxDepth) {
      const frame = { evaluation: evaluation(), module, scope: module.scope };
      report(
        frame,
        'import-too-deep',
        `This file is left out, because it is imported through more than ${maxDepth} other files. Import it from a file that is nearer to the page.`,
      );
      return module;
    }
    depth += 1;
    load(module, files[path] ?? '');
    depth -= 1;
    return module;
  };

  function load(module: Module, source: string): void {
    const { path } = module;
    if (/\.(jsx|tsx|js|ts)$/.test(path)) {
      const frame = { evaluation: evaluation(), module, scope: module.scope };
      const script = parseScript(source, path);
      if ('text' in script) module.script = script.text;
      if ('problem' in script) report(frame, 'import-not-parsed', `This file cannot be read: ${script.problem}`);
      else bindProgram(script.program, frame);
    } else {
      const parsed = parserOf(options).parse(source, path, options);
      module.tree = withStyles(parsed.tree, parsed.styles);
      markFile(module.tree, path);
      for (const [picture, bytes] of parsed.pictures ?? []) pictures.set(picture, bytes);
      evaluation().styles.push(...(parsed.styles ?? []).map(({ text }) => text));
      evaluation().diagnostics.push(...parsed.diagnostics.slice(0, 20));
      bindModule(module, evaluation());
    }
  }
}

/** Binds the imports and exports of a file, in their order. As in MDX, they count on every line that begins with them, even inside components. */
function bindModule(module: Module, evaluation: Evaluation): void {
  const pending: Nodes[] = [module.tree];
  for (let node = pending.pop(); node; node = pending.pop()) {
    if (node.type === 'mdxjsEsm' && node.data?.estree)
      bindProgram(node.data.estree, { evaluation, module, scope: module.scope });
    else if ('children' in node) pending.push(...node.children.toReversed());
  }
}

type ProgramNode = Program['body'][number] | Directive | Statement | ModuleDeclaration;

function bindProgram(program: Program, frame: Frame): void {
  for (const node of program.body) if (node.type === 'ImportDeclaration') bindImport(node, frame);
  for (const node of program.body as ProgramNode[]) {
    if (node.type === 'ExportNamedDeclaration' && node.declaration) bindDeclaration(node.declaration, frame, true);
    else if (node.type === 'VariableDeclaration' || node.type === 'FunctionDeclaration')
      bindDeclaration(node, frame, false);
    else if (node.type !== 'ImportDeclaration' && !isNothing(node)) {
      const what = node.type.startsWith('Export') ? 'Only `export const` is supported; this export' : 'This statement';
      reportOfFile(frame, 'export-not-static', `${what} is left out.`, node);
      if (node.type === 'ClassDeclaration') frame.scope.set(node.id.name, new Unknown('is a class'));
    }
  }
}

/** An empty block in a file of code is a comment: authors write `{/* … *\/}` there as in pages. */
const isNothing = (node: ProgramNode): boolean =>
  node.type === 'EmptyStatement' || (node.type === 'BlockStatement' && node.body.length === 0);

function reportOfFile(frame: Frame, code: FindingCode, message: string, place: Place): void {
  const found = report(frame, code, message, place);
  if (found) frame.evaluation.ofFiles.push({ module: frame.module, found });
}

function bindDeclaration(declaration: Declaration, frame: Frame, isExport: boolean): void {
  const { module } = frame;
  if (declaration.type === 'FunctionDeclaration' && !declaration.async && !declaration.generator) {
    const { name } = declaration.id;
    frame.scope.set(name, new Closure(name, declaration, frame.scope, module));
    if (isExport) module.exports.add(name);
    return;
  }
  if (declaration.type !== 'VariableDeclaration') {
    const message = 'Only constants and arrow functions can be exported; this is left out.';
    reportOfFile(frame, 'export-not-static', message, declaration);
    const { name } = declaration.id;
    frame.scope.set(name, new Unknown(declaration.type === 'ClassDeclaration' ? 'is a class' : 'waits for something'));
    if (isExport) module.exports.add(name);
    return;
  }
  for (const { id, init } of declaration.declarations) {
    const names = boundNames(id);
    try {
      bindPattern(id, init ? nameClosure(evaluateExpression(init, frame), id) : undefined, frame);
    } catch (error) {
      if (!(error instanceof NotStatic)) throw error;
      const message = `The constant \`${names[0] ?? ''}\` has no value here: it ${error.message}.`;
      reportOfFile(frame, error.code, message, declaration);
      for (const name of names) frame.scope.set(name, new Unknown(`has no value here: it ${error.message}`));
    }
    if (isExport) for (const name of names) module.exports.add(name);
  }
}

function bindImport(node: Extract<ModuleDeclaration, { type: 'ImportDeclaration' }>, frame: Frame): void {
  const { evaluation, module } = frame;
  const specifier = String(node.source.value);
  // Hooks need no import here, but importing them is common and harmless.
  if (/^(react|react-dom)$/.test(specifier)) return;
  const written = decoded(specifier);
  const path = resolveImport(written, module.path, (candidate) => evaluation.loadModule(candidate) !== undefined);
  const target = path === undefined ? undefined : evaluation.loadModule(path);
  if (!target) {
    report(frame, ...refusal(specifier, written, module.path), node);
    for (const { local } of node.specifiers) module.missing.add(local.name);
    return;
  }
  module.imports.set(specifier, target);
  for (const imported of node.specifiers) {
    const name = imported.local.name;
    if (imported.type === 'ImportDefaultSpecifier') {
      frame.scope.set(name, new ComponentReference(target));
      continue;
    }
    if (imported.type === 'ImportNamespaceSpecifier') {
      frame.scope.set(name, new Map([...target.exports].map((exported) => [exported, target.scope.get(exported)])));
      continue;
    }
    const wanted = 'name' in imported.imported ? imported.imported.name : String(imported.imported.value);
    const value: StaticValue = target.exports.has(wanted) ? target.scope.get(wanted) : undefined;
    if (!target.exports.has(wanted)) {
      report(frame, 'import-not-found', `${target.path} exports no \`${wanted.slice(0, 60)}\`.`, node);
      module.missing.add(name);
    }
    frame.scope.set(name, value);
  }
}

/**
 * Code and message for a refused import; only project files can be imported. `written` is the decoded specifier, so that an encoded path cannot leave
 * the project later.
 */
function refusal(specifier: string, written: string, importer: string): [code: FindingCode, message: string] {
  const shown = JSON.stringify(specifier.slice(0, 200));
  const path = /^file:|^\/\/|[\\\0]/i.test(written) ? undefined : resolvePath(written, importer);
  if (path === undefined) {
    return ['import-outside-project', `The import ${shown} points outside the project; nothing is imported.`];
  }
  if (!/^\.{0,2}\//.test(written)) {
    const rule = 'only paths that start with "/", "./" or "../" can be imported';
    return ['import-not-allowed', `The import ${shown} is not a file of the project; ${rule}.`];
  }
  return ['import-not-found', `There is no file ${JSON.stringify(path.slice(0, 200))} to import.`];
}

const componentParser = Parser.extend(jsx());

/** Limits of a TypeScript file. The compiler ends the process if code is nested more than some 8000 levels deep. */
const [mostTypeScript, mostOpenings] = [64 * 1024, 8000];

/** JavaScript of a TypeScript file, with its JSX. Throws if the file is not valid TypeScript. */
function withoutTypes(source: string): string {
  if (source.length > mostTypeScript || (source.match(/[([{<]|=>/g)?.length ?? 0) > mostOpenings) {
    throw new Error(`a TypeScript file may have at most ${mostTypeScript / 1024} kB and ${mostOpenings} brackets`);
  }
  const { code, errors } = transformSync('component.tsx', source, {
    lang: 'tsx',
    sourceType: 'module',
    jsx: 'preserve',
  });
  if (errors[0]) throw new Error(errors[0].message);
  return code;
}

/** Text and syntax tree of a component file (`.jsx`, `.tsx`), or the problem in it. The file is not run. */
function parseScript(source: string, path: string): { text: string; program: Program } | { problem: string } {
  try {
    const text = /\.tsx?$/.test(path) ? withoutTypes(source) : source;
    const options = { ecmaVersion: 2024, sourceType: 'module', locations: true } as const;
    return { text, program: componentParser.parse(text, options) as unknown as Program };
  } catch (error) {
    return { problem: (error instanceof Error ? error.message : String(error)).slice(0, 200) };
  }
}
