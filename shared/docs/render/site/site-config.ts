import type { SiteRenderOptions } from '../page-slice.ts';
import { scriptJson } from '../html.ts';
import { readAnalytics } from '#shared/docs/project/read-analytics.ts';
import type { JsonValue } from '#shared/docs/project/json-values.ts';
import type { SiteConfig } from './page-globals.ts';

/** Features of a page that the deployment type alone decides. */
const featuresOf: Record<SiteConfig['deployment'], SiteConfig['features']> = {
  cloud: { search: 'server', assistant: true, analytics: true, playground: true },
  'client-hosted': { search: 'bundle', assistant: false, analytics: false, playground: true },
  'air-gapped': { search: 'off', assistant: false, analytics: false, playground: false },
};

/**
 * `_bindery/config.js`: the only file that may be edited after the export; the manifest does not list it. `siteUrl` and `integrations` come from
 * docs.json.
 */
export function siteConfigScript(
  { deployment, domain, site = {} }: Pick<SiteRenderOptions, 'deployment' | 'domain' | 'site'>,
  siteUrl = '',
  integrations?: JsonValue,
): string {
  const { serverUrl = '', assistantKey = '', features = {} } = site;
  const { search, assistant, analytics, playground } = featuresOf[deployment];
  const config: SiteConfig = {
    deployment,
    features: {
      search: features.search ?? search,
      assistant: features.assistant ?? assistant,
      analytics: features.analytics ?? analytics,
      playground: features.playground ?? playground,
    },
    siteUrl,
    serverUrl,
    assistantKey,
    domain,
    analytics: deployment === 'air-gapped' ? {} : readAnalytics(integrations),
  };
  return `${explanation}window.binderyConfig = ${scriptJson(config, 2)};\n`;
}

const explanation = `// Settings of this copy of the site. You may edit this file: it is the only one that the manifest does not list.
// An invalid value switches off the features that need it, and the page reports it in the browser's console.
//
// deployment           how the site was exported: "cloud", "client-hosted" or "air-gapped". It explains the other values and has no effect.
// features.search      "server" uses the search of serverUrl, and the index in this folder if that does not answer;
//                      "bundle" uses only the index in this folder and needs no server; "off".
// features.assistant   true: readers can ask the assistant of serverUrl. It needs serverUrl, assistantKey and domain.
// features.analytics   true: visits are counted by the services in analytics.
// features.playground  true: readers can send requests to the documented API from its pages.
// siteUrl              address of the site for canonical addresses, such as "https://docs.example.com"; "" if it is unknown.
// serverUrl            public address of the Bindery platform, such as "https://bindery.example.com"; "" if there is none.
// assistantKey         assistant key of that platform ("svc_dsc_..."). It is public. Never put an admin key here. "" if there is none.
// domain               name of this site on that platform.
// analytics            services that count visits, with their settings, as in "integrations" of docs.json, such as
//                      { "plausible": { "domain": "docs.example.com" } }; {} if there are none. The key and value in "consent" must be set as
//                      a cookie, or in the browser's storage, before visits are counted.
`;
