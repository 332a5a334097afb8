import type { ServiceName } from '#infra/supervisor/services.ts';
import { createS3Bucket } from '#shared/storage/s3-client.ts';
import { type ElasticsearchServer, startElasticsearch } from '../support/start-elasticsearch.ts';
import { startInstallation, type TestInstallation } from '../support/start-installation.ts';
import { type NatsCluster, startNatsCluster } from '../support/start-nats-cluster.ts';
import { type RedisServer, startRedis } from '../support/start-redis.ts';
import { startVersityGateway, type VersityGateway } from '../support/start-versitygw.ts';

/** The servers of a production installation, without containers, and each service in a process of its own. */
export type Stack = {
  harness: TestInstallation;
  nats: NatsCluster;
  redis: RedisServer;
  s3: VersityGateway;
  elasticsearch: ElasticsearchServer;
  stop(): Promise<void>;
};

const bucket = 'bindery';
const copies: Partial<Record<ServiceName, number>> = { 'page-renderer': 2 };

/** Starts all of it on temporary folders, ready for requests. When it rejects, nothing runs any more. @throws ServerMissing */
export async function startStack(): Promise<Stack> {
  const undo: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  const started = async <S extends { stop(): Promise<void> }>(server: Promise<S>): Promise<S> => {
    const running = await server;
    undo.push(() => running.stop());
    return running;
  };
  try {
    const redis = await started(startRedis());
    const s3 = await started(startVersityGateway());
    const elasticsearch = await started(startElasticsearch());
    await createS3Bucket({ ...s3Settings(s3), credentials: s3, forcePathStyle: true, maxLinkLifetimeSeconds: 3_600 });
    let nats: NatsCluster | undefined;
    const harness = await started(
      startInstallation({
        copies,
        environment: environmentOf({ redis, s3, elasticsearch }),
        async startBus(passwords) {
          const cluster = await startNatsCluster(passwords);
          nats = cluster;
          return {
            url: cluster.url,
            replicas: cluster.nodes.length,
            pids: () => cluster.nodes.map(({ pid }) => pid),
            stop: () => cluster.stop(),
          };
        },
      }),
    );
    if (nats === undefined) throw new Error('The installation has no bus.');
    return { harness, nats, redis, s3, elasticsearch, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const s3Settings = ({ endpoint, region }: VersityGateway) => ({ bucket, endpoint, region });

function environmentOf({ redis, s3, elasticsearch }: Pick<Stack, 'redis' | 's3' | 'elasticsearch'>) {
  return {
    // Log lines of services about the outages would bury the report of the run.
    BINDERY_LOG_LEVEL: process.env.BINDERY_LOG_LEVEL ?? 'silent',
    BINDERY_REDIS_URL: redis.url,
    BINDERY_OBJECT_STORE: 's3',
    BINDERY_S3_ENDPOINT: s3.endpoint,
    BINDERY_S3_REGION: s3.region,
    BINDERY_S3_BUCKET: bucket,
    BINDERY_S3_ACCESS_KEY_ID: s3.accessKeyId,
    BINDERY_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    BINDERY_S3_FORCE_PATH_STYLE: '1',
    BINDERY_SEARCH_ENGINE: 'elasticsearch',
    BINDERY_ELASTICSEARCH_URL: elasticsearch.url,
    BINDERY_ELASTICSEARCH_REPLICAS: '0',
    // The hourly limits of one organization are low for this run.
    BINDERY_LIMIT_STARTS_PER_HOUR: '1000',
  };
}
