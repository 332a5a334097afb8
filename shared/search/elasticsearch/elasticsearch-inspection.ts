import type { Client } from '@elastic/elasticsearch';
import { fault, type Finding, good, versionFinding, warning } from '#shared/runtime/finding.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import {
  aliasOf,
  connectElasticsearch,
  type ElasticsearchSettings,
  refusalStatus,
} from './elasticsearch-connection.ts';

const oldest = { elasticsearch: [8, 14], opensearch: [2, 11] } as const;
const names = { elasticsearch: 'Elasticsearch', opensearch: 'OpenSearch' } as const;
const withinMs = 5_000;
/** Low watermark of both products' defaults. */
const defaultFullDiskPercent = 85;

/** Findings about the cluster's ability to store the passages now and later. */
export async function inspectElasticsearch(settings: ElasticsearchSettings): Promise<Finding[]> {
  const connection = connectElasticsearch(settings);
  const where = settings.nodes.join(', ');
  const call = connection.callUntil();
  const ask: Ask = (what, question) =>
    call(what, withinMs, (client, deadline) => question(client, { ...deadline, maxRetries: 0 }));
  try {
    const { version } = await ask('say its version', (client, within) => client.info({}, within));
    const who = `${names[settings.product]} ${version.number} at ${where}`;
    // The calls of both products are nearly the same, so a wrong product would work for a while.
    const isOpenSearch = (version as { distribution?: unknown }).distribution === 'opensearch';
    if (settings.product === 'opensearch' && !isOpenSearch) {
      return [
        fault(
          `The search engine at ${where} does not say that it is OpenSearch.`,
          'If it is Elasticsearch, set BINDERY_SEARCH_ENGINE=elasticsearch.',
        ),
      ];
    }
    const findings = [versionFinding(who, version.number, oldest[settings.product])];
    // Answers of an older version are not checked, because their form is unknown.
    if (findings.some(({ level }) => level === 'fault')) return findings;
    findings.push(...(await unlessForbidden(() => clusterFindings(ask, settings))));
    findings.push(...(await unlessForbidden(() => indexFindings(ask, aliasOf(settings)))));
    findings.push(...(await unlessForbidden(() => diskFindings(ask))));
    return findings;
  } catch (error) {
    return [unusable(where, error)];
  } finally {
    await connection.close();
  }
}

type Within = { signal: AbortSignal; requestTimeout: number; maxRetries: number };

/** Runs one request of the inspection. The request has to use `within`; otherwise the client waits for half a minute. */
type Ask = <T>(what: string, question: (client: Client, within: Within) => Promise<T>) => Promise<T>;

function unusable(where: string, error: unknown): Finding {
  if (refusalStatus(error) === 401) {
    return fault(
      `The search engine at ${where} does not accept this user and password, or this API key.`,
      'Set BINDERY_ELASTICSEARCH_USERNAME and _PASSWORD, or BINDERY_ELASTICSEARCH_API_KEY.',
    );
  }
  // Removes Node's own advice, which is about its command line.
  const reason = messageOf(error).replace(/; if the root CA is installed locally.*$|[.]$/, '');
  return fault(
    `The search engine at ${where} cannot be used: ${reason}.`,
    adviceFor(where, reason) ?? 'Start it, or set BINDERY_ELASTICSEARCH_URL to its address.',
  );
}

/** Advice about messages of TLS. */
function adviceFor(where: string, reason: string): string | undefined {
  if (/certificate|self-signed/i.test(reason))
    return 'Set BINDERY_ELASTICSEARCH_CA_FILE to the certificate of the authority that signs for it, and ask it by a name that is in its certificate.';
  if (where.startsWith('https:') && /wrong version number|packet length too long|EPROTO/i.test(reason))
    return 'It seems to speak HTTP without TLS: set BINDERY_ELASTICSEARCH_URL to its address with http://.';
  if (where.startsWith('http:') && /other side closed|socket hang up|ECONNRESET/i.test(reason))
    return 'If it speaks HTTPS, set BINDERY_ELASTICSEARCH_URL to its address with https://.';
  return undefined;
}

/** A user with the rights to search and index may lack the right to see the cluster. */
async function unlessForbidden(inspect: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await inspect();
  } catch (error) {
    if (refusalStatus(error) !== 403) throw error;
    return [
      warning('This user may not see the state of the cluster.', 'Give it the privilege "monitor" to have it checked.'),
    ];
  }
}

