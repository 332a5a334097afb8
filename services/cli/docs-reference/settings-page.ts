import type { ServiceName } from '#infra/supervisor/services.ts';
import { provisionSettings } from '../commands/installation.ts';
import { otherVariables, serviceSettings } from '../known-settings.ts';
import { startSettings } from '../start.ts';
import { consoleSettings } from '#services/console/config.ts';
import { docsHostSettings } from '#services/docs-host/config.ts';
import { variableName } from '#shared/service/common-settings.ts';
import type { Setting } from '#shared/runtime/config.ts';
import { code, markdownTable, page, plain } from './markdown.ts';

const services = Object.keys(serviceSettings) as ServiceName[];

type Row = { variable: string; byDefault: string; readers: string[]; description: string; secret: boolean };

export function settingsPage(): string {
  const rows = new Map<string, Row>();
  for (const service of services) addRows(rows, service, Object.values(serviceSettings[service]));
  addRows(rows, 'docs-host', Object.values(docsHostSettings));
  addRows(rows, 'console', Object.values(consoleSettings));
  addRows(rows, 'bindery start', Object.values(startSettings));
  addRows(rows, 'bindery provision', [provisionSettings.natsPassword, provisionSettings.replicas]);
  const all = [
    ...[...rows.values()].map(({ variable, byDefault, readers, description, secret }) =>
      cells(
        variable,
        byDefault,
        `${plain(description)}${secret ? ' (secret)' : ''}`,
        services.every((service) => readers.includes(service)) ? 'all services' : readers.join(', '),
      ),
    ),
    ...otherVariables.map(([variable, byDefault, readers, description]) =>
      cells(variable, byDefault === 'none' ? byDefault : code(byDefault), plain(description), readers),
    ),
  ];
  return page(
    'Settings',
    'Every environment variable with its default and its readers.',
    'A service with a required setting does not start until it is set. `npm start` sets the variables with which services find each other. `<SERVICE>` is the name of a service in capitals, such as `PAGE_RENDERER`. Secrets are never printed.',
    markdownTable(
      ['variable and default', 'meaning and readers'],
      all.sort(([a = ''], [b = '']) => (a < b ? -1 : 1)),
    ),
  );
}

/** A row of two cells with four values. The names are long and do not wrap, so four columns would be too wide. */
const cells = (variable: string, byDefault: string, meaning: string, readers: string): string[] => [
  `${code(variable)}<br />${byDefault}`,
  `${meaning}<br />*${readers}*`,
];

function addRows(rows: Map<string, Row>, reader: string, settings: readonly Setting<unknown>[]): void {
  for (const { env, schema, description, secret } of settings) {
    // A setting that every service has under its own name gets a single row.
    const variable = env.replace(new RegExp(`_${variableName(reader)}(?=_PORT$|$)`), '_<SERVICE>');
    const [meaning = '', said] = description.split(/; default: /);
    const row = rows.get(variable);
    if (row !== undefined) row.readers.push(reader);
    else {
      const text = variable === env ? meaning : meaning.replaceAll(reader, 'service');
      const byDefault = said === undefined ? defaultOf(schema) : plain(said);
      rows.set(variable, { variable, byDefault, readers: [reader], description: text, secret });
    }
  }
}

/** The default of a schema as you would write it in the environment. */
function defaultOf(schema: unknown): string {
  const { def } = schema as { def: { type: string; defaultValue?: unknown; in?: unknown } };
  if (def.type === 'pipe') return defaultOf(def.in);
  if (def.type === 'optional') return 'none';
  if (def.type !== 'default') return '**required**';
  if (typeof def.defaultValue === 'boolean') return code(def.defaultValue ? '1' : '0');
  return def.defaultValue === '' ? 'none' : code(String(def.defaultValue));
}
