import { z } from 'zod';
import { siteConfigScript } from '#shared/docs/render/site/site-config.ts';
import { deploymentTypes, siteFeatures } from '#shared/contracts/stored-objects.ts';
import type { DocsHostConfig } from './config.ts';
import type { PreparedSite } from './prepared-site.ts';

/** What the `config.js` of a bundle says, as far as it can be used. */
const bundleConfigSchema = z.object({
  deployment: z.enum(deploymentTypes).optional().catch(undefined),
  features: z.object(siteFeatures).partial().catch({}).default({}),
  siteUrl: z.string().catch('').default(''),
  serverUrl: z.string().catch('').default(''),
  assistantKey: z.string().catch('').default(''),
});

/** Pages want a key; the host drops theirs and sends its own, which no reader sees. It has the form of a key and opens nothing. */
const placeholderKey = `svc_dsc_${'TheDocumentationHostHasTheKey'.padEnd(36, '0')}`;

/** The deployment type of a site: that of the settings, or else that of its bundle. Pure. */
export function deploymentOf(
  bundleScript: string,
  manifest: PreparedSite['manifest'],
  config: Pick<DocsHostConfig, 'deployment'>,
): PreparedSite['manifest']['deployment'] {
  return config.deployment ?? bundleConfigSchema.parse(configIn(bundleScript)).deployment ?? manifest.deployment;
}

/**
 * `_bindery/config.js` as this host serves it: that of the bundle, changed where the settings say so. Another deployment type means the
 * features of that type. Search and assistant are on, and go through the host, where it has a key for them and its settings say nothing else. Pure.
 */
export function hostConfigScript(
  bundleScript: string,
  manifest: PreparedSite['manifest'],
  config: Pick<DocsHostConfig, 'deployment' | 'features' | 'siteUrl' | 'basePath'>,
  asked: { domain: string } | undefined,
): string {
  const found = bundleConfigSchema.parse(configIn(bundleScript));
  const bundleType = found.deployment ?? manifest.deployment;
  const deployment = config.deployment ?? bundleType;
  const kept = deployment === bundleType ? found.features : {};
  // A site behind walls names no server, whatever the bundle was exported for.
  const isAirGapped = deployment === 'air-gapped';
  const throughHost = asked !== undefined && !isAirGapped;
  const features = {
    ...(isAirGapped ? withoutServer(kept) : kept),
    // Whoever gives the host a key wants it used. A bundle says what there was when it was exported.
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
  );
  const ownServer = `window.binderyConfig.serverUrl = location.origin + ${JSON.stringify(config.basePath)};\n`;
  return throughHost ? script + ownServer : script;
}

/** What needs a server is left out. */
const withoutServer = ({ search, playground }: DocsHostConfig['features']): DocsHostConfig['features'] => ({
  ...(search !== undefined && search !== 'server' && { search }),
  ...(playground !== undefined && { playground }),
});

function configIn(script: string): unknown {
  const found = /window\.binderyConfig = (\{[\s\S]*?\n\});/.exec(script)?.[1];
  try {
    return found === undefined ? {} : JSON.parse(found);
  } catch {
    return {};
  }
}
