import { watch } from 'node:fs';
import { join } from 'node:path';
import { isProgramName, type ProgramName, programNames } from './services.ts';

/** Debounce time: an editor or a change of branch writes many files within it, and services restart once. */
const debounceMs = 200;

/** Folders below the root of the repository whose code services run. */
const watched = ['services', 'shared'];

export type CodeWatch = { close(): void };

/**
 * Watches the code of all services. Calls `onChange` with the services whose code changed and with one of the changed files (a path from `root`),
 * once for each burst of changes. Throws where the system has no watches left.
 */
export function watchCode(root: string, onChange: (services: readonly ProgramName[], file: string) => void): CodeWatch {
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const tell = (): void => {
    const files = [...changed];
    changed.clear();
    const services = new Set(files.flatMap(servicesOfFile));
    const [first] = files;
    if (first !== undefined)
      onChange(
        programNames.filter((name) => services.has(name)),
        first,
      );
  };
  const watchers = watched.map((folder) =>
    watch(join(root, folder), { recursive: true }, (_event, name) => {
      const file = name === null ? '' : `${folder}/${name.replaceAll('\\', '/')}`;
      if (servicesOfFile(file).length === 0) return;
      changed.add(file);
      clearTimeout(timer);
      timer = setTimeout(tell, debounceMs);
    }),
  );
  return {
    close() {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}

/** The services that run a file: one for a file of its own folder, all for a file of `shared`. Tests and the command line belong to no service. */
export function servicesOfFile(file: string): readonly ProgramName[] {
  if (!/\.(?:ts|js|mjs|css|json)$/.test(file) || /\.(?:test|contract)\.\w+$/.test(file)) return [];
  const [folder, name = ''] = file.split('/');
  if (folder === 'shared') return programNames;
  return folder === 'services' && isProgramName(name) ? [name] : [];
}
