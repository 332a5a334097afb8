import { createRequire } from 'node:module';

/** Native packages that children with addons load. */
const nativePackages = [
  { what: 'The parser of pages', loader: 'satteri', code: '@bruits/satteri' },
  { what: 'The compiler of components', loader: 'oxc-transform', code: '@oxc-transform/binding' },
  { what: 'The minifier', loader: 'oxc-minify', code: '@oxc-minify/binding' },
];

/**
 * Throws unless the native code of the page parser and the other packages that children load is installed for this system: without it each child of a
 * service would end at its start, and each task fail. The code is only located here, because only a child loads it. `system` is a name such as
 * `linux-x64-gnu`.
 */
export function requireNativeParser(system = systemName(), from: string | URL = import.meta.url): void {
  for (const { what, loader, code } of nativePackages) {
    const wanted = `${code}-${system}`;
    try {
      createRequire(createRequire(from).resolve(loader)).resolve(wanted);
    } catch {
      throw new Error(
        `${what} has no native code for this system: the package ${wanted} is not installed. Run "npm ci" on this system, with optional packages: those that were installed on another one, or with --omit=optional, are not enough.`,
      );
    }
  }
}

/** Name of this system in the names of native packages. */
function systemName(): string {
  const { platform, arch } = process;
  if (platform === 'win32') return `${platform}-${arch}-msvc`;
  return platform === 'linux' ? `${platform}-${arch}-${hasGlibc() ? 'gnu' : 'musl'}` : `${platform}-${arch}`;
}

function hasGlibc(): boolean {
  // Without this option the report would resolve the names of network addresses, which takes seconds.
  Object.assign(process.report, { excludeNetwork: true });
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime !== undefined;
}
