import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireServer } from '#infra/setup/find-server.ts';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { createS3Bucket } from '#shared/storage/s3-client.ts';
import { acceptsConnections, type RestartableServer, restartableServer, startServerProcess } from './server-process.ts';

/** An S3 server whose objects survive `kill` and `restart`. */
export type VersityGateway = RestartableServer & {
  endpoint: string;
  accessKeyId: string;
  secretAccessKey: string;
  region: string;
};

const testCredentials = { accessKeyId: 'test', secretAccessKey: 'test-secret' };

/** A real S3 server (Versity S3 Gateway over a temporary folder) on loopback, without buckets. @throws ServerMissing */
export async function startVersityGateway({ accessKeyId, secretAccessKey } = testCredentials): Promise<VersityGateway> {
  const program = requireServer('versitygw');
  const folder = await mkdtemp(join(tmpdir(), 'bindery-s3-'));
  const [data, sidecar] = [join(folder, 'data'), join(folder, 'meta')];
  await Promise.all([mkdir(data), mkdir(sidecar)]);
  const [port = 0] = await freePorts(1);
  const command = {
    program,
    args: ['--quiet', '--port', `127.0.0.1:${port}`, 'posix', '--sidecar', sidecar, data],
    env: { ROOT_ACCESS_KEY: accessKeyId, ROOT_SECRET_KEY: secretAccessKey },
  };
  const start = async () => {
    const started = await startServerProcess(command, /single account mode/);
    // The output of the server does not show when it listens.
    await acceptsConnections(port);
    return started;
  };
  const endpoint = `http://127.0.0.1:${port}`;
  const server = await restartableServer(folder, start);
  return Object.assign(server, { endpoint, accessKeyId, secretAccessKey, region: 'us-east-1' });
}

/** Creates a bucket, and returns the settings with which services use it. */
export async function bucketOn(
  { endpoint, region, ...credentials }: VersityGateway,
  bucket: string,
): Promise<Record<string, string>> {
  await createS3Bucket({ bucket, endpoint, region, credentials, forcePathStyle: true });
  return {
    BINDERY_OBJECT_STORE: 's3',
    BINDERY_S3_ENDPOINT: endpoint,
    BINDERY_S3_REGION: region,
    BINDERY_S3_BUCKET: bucket,
    BINDERY_S3_ACCESS_KEY_ID: credentials.accessKeyId,
    BINDERY_S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    BINDERY_S3_FORCE_PATH_STYLE: '1',
  };
}