async function clusterFindings(ask: Ask, { replicas }: ElasticsearchSettings): Promise<Finding[]> {
  const { status, number_of_data_nodes: nodes } = await ask('say its health', (client, within) =>
    client.cluster.health({}, within),
  );
  const findings: Finding[] = [];
  const state = `The cluster of ${nodes} data ${nodes === 1 ? 'node' : 'nodes'} is ${status.toLowerCase()}`;
  if (status.toLowerCase() === 'red')
    findings.push(
      fault(`${state}: parts of an index are lost.`, 'Ask GET _cluster/allocation/explain for the reason.'),
    );
  else if (status.toLowerCase() === 'yellow')
    findings.push(
      warning(
        `${state}: copies of shards are missing.`,
        'Add a node, or set number_of_replicas of its indexes to a number that the nodes can hold.',
      ),
    );
  else findings.push(good(`${state}.`));
  if (replicas >= nodes) {
    findings.push(
      warning(
        `BINDERY_ELASTICSEARCH_REPLICAS is ${replicas}, and ${nodes === 1 ? 'one node has' : `${nodes} nodes have`} no place for so many copies.`,
        `Set it to ${nodes - 1} before the index is created.`,
      ),
    );
  } else if (replicas === 0 && nodes > 1) {
    findings.push(
      warning(
        'BINDERY_ELASTICSEARCH_REPLICAS is 0: if one node fails, a part of the index is lost.',
        'Set it to 1 before the index is created.',
      ),
    );
  }
  return findings;
}

async function indexFindings(ask: Ask, alias: string): Promise<Finding[]> {
  const exists = await ask('look for its index', (client, within) =>
    client.indices.existsAlias({ name: alias }, within),
  );
  if (!exists) return [good(`There is no index "${alias}" yet: the first published content creates it.`)];
  const settings = await ask('send the settings of its index', (client, within) =>
    client.indices.getSettings({ index: alias, flat_settings: true }, within),
  );
  const blocked = Object.entries(settings).filter(([, { settings: all }]) => {
    const flat: Record<string, unknown> | undefined = all;
    return ['index.blocks.read_only_allow_delete', 'index.blocks.write'].some((name) => flat?.[name] === 'true');
  });
  return blocked.length > 0
    ? [
        fault(
          `The index ${blocked.map(([name]) => name).join(', ')} is blocked for writing.`,
          'Make room on the disks of its nodes; the cluster then removes the block.',
        ),
      ]
    : [good(`The index ${Object.keys(settings).join(', ')} can be written.`)];
}

async function diskFindings(ask: Ask): Promise<Finding[]> {
  const limit = await fullDiskPercent(ask);
  if (limit === undefined) return [];
  const nodes = await ask('say how full its disks are', (client, within) =>
    client.cat.allocation({ format: 'json' }, within),
  );
  return nodes.flatMap(({ node, 'disk.percent': percent }) =>
    Number(percent) >= limit
      ? [
          warning(
            `The disk of the search engine's node ${node} is ${percent} % full.`,
            `Make room: from ${limit} % the cluster allocates no shard to a node, and at its flood stage nothing more is indexed.`,
          ),
        ]
      : [],
  );
}

/**
 * Percentage from which the cluster allocates no shard to a node (its low watermark), or undefined where it does not look at its disks. A
 * watermark that is given as bytes counts as the default of both products.
 */
async function fullDiskPercent(ask: Ask): Promise<number | undefined> {
  const settings = await ask('send its settings', (client, within) =>
    client.cluster.getSettings({ include_defaults: true, flat_settings: true }, within),
  );
  const valueOf = (name: string): unknown =>
    [settings.transient, settings.persistent, settings.defaults].find((some) => some?.[name] !== undefined)?.[name];
  if (String(valueOf('cluster.routing.allocation.disk.threshold_enabled')) === 'false') return undefined;
  const watermark = String(valueOf('cluster.routing.allocation.disk.watermark.low'));
  if (/^[\d.]+%$/.test(watermark)) return Number.parseFloat(watermark);
  return /^0?\.\d+$/.test(watermark) ? Number(watermark) * 100 : defaultFullDiskPercent;
}
