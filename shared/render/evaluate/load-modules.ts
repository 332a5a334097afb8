import type { Declaration, Directive, ModuleDeclaration, Program, Statement } from 'estree';
import type { PageParser, ParsedPage } from '#shared/docs-project/parse-page.ts';
import { bindPattern, evaluateExpression, type Frame, nameClosure } from './evaluate-expression.ts';
import { type Evaluation, report } from './evaluation.ts';
import type { Module } from './module.ts';
import { NotStatic } from './not-static.ts';
import { parseScript } from './parse-script.ts';
import { resolveImport } from './resolve-import.ts';
import { Scope } from './scope.ts';
import { Closure, ComponentReference, type StaticValue } from './static-tree.ts';

/** Reads files that pages import, each once per page. `files` has the text of all that may be imported, by project path. */
export function moduleLoader(
  files: Readonly<Record<string, string>>,
  parser: PageParser,
  options: Parameters<PageParser['parse']>[2],
  evaluation: () => Evaluation,
): Evaluation['loadModule'] {
  const loaded = new Map<string, Module>();
  return (path) => {
    const known = loaded.get(path);
    if (known || !Object.hasOwn(files, path)) return known;
    const source = files[path] ?? '';
    const module: Module = { path, tree: { type: 'root', children: [] }, scope: new Scope(), exports: new Set() };
    loaded.set(path, module);
    if (/\.(jsx|tsx|js|ts)$/.test(path)) {
      const script = parseScript(source);
      if ('problem' in script)
        report(evaluation(), module, 'import-not-parsed', `This file cannot be read: ${script.problem}`);
      else bindProgram(script.program, { evaluation: evaluation(), module, scope: module.scope });
    } else {
      const parsed = parser.parse(source, path, options);
      module.tree = parsed.tree;
      evaluation().diagnostics.push(...parsed.diagnostics.slice(0, 20));
      bindModule(module, evaluation());
    }
    return module;
  };
}

/** The page itself as a module. */
export function pageModule(path: string, parsed: ParsedPage, evaluation: Evaluation): Module {
  const module: Module = { path, tree: parsed.tree, scope: new Scope(), exports: new Set() };
  evaluation.active.push(module);
  bindModule(module, evaluation);
  return module;
}

/** Binds what a file imports, then what it exports, in its order. */
function bindModule(module: Module, evaluation: Evaluation): void {
  for (const node of module.tree.children) {
    if (node.type === 'mdxjsEsm' && node.data?.estree) {
      bindProgram(node.data.estree, { evaluation, module, scope: module.scope });
    }
  }
}

type ProgramNode = Program['body'][number] | Directive | Statement | ModuleDeclaration;

function bindProgram(program: Program, frame: Frame): void {
  for (const node of program.body) if (node.type === 'ImportDeclaration') bindImport(node, frame);
  for (const node of program.body as ProgramNode[]) {
    if (node.type === 'ExportNamedDeclaration' && node.declaration) bindDeclaration(node.declaration, frame, true);
    else if (node.type === 'VariableDeclaration' || node.type === 'FunctionDeclaration')
      bindDeclaration(node, frame, false);
    else if (node.type !== 'ImportDeclaration' && node.type !== 'EmptyStatement') {
      const what = node.type.startsWith('Export') ? 'Only `export const` is known; this export' : 'This statement';
      report(frame.evaluation, frame.module, 'export-not-static', `${what} is left out.`, node);
    }
  }
}

function bindDeclaration(declaration: Declaration, frame: Frame, isExport: boolean): void {
  const { evaluation, module } = frame;
  if (declaration.type === 'FunctionDeclaration' && !declaration.async && !declaration.generator) {
    const { name } = declaration.id;
    frame.scope.set(name, new Closure(name, declaration, frame.scope, module));
    if (isExport) module.exports.add(name);
    return;
  }
  if (declaration.type !== 'VariableDeclaration') {
    report(
      evaluation,
      module,
      'export-not-static',
      'Only constants and arrow functions can be exported; this is left out.',
      declaration,
    );
    return;
  }
  for (const { id, init } of declaration.declarations) {
    const names = 'name' in id ? [id.name] : [];
    try {
      bindPattern(id, init ? nameClosure(evaluateExpression(init, frame), id) : undefined, frame);
    } catch (error) {
      if (!(error instanceof NotStatic)) throw error;
      report(
        evaluation,
        module,
        error.code,
        `The constant \`${names[0] ?? ''}\` has no value here: it ${error.message}.`,
        declaration,
      );
      for (const name of names) frame.scope.set(name, undefined);
    }
    if (isExport) for (const name of names) module.exports.add(name);
  }
}

function bindImport(node: Extract<ModuleDeclaration, { type: 'ImportDeclaration' }>, frame: Frame): void {
  const { evaluation, module } = frame;
  const specifier = String(node.source.value);
  // Hooks are there without an import; importing them all the same is common and harmless.
  if (/^(react|react-dom)$/.test(specifier)) return;
  const resolved = resolveImport(specifier, module.path);
  if (!('path' in resolved)) {
    report(evaluation, module, resolved.code, resolved.message, node);
    return;
  }
  const candidates = [resolved.path, `${resolved.path}.mdx`, `${resolved.path}.jsx`, `${resolved.path}.md`];
  const target = candidates
    .map((path) => evaluation.loadModule(path, module.path))
    .find((found) => found !== undefined);
  if (!target) {
    report(
      evaluation,
      module,
      'import-not-found',
      `There is no file ${JSON.stringify(resolved.path.slice(0, 200))} to import.`,
      node,
    );
    return;
  }
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
      report(evaluation, module, 'import-not-found', `${target.path} exports no \`${wanted.slice(0, 60)}\`.`, node);
    }
    frame.scope.set(name, value);
  }
}
