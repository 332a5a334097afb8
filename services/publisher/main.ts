import { join } from 'node:path';
import { projectPool, projectReader } from '#shared/docs/project/analyze-project.ts';
import { readerVersion } from '#shared/docs/project/reader-version.ts';
import { withSnapshotSoon } from '#shared/docs/sandbox/child-snapshot.ts';
import type { ChildProgram } from '#shared/docs/sandbox/child.ts';
import { describeConfinement, kernelConfinement } from '#shared/docs/sandbox/confinement.ts';
import { type Running, startService } from '#shared/service/start-service.ts';
import { systemClock } from '#shared/runtime/time-and-ids.ts';
import type { PublisherConfig } from './config.ts';
import { archiveReader, openUploads, prepareUploadFolder } from './project-files.ts';
import { publisherApp } from './publisher-app.ts';

export { publisherSettings as settings } from './config.ts';

/** Receives docs projects and stores them by content. */
export function start(config: PublisherConfig): Promise<Running> {
  return startService('publisher', config, async (service) => {
    const callerTokens = { gateway: config.gatewayToken, housekeeper: config.housekeeperToken };
    const uploadFolder = join(config.dataFolder, 'uploads');
    // The age of files is compared with this machine's clock.
    await prepareUploadFolder(uploadFolder, systemClock.now());
    service.logger.info(`children that read tenants' bytes: ${describeConfinement(kernelConfinement())}`);
    const prepared = (program: ChildProgram) => withSnapshotSoon(program, service.logger, service.stopping);
    const pool = projectPool({ slots: config.slots }, await prepared(projectReader));
    const program = await prepared(archiveReader);
    const uploads = openUploads({ folder: uploadFolder, places: config.uploads, program });
    const app = publisherApp(
      { ...service, pool, uploads, readerVersion: await readerVersion() },
      { ...service, callerTokens },
    );
    return {
      app,
      async close() {
        await Promise.all([pool.close(), uploads.close()]);
      },
    };
  });
}
