import { scriptJson } from '../shell/html.ts';
import type { RenderOptions } from '../render-options.ts';

export type SiteConfig = {
  deployment: RenderOptions['deployment'];
  features: {
    /** `server`: the host's search. `bundle`: the index that is in the bundle, which needs no server. `off`. */
    search: 'server' | 'bundle' | 'off';
    assistant: boolean;
    analytics: boolean;
    playground: boolean;
  };
  /** Where the site is, such as `https://docs.example.com`: for canonical addresses. Empty: not known. */
  siteUrl: string;
  /** Base address of the Bindery server for search and assistant. Empty: none. */
  serverUrl: string;
  /** Public assistant key of the server. */
  assistantKey: string;
};

/**
 * What the pages of a deployment can do before anyone edits the file. Client-hosted sites have all that they may configure off, but for search in
 * the bundle's own index, which needs no server; nothing goes on in an air-gapped one.
 */
export function siteConfig(deployment: RenderOptions['deployment'], siteUrl = ''): SiteConfig {
  const features: Record<RenderOptions['deployment'], SiteConfig['features']> = {
    cloud: { search: 'server', assistant: true, analytics: true, playground: true },
    'client-hosted': { search: 'bundle', assistant: false, analytics: false, playground: true },
    'air-gapped': { search: 'off', assistant: false, analytics: false, playground: false },
  };
  return { deployment, features: features[deployment], siteUrl, serverUrl: '', assistantKey: '' };
}

/** `_bindery/config.js`: the one file that may be edited after the export; the manifest leaves it out. */
export function siteConfigScript(config: SiteConfig): string {
  const pretty = JSON.stringify(JSON.parse(scriptJson(config)), null, 2).replace(
    /[<>&\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `// Settings of this copy of the site. You may edit this file: it is the only one that the manifest does not list.
// features.search: "server" asks serverUrl, "bundle" searches the index in this folder, "off".
// siteUrl: where the site is, for canonical addresses, such as "https://docs.example.com".
window.binderyConfig = ${pretty};
`;
}
