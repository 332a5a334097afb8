import { posix } from 'node:path';

/** The only files that may import a client library: the adapter that knows that system. */
const adapters: readonly { packages: RegExp; files: RegExp; where: string }[] = [
  { packages: /^@nats-io\//, files: /^shared\/messaging\/nats\//, where: 'shared/messaging/nats' },
  { packages: /^@(aws-sdk|smithy)\//, files: /^shared\/storage\/s3/, where: 'shared/storage/s3*' },
  {
    packages: /^@elastic\//,
    files: /^shared\/search\/(vectors\/)?elasticsearch/,
    where: 'shared/search/elasticsearch*',
  },
  { packages: /^ioredis$/, files: /^shared\/http\/rate-limit-redis/, where: 'shared/http/rate-limit-redis*' },
];

const kebabCase = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*\.(ts|mts|mjs)$/;
const namesThatSayNothing = /^(utils?|helpers?|common|manager|data|process)$/;

/**
 * The rules for files and imports that a file breaks, as sentences. `file` is a path from the root of the repository, `dependencies`: the packages
 * that are installed where the services run.
 */
export function brokenRules(file: string, source: string, dependencies: ReadonlySet<string>): string[] {
  const imports = importsOf(file, source);
  const broken = [...namesOf(file), ...exportsOf(file, source)];
  if (/^shared\/aggregates\/.*^export const \w+ = event\(/ms.test(`${file}\n${source}`)) {
    broken.push('exports the schema of one event: only the aggregate knows the shapes of its events');
  }
  if (!isTest(file)) {
    broken.push(...imports.flatMap((one) => [...spelling(file, one), ...arrows(file, one, dependencies)]));
  }
  return broken.map((rule) => `${file} ${rule}`);
}

function isTest(file: string): boolean {
  return file.startsWith('test/') || /\.(test|contract)\.(ts|mjs)$/.test(file) || file === 'vitest.config.ts';
}

function namesOf(file: string): string[] {
  const name = posix.basename(file);
  const words = file.split('/').map((part) => part.replace(/\..*$/, ''));
  return [
    ...(kebabCase.test(name) ? [] : ['is not named in kebab-case']),
    ...(name.startsWith('index.') ? ['is a barrel: import the files themselves'] : []),
    ...words
      .filter((word) => namesThatSayNothing.test(word))
      .map((word) => `has "${word}" in its path, which says nothing`),
  ];
}

function exportsOf(file: string, source: string): string[] {
  // vitest requires a default export in its settings.
  if (/vitest.*\.config\.ts$/.test(file)) return [];
  return /^\s*export\s+default\b|^\s*export\s*\{[^}]*\bas\s+default\b/m.test(source) ? ['has a default export'] : [];
}

function spelling(file: string, { specifier, path }: Import): string[] {
  if (path === undefined) return [];
  if (specifier.startsWith('.') && roomOf(path) !== roomOf(file)) {
    return [`imports ${specifier}: across folders write #${path}`];
  }
  const inside = posix.dirname(path) === posix.dirname(file);
  return specifier.startsWith('#') && inside
    ? [`imports ${specifier}: inside a folder write ./${posix.basename(path)}`]
    : [];
}

/** The room of a file: `shared/docs/render/html.ts` is in `shared/docs`. */
function roomOf(file: string): string {
  return file.split('/').slice(0, 2).join('/');
}

function arrows(file: string, one: Import, dependencies: ReadonlySet<string>): string[] {
  if (one.path !== undefined) return ourArrow(file, one.path);
  if (one.package === undefined) return [];
  const { package: name } = one;
  const adapter = adapters.find(({ packages, files }) => packages.test(name) && !files.test(file));
  return [
    ...(adapter ? [`imports ${name}, which only ${adapter.where} may`] : []),
    ...(one.typeOnly || dependencies.has(name)
      ? []
      : [`imports ${name}, which is not among the dependencies of package.json`]),
  ];
}

function ourArrow(file: string, target: string): string[] {
  const [from = '', fromService] = file.split('/');
  const [to = '', toService] = target.split('/');
  const isCommandLine = file.startsWith('services/cli/');
  const aggregate = aggregateOf(file);
  if (isTest(target)) return [`imports ${target}, which is for tests`];
  if (from === 'shared' && to !== 'shared')
    return [`imports ${target}: shared may import only shared and npm packages`];
  if (aggregate !== undefined && aggregateOf(target) !== undefined && aggregateOf(target) !== aggregate) {
    return [`imports ${target}: an aggregate may not import another aggregate`];
  }
  if (aggregate !== undefined && !/^shared\/(aggregates|contracts|http|runtime)\//.test(target)) {
    return [`imports ${target}: an aggregate is pure, so it may import only contracts, http and runtime of shared`];
  }
  if (
    to === 'shared' &&
    aggregate === undefined &&
    from === 'shared' &&
    /\/aggregates\/[^/]+\/decide\.ts$/.test(target)
  ) {
    return [`imports ${target}: only services may import a decide.ts`];
  }
  if (from === 'services' && to === 'services' && fromService !== toService && !isCommandLine) {
    return [`imports ${target}: services share contracts, and may not import each other's code`];
  }
  if (from === 'services' && to === 'infra' && !isCommandLine)
    return [`imports ${target}: only services/cli may use infra`];
  if (from === 'infra' && to === 'services') return [`imports ${target}: infra may not import services`];
  return [];
}

const aggregateOf = (file: string): string | undefined => /^shared\/aggregates\/([^/]+)\//.exec(file)?.[1];

export type Import = {
  /** Specifier of the import, unchanged. */
  specifier: string;
  /** Path from the root of the repository, for files of ours. */
  path?: string;
  /** Name of the package, for npm packages. */
  package?: string;
  /** True for `import type` and `export type`, which do not exist at run time. */
  typeOnly: boolean;
  /** True for `import(…)`, which is loaded on demand. */
  dynamic: boolean;
};

const patterns = [
  /^\s*(?:import|export)\s[^'"`;()]*?\bfrom\s*['"]([^'"]+)['"]/gm,
  /^\s*import\s*['"]([^'"]+)['"]/gm,
  /\bimport\s*\(\s*['"]([^'"]+)['"]/g,
];

/** The imports of a file, types and dynamic imports included. `file` is a path from the root of the repository. */
export function importsOf(file: string, source: string): Import[] {
  return patterns
    .flatMap((pattern) => [...source.matchAll(pattern)])
    .map(([text, specifier = '']) => ({
      specifier,
      typeOnly: /^\s*(?:import|export)\s+type\b/.test(text),
      dynamic: /^import\s*\(/.test(text),
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
