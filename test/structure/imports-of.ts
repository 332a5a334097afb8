import { posix } from 'node:path';

export type Import = {
  /** As written. */
  specifier: string;
  /** Path from the root of the repository, when it is a file of ours. */
  path?: string;
  /** Name of the package, when it is one of npm. */
  package?: string;
  /** `import type` and `export type`: gone when the file runs. */
  typeOnly: boolean;
};

const patterns = [
  /^\s*(?:import|export)\s[^'"`;()]*?\bfrom\s*['"]([^'"]+)['"]/gm,
  /^\s*import\s*['"]([^'"]+)['"]/gm,
  /\bimport\s*\(\s*['"]([^'"]+)['"]/g,
];

/** What a file imports, types and dynamic imports included. `file` is a path from the root of the repository. */
export function importsOf(file: string, source: string): Import[] {
  return patterns
    .flatMap((pattern) => [...source.matchAll(pattern)])
    .map(([text, specifier = '']) => ({
      specifier,
      typeOnly: /^\s*(?:import|export)\s+type\b/.test(text),
      ...target(file, specifier),
    }));
}

function target(file: string, specifier: string): Pick<Import, 'path' | 'package'> {
  if (specifier.startsWith('.')) return { path: posix.join(posix.dirname(file), specifier) };
  if (specifier.startsWith('#')) return { path: specifier.slice(1) };
  if (specifier.startsWith('node:')) return {};
  const parts = specifier.split('/');
  return { package: specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? specifier) };
}
