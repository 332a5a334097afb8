import type { SiteView } from '#shared/interfaces/http/sites.ts';

/** Options of `bindery site open` for the settings of a site. An option that was not given is undefined. */
export type SiteOptions = {
  name?: string | undefined;
  /** False: no further host names. */
  host?: string[] | false | undefined;
  previews?: boolean | undefined;
  assistant?: boolean | undefined;
  assistantKey?: string | undefined;
  counts?: boolean | undefined;
};

/** Settings in the body of `PUT /v1/domains/{domain}/site`. An undefined one has the default of the server. */
export type SiteSettings = {
  name?: string | undefined;
  hosts?: string[] | undefined;
  previews?: boolean | undefined;
  assistant?: boolean | undefined;
  assistantKey?: string | undefined;
  counts?: boolean | undefined;
};

/**
 * The settings of a site after a command. The interface replaces all settings, so an option that was not given keeps its current value: a command
 * that adds a login must not release host names. `site`: undefined if there is none yet, or it is closed. Pure.
 */
export function siteSettings(options: SiteOptions, site: SiteView | undefined): SiteSettings {
  const { name, host, previews, counts } = options;
  return {
    name: name ?? site?.name,
    hosts: host === false ? [] : (host ?? site?.hosts),
    previews: previews ?? site?.previews,
    ...assistantSettings(options, site),
    counts: counts ?? site?.counts,
  };
}

/** Pages ask either their host or, with the key, the platform, so choosing one switches the other off. */
function assistantSettings(
  { assistant, assistantKey }: SiteOptions,
  site: SiteView | undefined,
): Pick<SiteSettings, 'assistant' | 'assistantKey'> {
  if (assistantKey !== undefined) return { assistantKey };
  if (assistant !== undefined) return { assistant };
  return site?.assistantKey === undefined ? { assistant: site?.assistant } : { assistantKey: site.assistantKey };
}
