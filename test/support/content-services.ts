import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { linkSignerApp } from '#services/link-signer/link-signer-app.ts';
import { openUploads } from '#services/publisher/project-files.ts';
import { publisherApp } from '#services/publisher/publisher-app.ts';
import { serviceMetrics } from '#shared/runtime/metrics.ts';
import { projectPool } from '#shared/docs/project/analyze-project.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { type ServiceParts, serviceToken } from './gateway-harness.ts';

/** The real publisher and link-signer, on sockets, with the bus and object store of a gateway harness. */
export async function contentServices(
  { bus, objectStore, clock, logger, folder }: ServiceParts,
  { places = 2 }: { places?: number } = {},
) {
  const uploadFolder = join(folder, 'uploads-of-tests');
  await mkdir(uploadFolder);
  const uploads = openUploads({ folder: uploadFolder, places });
  const pool = projectPool({ slots: 1 });
  const options = {
    callerTokens: { gateway: serviceToken },
    logger,
    checks: {},
    draining: () => false,
    metrics: serviceMetrics('test'),
  };
  const publisher = publisherApp(
    { bus, objectStore, pool, clock, random: randomBase62, uploads, readerVersion: 'today' },
    options,
  );
  const linkSigner = linkSignerApp({ bus, objectStore, clock, linkLifetimeSeconds: 3600 }, options);
  return {
    env: {
      BINDERY_PUBLISHER_URL: await publisher.listen({ host: '127.0.0.1', port: 0 }),
      BINDERY_LINK_SIGNER_URL: await linkSigner.listen({ host: '127.0.0.1', port: 0 }),
    },
    close: async () => {
      await Promise.all([publisher.close(), linkSigner.close(), pool.close(), uploads.close()]);
    },
  };
}
