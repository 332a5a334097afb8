import { Parser } from 'acorn';
import jsx from 'acorn-jsx';
import type { Program } from 'estree';
import { transformSync } from 'oxc-transform';
import { messageOf } from '#shared/runtime/failures.ts';
import { boundNames } from '../evaluate/evaluate-expression.ts';
import { namesIn } from '../evaluate/names-in.ts';
import type { Island, Module } from '../evaluate/static-tree.ts';

/** A file as a function of the page's script, with all texts in it, which include the class names that it uses, and the texts that name icons. */
export type CompiledModule = { code: string; texts: string[]; icons: string[] };

/** A file that cannot run in the browser. `message` is the end of a sentence, `line` the line in the file. */
export class NotCompiled extends Error {
  readonly line: number | undefined;
  constructor(message: string, line?: number) {
    super(message);
    this.line = line;
  }
}

/** Names that code may use without an import. */
const reactNames = new Set(
  `useState useEffect useRef useCallback useMemo useContext useReducer useLayoutEffect useInsertionEffect useId useTransition useDeferredValue
  useSyncExternalStore useImperativeHandle useDebugValue useOptimistic useActionState use createContext createElement cloneElement
  isValidElement memo forwardRef lazy startTransition Children Component PureComponent Fragment StrictMode Suspense`.split(
    /\s+/,
  ),
);
/**
 * Name of the object that the page's script passes to the function: React, elements, the components of pages, and the exports of files. Authors do
 * not use such a name.
 */
const host = 'bindery$';

/**
 * Compiles a file to a function `(bindery$) => { exports, islands }` for a browser. `islands`: the islands of the page whose code is in the file's
 * scope, by number. Nothing of the file is run. Throws `NotCompiled`.
 */
export function compileModule(module: Module, islands: readonly [number: number, island: Island][]): CompiledModule {
  const file = new ModuleText();
  for (const { text, line } of codeOf(module)) addPiece(file, text, line, module);
  const source = file.source(islands);
  const { code, errors } = transformSync('component.jsx', source, {
    lang: 'jsx',
    sourceType: 'script',
    jsx: { runtime: 'classic', pragma: `${host}.element`, pragmaFrag: `${host}.Fragment`, pure: false },
  });
  const [error] = errors;
  if (error) throw new NotCompiled(error.message.slice(0, 200), file.lineAt(error.labels[0]?.start ?? 0, source));
  return { code: code.trim().replace(/;$/, ''), texts: file.texts, icons: file.icons };
}

type Piece = { text: string; line: number };

/** The code of a file in pieces, each with the line in which it starts. */
function codeOf({ script, tree }: Module): Piece[] {
  if (script !== undefined) return [{ text: script, line: 1 }];
  return tree.children.flatMap((node) =>
    node.type === 'mdxjsEsm' ? [{ text: node.value, line: node.position?.start.line ?? 1 }] : [],
  );
}

const moduleParser = Parser.extend(jsx());

function parsed({ text, line }: Piece): Program {
  try {
    return moduleParser.parse(text, { ecmaVersion: 'latest', sourceType: 'module' }) as unknown as Program;
  } catch (error) {
    const at = (error as { loc?: { line: number } }).loc?.line;
    throw new NotCompiled(messageOf(error).slice(0, 200), at === undefined ? undefined : line + at - 1);
  }
}

type Placed = { start: number; end: number };
const placeOf = (node: unknown): Placed => node as Placed;

/** Adds a piece without its imports and exports. */
function addPiece(file: ModuleText, text: string, line: number, module: Module): void {
  const program = parsed({ text, line });
  let names: ReturnType<typeof namesIn>;
  try {
    names = namesIn(program);
  } catch (error) {
    throw new NotCompiled(messageOf(error), line);
  }
  for (const name of names.used) file.used.add(name);
  for (const name of names.elements) file.elements.add(name);
  file.texts.push(...names.texts);
  file.icons.push(...names.icons);
  let body = '';
  let from = 0;
  const replace = ({ start, end }: Placed, by = ''): void => {
    const lines = text.slice(start, end).replace(/[^\n]+/g, '');
    body += text.slice(from, start) + by + lines;
    from = end;
  };
  for (const node of program.body) {
    switch (node.type) {
      case 'ImportDeclaration':
        file.imports.push(...importLines(node, module));
        for (const { local } of node.specifiers) file.top.add(local.name);
        replace(placeOf(node));
        break;
      case 'ExportNamedDeclaration': {
        const { declaration } = node;
        if (declaration) {
          const declared =
            declaration.type === 'VariableDeclaration'
              ? declaration.declarations.flatMap(({ id }) => boundNames(id))
              : [declaration.id.name];
          for (const name of declared) {
            file.exported.set(name, name);
            file.top.add(name);
          }
          replace({ start: placeOf(node).start, end: placeOf(declaration).start });
          break;
        }
        for (const { local, exported } of node.source ? [] : node.specifiers) {
          if (local.type === 'Identifier' && exported.type === 'Identifier')
            file.exported.set(exported.name, local.name);
        }
        replace(placeOf(node));
        break;
      }
      case 'ExportDefaultDeclaration': {
        const { declaration } = node;
        const isNamed = 'id' in declaration && declaration.id !== null && declaration.type.endsWith('Declaration');
        replace(isNamed ? { start: placeOf(node).start, end: placeOf(declaration).start } : placeOf(node));
        break;
      }
      case 'ExportAllDeclaration':
        replace(placeOf(node));
        break;
      case 'VariableDeclaration':
        for (const { id } of node.declarations) for (const name of boundNames(id)) file.top.add(name);
        break;
      case 'FunctionDeclaration':
      case 'ClassDeclaration':
        file.top.add(node.id.name);
        break;
    }
  }
  file.add(body + text.slice(from), line);
}

