import { join } from 'node:path';
import { serviceNames } from '#infra/supervisor/service-names.ts';
import type { Publication } from '#services/cli/publish-project.ts';
import { folderObjectStore } from '#shared/object-store/folder-object-store.ts';
import type { ObjectStore } from '#shared/object-store/object-store.ts';
import { exportPathOnly, startInstallation, type TestInstallation } from '../../support/start-installation.ts';
import { cpuSecondsOf } from './process-tree.ts';

/** An installation with what an export needs, without limits that a benchmark would run into. */
export function startStand(options: { renderers?: number; environment?: Record<string, string> } = {}) {
  return startInstallation({
    copies: { ...exportPathOnly, 'page-renderer': options.renderers ?? 1 },
    environment: {
      BINDERY_LIMIT_STARTS_PER_HOUR: '100000',
      BINDERY_LIMIT_LINKS_PER_HOUR: '100000',
      ...options.environment,
    },
  });
}

export const objectFolderOf = ({ folder }: Pick<TestInstallation, 'folder'>): string => join(folder, 'objects');

/** The object store of an installation, beside its services. */
export function objectStoreOf(stand: Pick<TestInstallation, 'folder'>): ObjectStore {
  return folderObjectStore({ folder: objectFolderOf(stand), publicBaseUrl: 'http://x', maxLinkLifetimeSeconds: 60 });
}

export function publishArchive(
  { admin, domain }: TestInstallation,
  archive: Buffer<ArrayBuffer>,
): Promise<Publication> {
  return admin.json<Publication>(`/v1/domains/${domain}/content`, {
    method: 'PUT',
    headers: { 'content-type': 'application/gzip' },
    body: new Blob([archive]).stream(),
  });
}

/** Processor time of all services and of nats-server until now, in seconds; undefined where it cannot be measured. */
export function cpuSecondsOfStand({ installation }: Pick<TestInstallation, 'installation'>): number | undefined {
  const names = [...serviceNames, 'nats-server' as const];
  return cpuSecondsOf(names.flatMap((name) => installation.pids(name)));
}
