import { z } from 'zod';

/** Oldest Node that the package runs on: the one of its packages that asks for the newest, undici, needs it. */
const oldestNode = '22.19.0';

/**
 * Packages that only installations with servers of their own load, which are two thirds of all files: the image has them, and with the package their
 * users install them beside it. `missingPackage` says so when one is needed.
 */
const leftOut = new Set([
  '@ai-sdk/mistral',
  '@ai-sdk/openai-compatible',
  '@aws-sdk/client-s3',
  '@aws-sdk/s3-request-presigner',
  '@elastic/elasticsearch',
  '@opentelemetry/sdk-node',
  'ai',
  'ioredis',
]);

/**
 * Packages that npm installs beside the package: those with native code, which it chooses for the system, and one that is loaded by its name. The code
 * of all others is in the compiled programs, because npm takes most of the time of a first start, and as long for a small package as for a large one.
 */
const installed = new Set(['@parcel/watcher', 'oxc-minify', 'oxc-transform', 'satteri', 'undici']);

/** The bundler makes the package and the snapshots of a clone. */
const bundler = 'rolldown';

/** True if the code of a package is in the compiled programs. `specifier`: as it is imported. */
export function isBundled(specifier: string): boolean {
  const [scope = '', own = ''] = specifier.split('/');
  const name = scope.startsWith('@') ? `${scope}/${own}` : scope;
  return !installed.has(name) && !leftOut.has(name) && name !== bundler;
}

const cloneSchema = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  license: z.string(),
  type: z.literal('module'),
  bin: z.record(z.string(), z.string()),
  dependencies: z.record(z.string(), z.string()),
});

export type PackageManifest = z.output<typeof cloneSchema> & {
  engines: { node: string };
  files: string[];
  /** Versions of the packages that are left out. They are no peers, because npm refuses a project that has another version of an optional peer. */
  leftOut: Record<string, string>;
};

/**
 * The package.json of the package, from that of the clone. It has neither scripts nor what only work on Bindery needs, and not the Node that a clone
 * brings.
 */
export function packageManifest(clone: object): PackageManifest {
  const { name, version, description, license, type, bin, dependencies } = cloneSchema.parse(clone);
  const ofNames = (isMeant: (name: string) => boolean): Record<string, string> =>
    Object.fromEntries(Object.entries(dependencies).filter(([each]) => isMeant(each)));
  return {
    name,
    version,
    description,
    license,
    type,
    engines: { node: `>=${oldestNode}` },
    bin: Object.fromEntries(Object.entries(bin).map(([command, file]) => [command, `dist/${file}`])),
    files: ['dist', '!dist/package.json.of-the-clone', 'npm-shrinkwrap.json'],
    dependencies: ofNames((each) => installed.has(each)),
    leftOut: ofNames((each) => leftOut.has(each)),
  };
}

const lockSchema = z.object({
  lockfileVersion: z.number(),
  packages: z.record(
    z.string(),
    z.looseObject({
      dependencies: z.record(z.string(), z.string()).optional(),
      optionalDependencies: z.record(z.string(), z.string()).optional(),
      peerDependencies: z.record(z.string(), z.string()).optional(),
    }),
  ),
});

/**
 * The lock file of the package, with which npm installs the versions that the clone was tested with, checked by their digests. It has the packages
 * that the manifest names and those that they need.
 */
export function packageShrinkwrap(lock: object, manifest: PackageManifest): object {
  const { lockfileVersion, packages } = lockSchema.parse(lock);
  const { name, version, license, engines, bin, dependencies } = manifest;
  const needed = new Set<string>();
  const pending = Object.keys(dependencies).map((each) => ({ each, from: '' }));
  for (let next = pending.pop(); next; next = pending.pop()) {
    const place = placeOf(packages, next.each, next.from);
    // A peer that nobody needs is in no lock file.
    if (place === undefined || needed.has(place)) continue;
    needed.add(place);
    const entry = packages[place];
    for (const each of Object.keys({
      ...entry?.dependencies,
      ...entry?.optionalDependencies,
      ...requiredPeers(entry),
    }))
      pending.push({ each, from: place });
  }
  return {
    name,
    version,
    lockfileVersion,
    requires: true,
    packages: {
      '': { name, version, license, dependencies, bin, engines },
      ...Object.fromEntries([...needed].sort().map((place) => [place, shippedEntry(packages[place])])),
    },
  };
}

type LockEntry = z.output<typeof lockSchema>['packages'][string] | undefined;

function requiredPeers(entry: LockEntry): Record<string, string> {
  const optional = (entry?.['peerDependenciesMeta'] ?? {}) as Record<string, { optional?: boolean }>;
  return Object.fromEntries(
    Object.entries(entry?.peerDependencies ?? {}).filter(([name]) => optional[name]?.optional !== true),
  );
}

/** The marks say for what the clone has the package. */
function shippedEntry(entry: LockEntry): object {
  const { dev: _dev, devOptional: _devOptional, ...shipped } = entry ?? {};
  return shipped;
}

/** The place of a package for one at `from`: the nearest one, as Node finds it. */
function placeOf(packages: object, name: string, from: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const place = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (Object.hasOwn(packages, place)) return place;
    if (folder === '') return undefined;
  }
}