type Import = Extract<Program['body'][number], { type: 'ImportDeclaration' }>;

/** Constants for the imports of a file, from React, React DOM, and other files. Any other imported name has no value. */
function importLines({ source, specifiers }: Import, module: Module): string[] {
  const specifier = String(source.value);
  const target = module.imports.get(specifier);
  const from =
    specifier === 'react'
      ? `${host}.React`
      : /^react-dom(\/client)?$/.test(specifier)
        ? `${host}.ReactDOM`
        : target === undefined
          ? '{}'
          : `${host}.load(${JSON.stringify(target.path)})`;
  return specifiers.map(({ type, local, ...rest }) => {
    if (type === 'ImportNamespaceSpecifier') return `const ${local.name} = ${from};`;
    if (type === 'ImportDefaultSpecifier') {
      const value = from.startsWith(`${host}.React`) ? from : `${host}.nothing`;
      return `const ${local.name} = ${value};`;
    }
    const { imported } = rest as { imported: { name?: string; value?: unknown } };
    return `const ${local.name} = ${from}[${JSON.stringify(imported.name ?? String(imported.value))}];`;
  });
}

/** The text of the function while it is built. It keeps the lines of the file, so that a position in the function maps back to the file. */
class ModuleText {
  readonly used = new Set<string>();
  readonly elements = new Set<string>();
  readonly texts: string[] = [];
  readonly icons: string[] = [];
  readonly imports: string[] = [];
  /** Names at the top of the file. */
  readonly top = new Set<string>();
  /** Exported name → name in the file. */
  readonly exported = new Map<string, string>();
  readonly #pieces: Piece[] = [];
  #firstPiece = 0;

  add(text: string, line: number): void {
    this.#pieces.push({ text, line });
  }

  source(islands: readonly [number, Island][]): string {
    const calls = islands.map(([number, { component, props }]) => {
      return `${number}: (${host}slot) => [${component}, ${props}]`;
    });
    const exports = [...this.exported].map(([name, local]) => `${JSON.stringify(name)}: ${local}`);
    const head = [
      `(function (${host}) {`,
      ...this.#given(islands).map(([name, value]) => `const ${name} = ${value};`),
      'return (function () {',
      '"use strict";',
      ...this.imports,
    ];
    this.#firstPiece = head.length;
    const tail = [
      'return {',
      `exports: { ${exports.join(', ')} },`,
      `islands: { ${calls.join(', ')} }`,
      '};',
      '})();',
      '})',
    ];
    return [...head, ...this.#pieces.map(({ text }) => text), ...tail].join('\n');
  }

  /** Names that the code uses without declaring them: React and its hooks, and components of pages. */
  #given(islands: readonly [number, Island][]): [name: string, value: string][] {
    const called = islands.flatMap(([, { component, props }]) => [component, props]).join('\n');
    const isUsed = (name: string): boolean =>
      !this.top.has(name) && (this.used.has(name) || this.elements.has(name) || called.includes(name));
    const ofReact = ['React', ...reactNames].filter(isUsed);
    const components = [...this.elements, ...capitalNames(called)].filter(
      (name) => /^[A-Z]\w*$/.test(name) && !this.top.has(name) && name !== 'React' && !reactNames.has(name),
    );
    return [
      ...ofReact.map((name): [string, string] => [name, name === 'React' ? `${host}.React` : `${host}.React.${name}`]),
      ...[...new Set(components)].map((name): [string, string] => [name, `${host}.component(${JSON.stringify(name)})`]),
    ];
  }

  /** The line of the file for a position in the source; undefined for a position in generated code. */
  lineAt(bytes: number, source: string): number | undefined {
    const before = Buffer.from(source).subarray(0, bytes).toString();
    let line = before.split('\n').length - 1 - this.#firstPiece;
    for (const piece of this.#pieces) {
      const count = piece.text.split('\n').length;
      if (line >= 0 && line < count) return piece.line + line;
      line -= count;
    }
    return undefined;
  }
}

/** Names of the components in the code of an attribute. */
const capitalNames = (code: string): string[] => Array.from(code.matchAll(/<([A-Z]\w*)/g), ([, name = '']) => name);
