import { quoted } from './diagnostics.ts';
import { type JsonValue, objectOf, textOf } from './json-values.ts';

/**
 * Services that count visits, by their names in docs.json, each with its settings, which are all public. `consent` is not a service: visits count
 * only in browsers that store its `value` under its `key`.
 */
export type Analytics = Record<string, Record<string, string>>;

/**
 * Services that accept an event by plain HTTP, with their required and optional settings. Umami and Matomo are not in the format; they are supported
 * for operators who host these services themselves.
 */
const services: Record<string, { needed: string[]; optional?: string[]; form?: Record<string, RegExp> }> = {
  amplitude: { needed: ['apiKey'] },
  ga4: { needed: ['measurementId'], form: { measurementId: /^G-[A-Z\d]+$/i } },
  matomo: { needed: ['url', 'siteId'] },
  mixpanel: { needed: ['projectToken'] },
  plausible: { needed: ['domain'], optional: ['server'] },
  posthog: { needed: ['apiKey'], optional: ['apiHost'] },
  segment: { needed: ['key'] },
  umami: { needed: ['url', 'websiteId'] },
};
const maxLength = 300;
/** Services of the format that cannot count visits in exported pages, with the reason and an alternative. */
const impossible: Record<string, string> = {
  gtm: 'a tag manager loads scripts of other sites, and pages run none. Name the service that it reports to, such as "ga4"',
};

/** Reads `integrations` of docs.json. `onProblem` gets a sentence for each of them that has no effect. */
export function readAnalytics(
  integrations: JsonValue | undefined,
  onProblem: (problem: string) => void = () => undefined,
): Analytics {
  const found: Analytics = {};
  for (const [name, given] of Object.entries(objectOf(integrations))) {
    const settings = objectOf(given);
    const valueOf = (key: string): string | undefined => textOf(settings[key])?.slice(0, maxLength);
    if (name === 'cookies') {
      const [key, value] = [valueOf('key'), valueOf('value')];
      if (key !== undefined && value !== undefined) found['consent'] = { key, value };
      else onProblem('"integrations.cookies" has no effect: it needs "key" and "value".');
      continue;
    }
    // This setting concerns the original product only.
    if (name === 'telemetry') continue;
    const service = Object.hasOwn(services, name) ? services[name] : undefined;
    if (service === undefined) {
      const names = Object.keys(services).join(', ');
      const why = Object.hasOwn(impossible, name) ? impossible[name] : 'pages run no scripts of other sites';
      onProblem(`"integrations.${name.slice(0, 60)}" has no effect: ${why}. Visits can be counted by ${names}.`);
      continue;
    }
    const missing = service.needed.filter((key) => valueOf(key) === undefined);
    if (missing.length > 0) {
      onProblem(`"integrations.${name}" has no effect: it needs "${missing.join('" and "')}".`);
      continue;
    }
    const wrong = Object.entries(service.form ?? {}).find(([key, form]) => !form.test(valueOf(key) ?? ''));
    if (wrong !== undefined) {
      onProblem(
        `"integrations.${name}" has no effect: "${wrong[0]}" is ${quoted(valueOf(wrong[0]) ?? '')}, which that service does not accept.`,
      );
      continue;
    }
    found[name] = Object.fromEntries(
      [...service.needed, ...(service.optional ?? [])].flatMap((key) => {
        const value = valueOf(key);
        return value === undefined ? [] : [[key, value]];
      }),
    );
  }
  return found;
}
