import type { ServiceName } from '#infra/supervisor/services.ts';
import { type ElasticsearchServer, startElasticsearch } from '../support/start-elasticsearch.ts';
import { startInstallation, type TestInstallation } from '../support/start-installation.ts';
import { type NatsCluster, startNatsCluster } from '../support/start-nats-cluster.ts';
import { type RedisServer, startRedis } from '../support/start-redis.ts';
import { bucketOn, startVersityGateway, type VersityGateway } from '../support/start-versitygw.ts';

/** The servers of a production installation, without containers, and each service in a separate process. */
export type Stack = {
  harness: TestInstallation;
  nats: NatsCluster;
  redis: RedisServer;
  s3: VersityGateway;
  elasticsearch: ElasticsearchServer;
  stop(): Promise<void>;
};

const copies: Partial<Record<ServiceName, number>> = { 'page-renderer': 2 };

/** Starts all of it on temporary folders, ready for requests. If it rejects, it has stopped everything. @throws ServerMissing */
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
    const onBucket = await bucketOn(s3, 'bindery');
    let nats: NatsCluster | undefined;
    const harness = await started(
      startInstallation({
        copies,
        environment: { ...environmentOf({ redis, elasticsearch }), ...onBucket },
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

function environmentOf({ redis, elasticsearch }: Pick<Stack, 'redis' | 'elasticsearch'>) {
  return {
    // Log lines of services about the outages would bury the report of the run.
    BINDERY_LOG_LEVEL: process.env.BINDERY_LOG_LEVEL ?? 'silent',
    BINDERY_REDIS_URL: redis.url,
    BINDERY_SEARCH_ENGINE: 'elasticsearch',
    BINDERY_ELASTICSEARCH_URL: elasticsearch.url,
    BINDERY_ELASTICSEARCH_REPLICAS: '0',
    // The hourly limits of one organization are low for this run.
    BINDERY_LIMIT_STARTS_PER_HOUR: '1000',
  };
}
