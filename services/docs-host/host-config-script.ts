import { z } from 'zod';
import type { JsonValue } from '#shared/docs/project/json-values.ts';
import { siteConfigScript } from '#shared/docs/render/site/site-config.ts';
import { deploymentTypes, siteFeatures } from '#shared/contracts/stored-objects.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import type { DocsHostConfig } from './config.ts';
import type { VersionList } from './version-list.ts';

/** The usable parts of a bundle's `config.js`. */
const bundleConfigSchema = z.object({
  deployment: z.enum(deploymentTypes).optional().catch(undefined),
  features: z.object(siteFeatures).partial().catch({}).default({}),
  siteUrl: z.string().catch('').default(''),
  serverUrl: z.string().catch('').default(''),
  assistantKey: z.string().catch('').default(''),
  analytics: z.record(z.string(), z.record(z.string(), z.string())).catch({}).default({}),
});

/** Pages require a key. The host drops this one and sends its own, which no reader sees. It has the form of a key and is valid nowhere. */
const placeholderKey = `svc_dsc_${'TheDocumentationHostHasTheKey'.padEnd(36, '0')}`;

/** The deployment type of a site: from the settings, else from its bundle. Pure. */
export function deploymentOf(
  bundleScript: string,
  manifest: VersionList['manifest'],
  config: Pick<DocsHostConfig, 'deployment'>,
): VersionList['manifest']['deployment'] {
  return config.deployment ?? bundleConfigSchema.parse(configIn(bundleScript)).deployment ?? manifest.deployment;
}

/**
 * `_bindery/config.js` as this host serves it: the bundle's, changed by the settings. Another deployment type brings the features of that type. If
 * the host has a key for search and assistant, both are on and go through the host, unless its settings say otherwise. Pure.
 */
export function hostConfigScript(
  bundleScript: string,
  manifest: VersionList['manifest'],
  config: Pick<DocsHostConfig, 'deployment' | 'features' | 'siteUrl' | 'basePath'>,
  asked: { domain: string } | undefined,
): string {
  const found = bundleConfigSchema.parse(configIn(bundleScript));
  const bundleType = found.deployment ?? manifest.deployment;
  const deployment = config.deployment ?? bundleType;
  const kept = deployment === bundleType ? found.features : {};
  // An air-gapped site names no server, whatever deployment type the bundle was exported for.
  const isAirGapped = deployment === 'air-gapped';
  const throughHost = asked !== undefined && !isAirGapped;
  const features = {
    ...(isAirGapped ? withoutServer(kept) : kept),
    // A key for the host turns search and assistant on, although the bundle may have been exported without them.
    ...(throughHost && { search: 'server' as const, assistant: true }),
    ...(isAirGapped ? withoutServer(config.features) : config.features),
  };
  const site = throughHost
    ? { serverUrl: '', assistantKey: placeholderKey, features }
    : isAirGapped
      ? { features }
      : { serverUrl: found.serverUrl, assistantKey: found.assistantKey, features };
  const script = siteConfigScript(
    { deployment, domain: throughHost ? asked.domain : manifest.domain, site },
    (config.siteUrl ?? found.siteUrl).replace(/\/+$/, ''),
    integrationsOf(found.analytics),
  );
  const ownServer = `window.binderyConfig.serverUrl = location.origin + ${JSON.stringify(config.basePath)};\n`;
  return throughHost ? script + ownServer : script;
}

/** The services that count visits, as docs.json names them. */
const integrationsOf = ({ consent, ...services }: Record<string, Record<string, string>>): JsonValue => ({
  ...services,
  ...(consent !== undefined && { cookies: consent }),
});

/** Features that need a server are left out. */
const withoutServer = ({ search, playground }: DocsHostConfig['features']): DocsHostConfig['features'] => ({
  ...(search !== undefined && search !== 'server' && { search }),
  ...(playground !== undefined && { playground }),
});

const beginning = 'window.binderyConfig = {';

function configIn(script: string): unknown {
  // The object is found by position, because a regular expression would search for the end once for each beginning.
  const begin = script.indexOf(beginning);
  const end = script.indexOf('\n};', begin);
  if (begin === -1 || end === -1) return {};
  return jsonIn(script.slice(begin + beginning.length - 1, end + 2)) ?? {};
}
