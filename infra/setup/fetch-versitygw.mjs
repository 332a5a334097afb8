import { goInstall } from './go-install.mjs';
import { putInCache } from './put-in-cache.mjs';
import { findServer, pinnedVersions } from './server-locations.mjs';
import { timed } from './step.mjs';
import { withLock } from './with-lock.mjs';

/** Builds the Versity S3 Gateway (Apache-2.0), the S3 server of the tests. @throws StepFailed */
export async function fetchVersityGateway() {
  if (findServer('versitygw') !== undefined) return;
  const version = pinnedVersions.versitygw;
  await withLock('versitygw', async () => {
    if (findServer('versitygw') !== undefined) return;
    await timed(`builds the S3 server Versity S3 Gateway ${version} with go install (about a minute)`, () =>
      putInCache('versitygw', version, (folder) =>
        goInstall('github.com/versity/versitygw/cmd/versitygw', version, folder),
      ),
    );
  });
}
