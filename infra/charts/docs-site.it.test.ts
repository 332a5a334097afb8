import { expect, test } from 'vitest';
import { docsHostSettings } from '#services/docs-host/config.ts';
import { secretFileVariable } from '#shared/runtime/config.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { type Container, helmChart, type Resource } from '../../test/support/helm.ts';

const chart = helmChart('docs-site');

type StatefulSet = Resource & { spec: { template: { spec: Pod } } };
type Rule = { from?: object[] | null; to?: object[] | null; ports: { port: number }[] };
type Policy = { spec: { podSelector: object; policyTypes: string[]; ingress: Rule[]; egress: Rule[] } };
type Pod = { securityContext: object; containers: Container[]; volumes: { name: string }[] };

const resources = (example: string | undefined, ...set: string[]) =>
  chart.resources<StatefulSet>(example === undefined ? { set } : { example, set });

const podOf = (list: StatefulSet[]): Pod | undefined =>
  list.find(({ kind }) => kind === 'StatefulSet')?.spec.template.spec;

const problem = (...set: string[]) => chart.problem({ set });

describeWithServers(['helm'], 'the chart of the documentation host', () => {
  test.each(chart.examples)(
    '%s passes the linter, and renders a pod with minimal rights and only existing settings',
    (example) => {
      expect(chart.complaints({ example })).toBe('');
      const pod = podOf(resources(example));
      const [container] = pod?.containers ?? [];
      expect(pod?.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
      expect(container?.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      const known = new Set(Object.values(docsHostSettings).flatMap(({ env }) => [env, secretFileVariable(env)]));
      const unknown = container?.env.filter(({ name }) => !known.has(name)).map(({ name }) => name);
      expect(unknown).toEqual(['BINDERY_HEALTH_PORT']);
    },
  );

  test('an upgrade with the values of a release before knows no keys that came later', () => {
    const later = chart.laterKeys();
    expect(later).toEqual(expect.arrayContaining(['login', 'login.redis', 'networkPolicy']));
    for (const example of chart.examples) expect(chart.problemOfUpgrade(later, { example })).toBe('');
  });

  test.each(chart.laterKeys())('an upgrade with the values of a release before knows no %s', (key) => {
    expect(chart.problemOfUpgrade([key], { example: 'login.yaml' })).toBe('');
  });

  test('the values of the specification reach the host, the link only as a secret', () => {
    const list = resources('link.yaml');
    const env = Object.fromEntries(podOf(list)?.containers[0]?.env.map(({ name, value }) => [name, value]) ?? []);
    expect(env).toMatchObject({
      BINDERY_STATIC_EXPORT_ENABLED: 'true',
      BINDERY_STATIC_EXPORT_BUNDLE_URL_FILE: '/run/secrets/bundle/bundleUrl',
      BINDERY_STATIC_EXPORT_VERSION: 'v1.4',
    });
    const withLink = list.filter((each) => JSON.stringify(each).includes('X-Amz-Signature'));
    expect(withLink.map(({ kind }) => kind)).toEqual(['Secret']);
  });

  test('the chart accepts a digest in capitals and a base path with a trailing slash, as the host does', () => {
    const link = 'staticExport.bundleUrl=https://objects.example.com/x';
    const list = resources(undefined, link, `staticExport.sha256=${'AB'.repeat(32)}`, 'site.basePath=/docs/');
    expect(list.map(({ kind }) => kind)).toContain('StatefulSet');
  });

  test('with staticExport.enabled=false the host looks for no bundle, whatever the other values are', () => {
    const list = resources(
      undefined,
      'staticExport.enabled=false',
      'staticExport.bundleUrl=https://objects.example.com/x',
    );
    expect(list.map(({ kind }) => kind).toSorted()).toEqual(['NetworkPolicy', 'Service', 'StatefulSet']);
    expect(JSON.stringify(list)).not.toContain('BUNDLE_URL');
  });

  test('a login reads its secrets from files, and no login means no such settings', () => {
    const login = ['login.type=basic', 'login.existingSecret=docs-login'];
    const pod = podOf(resources('link.yaml', ...login));
    expect(pod?.containers[0]?.env).toContainEqual({
      name: 'BINDERY_LOGIN_USERS_FILE',
      value: '/run/secrets/login/users',
    });
    expect(pod?.volumes).toContainEqual({
      name: 'login',
      secret: { secretName: 'docs-login', defaultMode: 0o440 },
    });
    const shared = ['login.redis.url=redis://redis:6379', 'login.redis.hasPassword=true'];
    expect(podOf(resources('link.yaml', ...login, ...shared))?.containers[0]?.env).toEqual(
      expect.arrayContaining([
        { name: 'BINDERY_REDIS_URL', value: 'redis://redis:6379' },
        { name: 'BINDERY_REDIS_PASSWORD_FILE', value: '/run/secrets/login/redisPassword' },
      ]),
    );
    expect(JSON.stringify(podOf(resources('link.yaml')))).not.toContain('LOGIN');
    const link = 'staticExport.bundleUrl=https://x';
    expect(problem(link, 'login.type=basic')).toContain('login.existingSecret: the secret with users');
    expect(problem(link, 'login.type=oidc', 'login.existingSecret=x')).toContain('login.oidc.issuer');
    expect(problem(link, 'login.oidc.issuer=http://login.example.com')).toContain('/login/oidc/issuer');
  });

  /** Each rule as its ports and its peers; a rule without peers allows everybody. */
  const rulesOf = (list: Resource[], direction: 'ingress' | 'egress') => {
    const { spec } = list.find(({ kind }) => kind === 'NetworkPolicy') as unknown as Policy;
    return spec[direction].map(({ from, to, ports }) => {
      const peers = from ?? to ?? [];
      return [ports.map(({ port }) => port), peers.length === 0 ? 'everybody' : JSON.stringify(peers)];
    });
  };
  const inNamespace = (name: string): string =>
    JSON.stringify([{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } } }]);
  const names = [[53, 53], inNamespace('kube-system')];

  test('only the ingress reaches a host, and a host reaches only the servers in its settings', () => {
    const list = resources('link.yaml');
    const policy = list.find(({ kind }) => kind === 'NetworkPolicy') as unknown as Policy;
    const set = list.find(({ kind }) => kind === 'StatefulSet') as unknown as { spec: { selector: object } };
    expect(policy.spec.podSelector).toEqual(set.spec.selector);
    expect(policy.spec.policyTypes).toEqual(['Ingress', 'Egress']);
    expect(rulesOf(list, 'ingress')).toEqual([
      [[8080], inNamespace('ingress-nginx')],
      [[8081], inNamespace('monitoring')],
    ]);
    expect(rulesOf(list, 'egress')).toEqual([names, [[443], 'everybody']]);
  });

  test.each<[string, string | undefined, string[], unknown[]]>([
    ['whose bundle is on a volume', 'air-gapped.yaml', [], []],
    ['that keeps its version', undefined, ['staticExport.enabled=false'], []],
    [
      'whose link has a port',
      undefined,
      ['staticExport.bundleUrl=http://minio.store:9000/x'],
      [names, [[9000], 'everybody']],
    ],
    ['whose link is in a secret', undefined, ['staticExport.existingSecret=x'], [names, [[443], 'everybody']]],
    [
      'that follows exports',
      undefined,
      [
        'platform.followExports=true',
        'platform.url=http://gateway:8080',
        'platform.domain=x',
        'platform.existingSecret=x',
      ],
      [names, [[443], 'everybody'], [[8080], 'everybody']],
    ],
    [
      'with a login and a Redis, whose addresses are narrowed',
      undefined,
      [
        ...['staticExport.enabled=false', 'login.type=oidc', 'login.existingSecret=x', 'login.oidc.clientId=x'],
        ...['login.oidc.issuer=https://login.example.com', 'site.url=https://docs.example.com'],
        ...['login.redis.url=rediss://redis:6380', 'networkPolicy.redis.to[0].ipBlock.cidr=10.0.0.7/32'],
        'networkPolicy.login.ports={443,8443}',
      ],
      [names, [[443, 8443], 'everybody'], [[6380], '[{"ipBlock":{"cidr":"10.0.0.7/32"}}]']],
    ],
  ])('a site %s reaches that and no more', (_what, example, set, egress) => {
    expect(rulesOf(resources(example, ...set), 'egress')).toEqual(egress);
  });

  test('further rules are kept, readers may be everybody, and the policy can be disabled', () => {
    const kept = 'staticExport.enabled=false';
    const more = 'networkPolicy.moreEgress[0].ports[0].port=4318';
    const list = chart.resources({ set: [kept, more], setString: [] });
    expect(rulesOf(list, 'egress')).toEqual([names, [[4318], 'everybody']]);
    const open = resources(undefined, kept, 'networkPolicy.clients=null');
    expect(rulesOf(open, 'ingress')[0]).toEqual([[8080], 'everybody']);
    const without = resources(undefined, kept, 'networkPolicy.enabled=false');
    expect(without.map(({ kind }) => kind)).not.toContain('NetworkPolicy');
    expect(problem(kept, 'networkPolicy.clients[0].cidr=10.0.0.0/8')).toContain('/networkPolicy/clients/0');
    expect(problem(kept, 'networkPolicy.redis.ports={0}')).toContain('/networkPolicy/redis/ports/0');
  });

  test('missing and wrong values are reported by name', () => {
    expect(problem()).toContain('staticExport.enabled is true, but there is no bundle: set staticExport.bundleUrl');
    expect(problem('staticExport.enabled=yes')).toContain('/staticExport/enabled');
    expect(problem('staticExport.bundleUrl=ftp://x')).toContain('/staticExport/bundleUrl');
    const both = problem('staticExport.enabled=yes', 'staticExport.bundleUrl=nonsense');
    expect(both).toContain('/staticExport/enabled');
    expect(both).toContain('/staticExport/bundleUrl');
    expect(problem('staticExport.bundelUrl=https://x')).toContain('bundelUrl');
    expect(problem('staticExport.bundleUrl=https://x', 'bundle.path=y')).toContain('one place');
    expect(problem('staticExport.enabled=false', 'storage.ephemeral=true')).toContain('never be anything to serve');
  });
});
