import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { beforeAll, expect, test } from 'vitest';
import { serviceSettings } from '#services/cli/known-settings.ts';
import { serviceNames, type ServiceName } from '#infra/supervisor/services.ts';
import { provisionSettings } from '#services/cli/commands/installation.ts';
import { accountsOf, type ConsoleConfig, consoleSettings } from '#services/console/config.ts';
import { type DocsHostConfig, docsHostSettings } from '#services/docs-host/config.ts';
import { sitesLoginsOf } from '#services/docs-host/login-settings.ts';
import { portOf, sitesPlatform } from '#services/docs-host/sites-settings.ts';
import { sitesBaseOf } from '#shared/interfaces/http/sites-base.ts';
import { callPairs } from '#shared/interfaces/internal/internal-calls.ts';
import { loadConfig, type Settings } from '#shared/runtime/config.ts';
import { objectStoreFromConfig, type ObjectStoreConfig } from '#shared/storage/open-object-store.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { type Container, helmChart, type Resource } from '../../test/support/helm.ts';
import { secretVariables } from '../../test/support/needed-secrets.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { runCommand } from '../../test/support/start-installation.ts';

type Selector = { matchLabels: Labels };
type Source = { secret: { name: string; items: { key: string; path: string }[] } };
type Pod = {
  automountServiceAccountToken: boolean;
  enableServiceLinks: boolean;
  securityContext: object;
  containers: (Container &
    Record<'readinessProbe' | 'livenessProbe' | 'startupProbe', unknown> & { ports: object[] })[];
  volumes: { name: string; projected?: { sources: Source[] }; secret?: { secretName: string } }[];
};
type Labels = Record<string, string>;
type Workload = Resource & { spec: { replicas?: number; template: { metadata: { labels: Labels }; spec: Pod } } };
type Service = Resource & { spec: { selector: Labels; ports: object[] } };
type Selecting = Resource & { spec: { selector: Selector } };
type Peer = { podSelector?: Selector; namespaceSelector?: Selector; ipBlock?: { cidr: string } };
type Policy = Resource & {
  spec: {
    podSelector: Selector;
    policyTypes: string[];
    ingress: { from: Peer[]; ports: { port: number }[] }[];
    egress: { to: Peer[]; ports: { port: number }[] }[];
  };
};

const chart = helmChart('bindery');
const isPartOf = (part: Labels, whole: Labels) => Object.entries(part).every(([name, value]) => whole[name] === value);
const component = 'app.kubernetes.io/component';
const podsOf = ({ spec }: Policy): string => spec.podSelector.matchLabels[component] ?? 'all';

const ofKind = <R extends Resource>(list: readonly Resource[], kind: string) =>
  list.filter((each): each is R => each.kind === kind);
const workloads = (list: readonly Resource[]) => [
  ...ofKind<Workload>(list, 'Deployment'),
  ...ofKind<Workload>(list, 'Job'),
];
const named = <R extends Resource>(list: readonly R[], service: string): R => {
  const found = list.find(({ metadata }) => metadata.name === `docs-bindery-${service}`);
  if (found === undefined) throw new Error(`There is no ${service}.`);
  return found;
};
const containerOf = ({ spec }: Workload): Container => {
  const [container] = spec.template.spec.containers;
  if (container === undefined) throw new Error('A pod has a container.');
  return container;
};
const environmentOf = (workload: Workload) =>
  Object.fromEntries(containerOf(workload).env.map(({ name, value }) => [name, value]));
const sourcesOf = ({ spec }: Workload) =>
  spec.template.spec.volumes.find(({ name }) => name === 'secrets')?.projected?.sources ?? [];

describeWithServers(['helm'], 'the chart of the platform', () => {
  let folder: string;
  let imageEnvironment: Record<string, string>;

  beforeAll(async () => {
    folder = newFolder();
    await runCommand(['secrets', join(folder, 'secrets')]);
    const dockerfile = await readFile(join(import.meta.dirname, '../Dockerfile'), 'utf8');
    imageEnvironment = Object.fromEntries(
      [...dockerfile.matchAll(/^(?:ENV|   ) +(BINDERY_\w+)=(\S+)/gm)].map(([, name = '', value = '']) => [name, value]),
    );
  });

  test('an upgrade with the values of a release before knows no keys that came later', () => {
    const later = chart.laterKeys();
    expect(later).toEqual(expect.arrayContaining(['traces', 'image.digest', 'networkPolicy.traces']));
    for (const example of chart.examples) expect(chart.problemOfUpgrade(later, { example })).toBe('');
  });

  test.each(chart.laterKeys())('an upgrade with the values of a release before knows no %s', (key) => {
    expect(chart.problemOfUpgrade([key], { example: 'cloud.yaml' })).toBe('');
  });

  /** Configuration that a service would load in its pod: from its variables and its mounted secret files. */
  async function configOf(workload: Workload, settings: Settings): Promise<Record<string, unknown>> {
    const mounted = await mkdtemp(join(folder, 'mounted-'));
    for (const [index, { secret }] of sourcesOf(workload).entries()) {
      for (const { key, path } of secret.items) {
        const made = readFile(join(folder, 'secrets', secret.name.replace('bindery-', ''), key), 'utf8');
        // The first source is the service's own Secret. Secrets of servers may come from elsewhere.
        await writeFile(
          join(mounted, path),
          index === 0 ? await made : await made.catch(() => 'of another server, as long as a secret of sessions'),
        );
      }
    }
    const environment = { ...imageEnvironment, ...environmentOf(workload), BINDERY_SECRETS: mounted };
    return loadConfig(settings, environment);
  }

  test.each(chart.examples)(
    '%s passes the linter, and each service gets all settings and secrets that it needs, and no others',
    async (example) => {
      expect(chart.complaints({ example })).toBe('');
      const list = chart.resources({ example });
      const deployments = ofKind<Workload>(list, 'Deployment');
      expect(deployments.map(({ metadata }) => metadata.name).toSorted()).toEqual(
        [...serviceNames, ...(example === 'console.yaml' ? ['console'] : [])]
          .map((name) => `docs-bindery-${name}`)
          .toSorted(),
      );
      const others = new Set(['BINDERY_LOG_LEVEL', 'BINDERY_SECRETS', 'NODE_EXTRA_CA_CERTS']);
      for (const [name, settings, workload] of [
        ...serviceNames.map((each) => [each, serviceSettings[each], named(deployments, each)] as const),
        ['provision', provisionSettings, named(ofKind<Workload>(list, 'Job'), 'provision')] as const,
      ]) {
        expect(containerOf(workload).args).toEqual(name === 'provision' ? ['provision'] : ['run', name]);
        const config = (await configOf(workload, settings)) as ObjectStoreConfig;
        expect(objectStoreFromConfig(config)).toMatchObject({ kind: 's3' });
        const known = new Set(Object.values(settings).map(({ env }) => env));
        const unknown = Object.keys(environmentOf(workload)).filter((variable) => !known.has(variable));
        expect(unknown.filter((variable) => !others.has(variable) && !variable.startsWith('OTEL_'))).toEqual([]);
      }
    },
  );

  test.each(serviceNames)('%s sees its own secrets and those of its servers', (name) => {
    const sources = sourcesOf(
      named(ofKind<Workload>(chart.resources({ example: 'backlog.yaml' }), 'Deployment'), name),
    );
    const [own, ...ofServers] = sources.map(({ secret }) => secret);
    expect(own?.name).toBe(`bindery-${name}`);
    // The link signing key is only for the object store "folder", and the key of people only for a gateway with a console.
    const elsewhere = new Set(['BINDERY_LINK_SIGNING_KEY', 'BINDERY_PERSON_TOKEN_KEY']);
    const needed = secretVariables(name).filter((variable) => !elsewhere.has(variable));
    expect(own?.items.map(({ key }) => key).toSorted()).toEqual(needed.toSorted());
    const expected: Partial<Record<ServiceName, string[]>> = {
      gateway: ['bindery-s3', 'bindery-redis'],
      indexer: ['bindery-s3', 'bindery-search', 'bindery-mistral'],
      assistant: ['bindery-s3', 'bindery-search', 'bindery-mistral'],
    };
    expect(ofServers.map((each) => each.name)).toEqual(expected[name] ?? ['bindery-s3']);
  });

  test('each pod has minimal rights, and its probes use one of its ports', () => {
    const list = workloads(chart.resources({ example: 'trial.yaml' }));
    expect(list).toHaveLength(serviceNames.length + 1);
    for (const { kind, metadata, spec } of list) {
      const pod = spec.template.spec;
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        // With service links, Kubernetes would set BINDERY_GATEWAY_PORT=tcp://….
        enableServiceLinks: false,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 10001,
          runAsGroup: 10001,
          seccompProfile: { type: 'RuntimeDefault' },
        },
      });
      expect(pod.containers).toHaveLength(1);
      for (const container of pod.containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        const writable = container.volumeMounts.map(({ mountPath }) => mountPath).filter((path) => !/^.run/.test(path));
        expect(writable).toEqual(metadata.name.endsWith('-publisher') ? ['/tmp', '/data'] : ['/tmp']);
        if (kind === 'Job') continue;
        const port = metadata.name.endsWith('-gateway') ? 'inside' : 'http';
        expect(container.ports).toContainEqual({ name: port, containerPort: port === 'inside' ? 9090 : 8080 });
        expect(container).toMatchObject({
          readinessProbe: { httpGet: { path: '/readyz', port } },
          livenessProbe: { httpGet: { path: '/livez', port } },
          startupProbe: { httpGet: { path: '/livez', port } },
        });
      }
    }
  });

  test('the address of a service leads to its pods, at a port on which they listen', async () => {
    const list = chart.resources({ example: 'prometheus.yaml' });
    const deployments = ofKind<Workload>(list, 'Deployment');
    const services = ofKind<Service>(list, 'Service');
    const callees = new Set<string>();
    for (const caller of deployments) {
      for (const [variable, value] of Object.entries(environmentOf(caller))) {
        if (!value.startsWith('http://docs-bindery-')) continue;
        const url = new URL(value);
        const service = services.find(({ metadata }) => metadata.name === url.hostname);
        expect(`BINDERY_${url.hostname.replace('docs-bindery-', '').toUpperCase().replace('-', '_')}_URL`).toBe(
          variable,
        );
        expect(service?.spec.ports).toEqual([{ name: 'http', port: Number(url.port), targetPort: 'http' }]);
        callees.add(url.hostname.replace('docs-bindery-', ''));
      }
    }
    expect([...callees].toSorted()).toEqual([...new Set(callPairs.map(({ service }) => service))].toSorted());
    for (const { metadata, spec } of services) {
      const target = deployments.filter(({ spec: { template } }) => isPartOf(spec.selector, template.metadata.labels));
      expect(target.map((each) => each.metadata.name)).toEqual([metadata.name]);
    }
    for (const name of serviceNames) {
      const deployment = named(deployments, name);
      const config = await configOf(deployment, serviceSettings[name]);
      const [container] = deployment.spec.template.spec.containers;
      expect(container?.ports[0]).toEqual({ name: 'http', containerPort: config['port'] });
      expect(config).toMatchObject(
        name === 'gateway' ? { host: '0.0.0.0', insideHost: '0.0.0.0', insidePort: 9090 } : { host: '0.0.0.0' },
      );
    }
  });

  test('budgets, policies and monitors each select the pods of one service', () => {
    const list = chart.resources({ example: 'prometheus.yaml' });
    const pods = workloads(list).map(({ spec: { template } }) => template.metadata.labels);
    const selectors = [
      ...ofKind<Policy>(list, 'NetworkPolicy').map(({ metadata, spec }) => ({ metadata, selector: spec.podSelector })),
      ...ofKind<Selecting>(list, 'PodDisruptionBudget').map(({ metadata, spec }) => ({ metadata, ...spec })),
    ];
    for (const { metadata, selector } of selectors) {
      const selected = pods.filter((labels) => isPartOf(selector.matchLabels, labels));
      expect(selected.map((labels) => `docs-bindery-${labels[component]}`)).toEqual([metadata.name]);
    }
    const monitored = ofKind<Selecting>(list, 'PodMonitor').map(
      ({ spec }) => pods.filter((labels) => isPartOf(spec.selector.matchLabels, labels)).length,
    );
    // The first monitor excludes the services that it names, and the second one has the gateway.
    expect(monitored).toEqual([serviceNames.length + 1, 1]);
  });

  test('no secret is in a manifest', () => {
    for (const example of chart.examples) {
      const list = chart.resources({ example });
      expect(ofKind(list, 'Secret')).toEqual([]);
      const variables = workloads(list).flatMap((each) => Object.keys(environmentOf(each)));
      const secrets = [...Object.values(serviceSettings), provisionSettings as Settings]
        .flatMap((settings) => Object.values(settings))
        .filter(({ secret }) => secret)
        .map(({ env }) => env);
      expect(secrets).toContain('BINDERY_HASH_KEY');
      expect(variables.filter((variable) => secrets.includes(variable))).toEqual([]);
    }
  });

  test('a job with access to its servers creates the streams before services of a version start', () => {
    const list = chart.resources({ example: 'trial.yaml' });
    const hooks = list.flatMap(({ kind, metadata: { name, annotations = {} } }) => {
      const { 'helm.sh/hook': hook, 'helm.sh/hook-weight': weight } = annotations;
      return hook === undefined ? [] : [{ kind, name, hook, weight }];
    });
    const hook = 'pre-install,pre-upgrade,pre-rollback';
    expect(hooks).toEqual([
      { kind: 'NetworkPolicy', name: 'docs-bindery-provisioner', hook, weight: '-1' },
      { kind: 'Job', name: 'docs-bindery-provision', hook, weight: '0' },
    ]);
  });

  test('a renderer reaches only the bus, the object store and DNS, and only scrapers of metrics reach it', () => {
    const policies = ofKind<Policy>(chart.resources({ example: 'trial.yaml' }), 'NetworkPolicy');
    const { spec } = named(policies, 'page-renderer');
    expect(spec.podSelector.matchLabels).toMatchObject({ [component]: 'page-renderer' });
    expect(spec.policyTypes).toEqual(['Ingress', 'Egress']);
    const names = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } } };
    expect(spec.egress.map(({ to, ports }) => ({ to, ports: ports.map(({ port }) => port) }))).toEqual([
      { to: [names], ports: [53, 53] },
      { to: [{ podSelector: { matchLabels: { app: 'nats' } } }], ports: [4222] },
      { to: [{ podSelector: { matchLabels: { app: 's3' } } }], ports: [7070] },
    ]);
    const scrapers = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } };
    expect(spec.ingress.map(({ from }) => from)).toEqual([[scrapers]]);
  });

  test('each pod has a policy, and services reach each other only where calls are declared', () => {
    const policies = ofKind<Policy>(chart.resources({ example: 'trial.yaml' }), 'NetworkPolicy');
    expect(policies.map(podsOf).toSorted()).toEqual([...serviceNames, 'provisioner'].toSorted());
    const pairs = (direction: 'ingress' | 'egress') =>
      policies.flatMap((policy) => {
        const own = podsOf(policy);
        const peers = policy.spec[direction].flatMap((rule) => ('from' in rule ? rule.from : rule.to));
        const others = peers.flatMap(({ podSelector }) => podSelector?.matchLabels[component] ?? []);
        return others.map((other) => (direction === 'ingress' ? `${other} ${own}` : `${own} ${other}`));
      });
    const calls = callPairs.map(({ caller, service }) => `${caller} ${service}`).toSorted();
    expect(pairs('egress').toSorted()).toEqual(calls);
    expect(pairs('ingress').toSorted()).toEqual(calls);
  });

  test('only indexer and assistant reach a model and the search engine, at the ports of their pods', () => {
    const policies = ofKind<Policy>(
      chart.resources({ example: 'prometheus.yaml', set: ['model.provider=mistral', 'model.existingSecret=m'] }),
      'NetworkPolicy',
    );
    const reaching = (wanted: number) =>
      policies
        .filter(({ spec }) => spec.egress.some(({ ports }) => ports.some(({ port }) => port === wanted)))
        .map(podsOf)
        .toSorted();
    expect(reaching(443)).toEqual(['assistant', 'indexer']);
    expect(reaching(4_318)).toEqual(serviceNames.toSorted());
    expect(reaching(19_200)).toEqual(['assistant', 'indexer']);
    expect(reaching(9_200)).toEqual([]);
    expect(reaching(6_379)).toEqual(['gateway']);
  });

  test('renderers scale by CPU utilization, by the backlog or not at all, and a disruption budget keeps most of them', () => {
    const cpu = chart.resources({ example: 'cloud.yaml' });
    const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'docs-bindery-page-renderer' };
    expect(ofKind(cpu, 'HorizontalPodAutoscaler')).toMatchObject([
      { spec: { scaleTargetRef: target, minReplicas: 2, maxReplicas: 10 } },
    ]);
    const keda = chart.resources({ example: 'backlog.yaml' });
    const url = 'http://docs-bindery-orchestrator.docs.svc:8080/metrics';
    const metadata = { url, valueLocation: 'bindery_render_backlog_pages', aggregationType: 'max', targetValue: '300' };
    expect(ofKind(keda, 'ScaledObject')).toMatchObject([
      { spec: { scaleTargetRef: { name: target.name }, triggers: [{ type: 'metrics-api', metadata }] } },
    ]);
    expect(ofKind(keda, 'HorizontalPodAutoscaler')).toEqual([]);
    const query = 'max(bindery_render_backlog_pages{namespace="docs"})';
    expect(ofKind(chart.resources({ example: 'prometheus.yaml' }), 'ScaledObject')).toMatchObject([
      { spec: { triggers: [{ type: 'prometheus', metadata: { query } }] } },
    ]);
    const fixed = chart.resources({ example: 'trial.yaml' });
    const replicas = (list: Resource[]) => named(ofKind<Workload>(list, 'Deployment'), 'page-renderer').spec.replicas;
    expect([cpu, keda, fixed].map(replicas)).toEqual([undefined, undefined, 1]);
    expect(ofKind(fixed, 'PodDisruptionBudget')).toHaveLength(serviceNames.length);
  });

  test('an image may be named by its digest, and the version is a valid label', () => {
    const digest = `sha256:${'0a'.repeat(32)}`;
    const imagesOf = (...set: string[]) => {
      const list = workloads(
        chart.resources({ example: 'trial.yaml', set: ['image.repository=r.example.com/b', ...set] }),
      );
      for (const { metadata, spec } of list)
        for (const { labels = {} } of [metadata, spec.template.metadata] as { labels?: Record<string, string> }[])
          expect(labels['app.kubernetes.io/version']).toMatch(/^[a-zA-Z0-9]([a-zA-Z0-9._-]{0,61}[a-zA-Z0-9])?$/);
      return [...new Set(list.map((workload) => (containerOf(workload) as Container & { image: string }).image))];
    };
    expect(imagesOf(`image.digest=${digest}`)).toEqual([`r.example.com/b@${digest}`]);
    expect(imagesOf(`image.digest=${digest}`, 'image.tag=v1')).toEqual([`r.example.com/b:v1@${digest}`]);
    const long = `main-${'1234567890'.repeat(6)}-arm64`;
    expect(imagesOf(`image.tag=${long}`)).toEqual([`r.example.com/b:${long}`]);
  });

  test('names that look like numbers or booleans stay strings', () => {
    const set = ['serviceAccountName=123', 'priorityClassName=true', 'publisherVolume.className=1e3'];
    const list = ofKind<Workload>(chart.resources({ example: 'trial.yaml', setString: set }), 'Deployment');
    const pod = named(list, 'publisher').spec.template.spec as unknown as Record<string, unknown>;
    expect(pod).toMatchObject({ serviceAccountName: '123', priorityClassName: 'true' });
    expect(JSON.stringify(pod)).toContain('"storageClassName":"1e3"');
  });

  test('the examples name the servers of the manifests beside the chart', async () => {
    const files = ['nats.yaml', 'trial.yaml'].map((name) =>
      readFile(join(import.meta.dirname, 'servers', name), 'utf8'),
    );
    const servers = (await Promise.all(files)).flatMap((text) => loadAll(text) as Resource[]);
    const sets = ofKind<Workload>(servers, 'StatefulSet');
    const secretsOf = (each: Workload) =>
      each.spec.template.spec.volumes.flatMap(({ secret }) => secret?.secretName ?? []);
    const made = sets.flatMap(secretsOf).map((name) => name.replace('bindery-', ''));
    expect(made).toEqual(['nats', 'redis', 's3', 'elasticsearch']);
    const environment = environmentOf(named(workloads(chart.resources({ example: 'trial.yaml' })), 'indexer'));
    expect(environment).toMatchObject({
      BINDERY_NATS_URL: 'nats://nats-0.nats:4222,nats://nats-1.nats:4222,nats://nats-2.nats:4222',
      BINDERY_ELASTICSEARCH_URL: 'http://elasticsearch:9200',
    });
  });

  test('without sites there are no hosts of sites, and with them each has its settings, its only secret and its own volume', async () => {
    const without = chart.resources({ example: 'trial.yaml' });
    expect(without.filter(({ metadata }) => metadata.name.endsWith('-sites'))).toEqual([]);
    expect(environmentOf(named(workloads(without), 'gateway'))).not.toHaveProperty('BINDERY_SITES_BASE');

    const list = chart.resources({ example: 'sites.yaml' });
    const hosts = named(ofKind<Workload>(list, 'StatefulSet'), 'sites');
    expect(sourcesOf(hosts)).toEqual([
      { secret: { name: 'bindery-sites', items: [{ key: 'BINDERY_SITES_KEY', path: 'BINDERY_SITES_KEY' }] } },
      {
        secret: {
          name: 'sites-login',
          items: ['BINDERY_LOGIN_SESSION_SECRET', 'BINDERY_OIDC_CLIENT_SECRET'].map((key) => ({ key, path: key })),
        },
      },
    ]);
    const config = (await configOf(hosts, docsHostSettings)) as DocsHostConfig;
    expect(sitesPlatform(config)).toEqual({
      url: 'http://docs-bindery-gateway:80',
      key: expect.stringMatching(/^svc_site_/),
    });
    expect(sitesLoginsOf(config).provider).toMatchObject({
      settings: { issuer: new URL('https://login.example.com/realms/acme'), clientId: 'docs' },
      base: { protocol: 'https', host: 'docs.example.com' },
    });
    expect(config).toMatchObject({ host: '0.0.0.0', healthPort: 8081, listsMegabytes: 192, dataFolder: '/data' });
    const known = new Set(Object.values(docsHostSettings as Settings).map(({ env }) => env));
    const others = Object.keys(environmentOf(hosts)).filter((variable) => !known.has(variable));
    expect(others).toEqual([
      'BINDERY_HEALTH_PORT',
      'BINDERY_LOG_LEVEL',
      'BINDERY_SECRETS',
      'OTEL_EXPORTER_OTLP_ENDPOINT',
    ]);
    const [container] = hosts.spec.template.spec.containers;
    expect(container).toMatchObject({
      args: ['run', 'docs-host'],
      ports: [
        { name: 'http', containerPort: portOf(config) },
        { name: 'inside', containerPort: config.healthPort },
      ],
      readinessProbe: { httpGet: { path: '/readyz', port: 'inside' } },
      securityContext: { readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    });
    expect(hosts.spec).toMatchObject({
      replicas: 3,
      serviceName: 'docs-bindery-sites',
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: { storageClassName: 'fast', resources: { requests: { storage: '50Gi' } } },
        },
      ],
    });
    expect(container?.volumeMounts).toContainEqual({ name: 'data', mountPath: '/data' });
    const gateway = environmentOf(named(workloads(list), 'gateway'));
    expect(sitesBaseOf(gateway['BINDERY_SITES_BASE'] ?? '')).toEqual({
      protocol: 'https',
      host: 'docs.example.com',
      port: '',
    });
  });

  test('the ingress and the route lead every site to the hosts of sites, which reach only the gateway and the bundles', () => {
    const list = chart.resources({ example: 'sites.yaml' });
    const hosts = ['*.docs.example.com', 'docs.acme.com'];
    const ingress = named(ofKind<Resource & { spec: object }>(list, 'Ingress'), 'sites');
    expect(ingress.spec).toMatchObject({
      tls: [{ hosts, secretName: 'sites-tls' }],
      rules: hosts.map((host) => ({
        host,
        http: { paths: [{ backend: { service: { name: 'docs-bindery-sites', port: { name: 'http' } } } }] },
      })),
    });
    expect(named(ofKind<Resource & { spec: object }>(list, 'HTTPRoute'), 'sites').spec).toMatchObject({
      parentRefs: [{ name: 'public', namespace: 'gateways' }],
      hostnames: hosts,
      rules: [{ backendRefs: [{ name: 'docs-bindery-sites', port: 80 }] }],
    });
    const labels = named(ofKind<Workload>(list, 'StatefulSet'), 'sites').spec.template.metadata.labels;
    const service = named(ofKind<Service>(list, 'Service'), 'sites');
    expect([isPartOf(service.spec.selector, labels), service.spec.ports]).toEqual([
      true,
      [{ name: 'http', port: 80, targetPort: 'http' }],
    ]);
    for (const kind of ['PodDisruptionBudget', 'PodMonitor'])
      expect(isPartOf(named(ofKind<Selecting>(list, kind), 'sites').spec.selector.matchLabels, labels)).toBe(true);

    const policies = ofKind<Policy>(list, 'NetworkPolicy');
    const { spec } = named(policies, 'sites');
    const gateway = {
      'app.kubernetes.io/name': 'bindery',
      'app.kubernetes.io/instance': 'docs',
      [component]: 'gateway',
    };
    expect(spec.podSelector.matchLabels).toMatchObject({ [component]: 'sites' });
    expect(spec.egress.slice(1).map(({ to, ports }) => [to, ports.map(({ port }) => port)])).toEqual([
      [[{ podSelector: { matchLabels: gateway } }], [8080]],
      [[{ ipBlock: { cidr: '198.51.100.7/32' } }], [443]],
      [[{ ipBlock: { cidr: '203.0.113.9/32' } }], [443]],
      [[{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }], [4318]],
    ]);
    expect(spec.ingress.map(({ ports }) => ports.map(({ port }) => port))).toEqual([[8080], [8081]]);
    const callers = named(policies, 'gateway').spec.ingress.flatMap(({ from }) =>
      from.flatMap(({ podSelector }) => podSelector?.matchLabels[component] ?? []),
    );
    expect(callers).toEqual(['sites']);
    expect(chart.problem({ example: 'sites.yaml', set: ['networkPolicy.bundles.to=null'] })).toContain(
      'networkPolicy.bundles.to is empty, but links to bundles lead to objectStore.publicEndpoint',
    );
    // Without a public address, links lead to the object store itself.
    const same = chart.resources({
      example: 'sites.yaml',
      set: ['objectStore.publicEndpoint=', 'networkPolicy.bundles.to=null'],
    });
    expect(named(ofKind<Policy>(same, 'NetworkPolicy'), 'sites').spec.egress[2]).toEqual({
      to: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'storage' } } }],
      ports: [{ protocol: 'TCP', port: 9000 }],
    });
  });

  test('without the console nothing of it is there, and with it each copy has its settings and its secrets, and reaches only what it needs', async () => {
    const without = chart.resources({ example: 'trial.yaml' });
    expect(without.filter(({ metadata }) => metadata.name.endsWith('-console'))).toEqual([]);
    expect(environmentOf(named(workloads(without), 'gateway'))).not.toHaveProperty('BINDERY_CONSOLE_URL');
    expect(JSON.stringify(sourcesOf(named(workloads(without), 'gateway')))).not.toContain('BINDERY_PERSON_TOKEN_KEY');

    const list = chart.resources({ example: 'console.yaml' });
    const pods = named(ofKind<Workload>(list, 'Deployment'), 'console');
    const secret = (name: string, ...keys: string[]) => ({
      secret: { name, items: keys.map((key) => ({ key, path: key })) },
    });
    expect(sourcesOf(pods)).toEqual([
      secret('bindery-console', 'BINDERY_CONSOLE_SECRET', 'BINDERY_PERSON_TOKEN_KEY'),
      secret('bindery-redis', 'BINDERY_REDIS_PASSWORD'),
      secret('console-login', 'BINDERY_OIDC_CLIENT_SECRET'),
    ]);
    const config = (await configOf(pods, consoleSettings)) as ConsoleConfig;
    expect(accountsOf(config)).toMatchObject({
      provider: { issuer: new URL('https://login.example.com/realms/acme'), clientId: 'console' },
      origin: 'https://console.example.com',
      grants: [
        { group: 'docs-team', organization: 'acme', role: 'editor' },
        { group: 'platform', role: 'operator' },
      ],
    });
    expect(config).toMatchObject({
      host: '0.0.0.0',
      port: 8080,
      healthPort: 8081,
      platformUrl: 'http://docs-bindery-gateway:80',
      trustProxy: ['uniquelocal'],
      sessionHours: 8,
    });
    const known = new Set(Object.values(consoleSettings as Settings).map(({ env }) => env));
    expect(Object.keys(environmentOf(pods)).filter((variable) => !known.has(variable))).toEqual([
      'BINDERY_HEALTH_PORT',
      'BINDERY_LOG_LEVEL',
      'BINDERY_SECRETS',
      'OTEL_EXPORTER_OTLP_ENDPOINT',
    ]);
    expect(pods.spec.replicas).toBe(3);
    expect(pods.spec.template.spec.containers[0]).toMatchObject({
      args: ['run', 'console'],
      ports: [
        { name: 'http', containerPort: config.port },
        { name: 'inside', containerPort: config.healthPort },
      ],
      readinessProbe: { httpGet: { path: '/readyz', port: 'inside' } },
      livenessProbe: { httpGet: { path: '/livez', port: 'inside' } },
      securityContext: { readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
      volumeMounts: [{ mountPath: '/run/secrets' }, { mountPath: '/tmp' }],
    });
    const gateway = named(workloads(list), 'gateway');
    expect(environmentOf(gateway)).toMatchObject({ BINDERY_CONSOLE_URL: 'https://console.example.com' });
    expect(JSON.stringify(sourcesOf(gateway)[0])).toContain('BINDERY_PERSON_TOKEN_KEY');

    const labels = pods.spec.template.metadata.labels;
    expect(isPartOf(named(ofKind<Service>(list, 'Service'), 'console').spec.selector, labels)).toBe(true);
    for (const kind of ['PodDisruptionBudget', 'PodMonitor'])
      expect(isPartOf(named(ofKind<Selecting>(list, kind), 'console').spec.selector.matchLabels, labels)).toBe(true);
    expect(named(ofKind<Resource & { spec: object }>(list, 'Ingress'), 'console').spec).toMatchObject({
      tls: [{ hosts: ['console.example.com'], secretName: 'console-tls' }],
      rules: [{ host: 'console.example.com' }],
    });
    const policies = ofKind<Policy>(list, 'NetworkPolicy');
    const { spec } = named(policies, 'console');
    expect(spec.podSelector.matchLabels).toMatchObject({ [component]: 'console' });
    const inNamespace = (name: string) => [
      { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } } },
    ];
    expect(spec.egress.slice(1).map(({ to, ports }) => [to, ports.map(({ port }) => port)])).toEqual([
      [[{ podSelector: { matchLabels: expect.objectContaining({ [component]: 'gateway' }) } }], [8080]],
      [inNamespace('redis'), [6379]],
      [[{ ipBlock: { cidr: '203.0.113.9/32' } }], [443]],
      [inNamespace('monitoring'), [4318]],
    ]);
    expect(spec.ingress.map(({ ports }) => ports.map(({ port }) => port))).toEqual([[8080], [8081]]);
    const callers = named(policies, 'gateway').spec.ingress.flatMap(({ from }) =>
      from.flatMap(({ podSelector }) => podSelector?.matchLabels[component] ?? []),
    );
    expect(callers).toEqual(['console']);

    const problem = chart.problem({
      example: 'console.yaml',
      set: [
        'console.url=',
        'redis.url=',
        'console.login.clientId=',
        'console.login.grants=null',
        'console.login.existingSecret=',
        'networkPolicy.login.to=null',
      ],
    });
    for (const part of [
      'console.url is "": set it to the address',
      'console.enabled needs redis.url',
      'console.login.clientId is empty',
      'console.login.grants is empty',
      'console.login needs existingSecret',
      'networkPolicy.login.to is empty, but the console asks the provider',
    ])
      expect(problem).toContain(part);
  });

  test('all missing, misspelt and wrong values are reported by name at once', async () => {
    const missing = chart.problem();
    for (const part of [
      'publicUrl is "": set it to the address under which clients reach the gateway',
      'nats.url must be the addresses of the NATS servers',
      'search.url must be the addresses',
      'redis.url is not set, but there is more than one gateway',
      'networkPolicy.nats.to is empty: say where it is',
      'networkPolicy.objectStore.to is empty',
      'networkPolicy.search.to is empty',
    ])
      expect(missing).toContain(part);

    const together = chart.problem({
      example: 'one-gateway.yaml',
      set: [
        'nats.url=nats://me:secret@nats:4222',
        'redis.url=http://redis',
        'objectStore.endpoint=s3.example.com',
        'objectStore.existingSecret=',
        'search.username=me',
        'search.existingSecret=',
        'model.provider=mistral',
        'ingress.enabled=true',
        'rendererScaling.by=backlog',
        'rendererScaling.minReplicas=20',
        'rendererScaling.backlog.scaler=prometheus',
        'traces.endpoint=collector:4318',
        'env.BINDERY_HASH_KEY=abc',
        'sites.enabled=true',
        'sites.base=docs.example.com/x',
        'sites.env.BINDERY_SITES_KEY=abc',
        'services.gateway.env.BINDERY_REDIS_PASSWORD=abc',
      ],
    });
    for (const part of [
      'nats.url must be',
      'redis.url must be redis://<host>:<port>',
      'objectStore.endpoint must be the address of an S3 API',
      'objectStore.accessKeyId needs objectStore.existingSecret',
      'search.username needs search.existingSecret',
      'model.provider is mistral, which needs model.existingSecret',
      'ingress.enabled needs ingress.host',
      'traces.endpoint must be the address of a collector',
      'rendererScaling.minReplicas is greater',
      'needs rendererScaling.backlog.prometheusUrl',
      'env has BINDERY_HASH_KEY, which is a secret',
      'sites.base is "docs.example.com/x": set it to the address under which readers reach the sites',
      'sites.env has BINDERY_SITES_KEY, which is a secret',
      'services.gateway.env has BINDERY_REDIS_PASSWORD, which is a secret',
    ])
      expect(together).toContain(part);
    expect(together).not.toContain('me:secret');

    const misspelt = chart.problem({
      example: 'trial.yaml',
      set: [
        'natz.url=x',
        'services.renderer.replicas=2',
        'nats.replicas=2',
        'services.gateway.replicas=two',
        'search.engine=sqlite',
        'networkPolicy.nats.to[0].podSelektor=x',
        'image.tag=1.0@sha256:abc',
        'ingress.host=https://docs.example.com/',
        'certificateAuthorities.key=../key',
        'nodeSelector.disk=5',
        'sites.hosts[0]=*.acme.com',
        'sites.route.parentRefs[0].nam=x',
      ],
    });
    for (const part of [
      'natz',
      "'/services'",
      'renderer',
      '/nats/replicas',
      '/services/gateway/replicas',
      '/search/engine',
      'podSelektor',
      '/image/tag',
      '/ingress/host',
      '/certificateAuthorities/key',
      '/nodeSelector/disk',
      '/sites/hosts/0',
      '/sites/route/parentRefs/0',
    ])
      expect(misspelt).toContain(part);
  });
});
