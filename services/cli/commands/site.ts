import { type Command, Option } from 'commander';
import { sourceWords } from '#shared/contracts/publication-source.ts';
import type { ContentList } from '#shared/interfaces/http/content.ts';
import type { Searches, Views } from '#shared/interfaces/http/site-views.ts';
import type { DeploymentList, DeploymentView, SiteView } from '#shared/interfaces/http/sites.ts';
import { type ApiClient, foundOrNone } from '../api-client.ts';
import { type ServerCommandOptions, wholeNumber, withConnection } from '../command-options.ts';
import { connect, domainOrLocal } from '../connection.ts';
import { formatBytes, formatNumber, printable } from '#shared/runtime/figures.ts';
import { followDeployments } from '../follow-deployments.ts';
import { loginBody, loginKinds, type LoginOptions, passwordSource, protectedSites } from '../site-login.ts';
import { type SiteOptions, siteSettings } from '../site-settings.ts';
import { createOutput, textTable } from '../terminal.ts';
import { DeploymentDidNotSucceed, whenDeployed } from '../when-deployed.ts';
import { servedSentence } from '../when-served.ts';

type OpenOptions = ServerCommandOptions & LoginOptions & SiteOptions & { wait: boolean };
type WaitOptions = ServerCommandOptions & { wait: boolean };

type ViewsOptions = ServerCommandOptions & { by?: string; from?: string; to?: string; limit?: number };

const fromDay = ['--from <day>', 'first day (UTC), such as 2026-03-01; by default 29 days before the last'] as const;
const toDay = ['--to <day>', 'last day (UTC); by default today'] as const;
const mostEntries = ['--limit <count>', 'most entries', wholeNumber(1, 1_000)] as const;
const noWait = ['--no-wait', 'do not wait until readers see it'] as const;

export function siteCommand(program: Command): void {
  const site = program.command('site').description('the site of a domain, where readers see its published content');

  withConnection(site.command('open'))
    .description(
      'open the site of a domain, so that its latest content goes live, or change the settings that are given and no others',
    )
    .argument('[domain]', 'slug or host name of the domain')
    .option('--name <name>', 'first part of the address; by default the slug of the domain')
    .option(
      '--host <hosts...>',
      'all further host names, such as docs.acme.com, whose DNS leads to the hosts of sites; replaces earlier ones',
    )
    .option('--no-host', 'no further host names')
    .option('--previews', 'a preview of each label (default of a new site)')
    .option('--no-previews', 'no previews of labels')
    .option('--assistant', 'pages search and ask through their host (default of a new site)')
    .option('--no-assistant', 'no assistant; pages search in the index of the site')
    .option(
      '--assistant-key <key>',
      'assistant key that pages show, to ask the platform directly and not through their host',
    )
    .option('--counts', 'count page views and searches, without cookies (default of a new site)')
    .option('--no-counts', 'do not count page views and searches')
    .addOption(
      new Option(
        '--login <kind>',
        'login of readers: none, names with passwords, or accounts at the provider that the hosts of sites have',
      ).choices(loginKinds),
    )
    .option(
      '--user <names...>',
      'names that may read, for "--login password"; their passwords are asked for on the terminal, or come from BINDERY_SITE_PASSWORD (one name) or --passwords-stdin',
    )
    .option('--passwords-stdin', 'read the passwords from the input, one a line, in the order of the names')
    .option('--group <groups...>', 'groups at the provider that may read, for "--login oidc"')
    .option('--email-domain <domains...>', 'domains of addresses that may read, for "--login oidc"')
    .addOption(
      new Option('--protect <sites>', 'what the login protects: all, or previews alone').choices(protectedSites),
    )
    .option(...noWait)
    .action(async (named: string | undefined, options: OpenOptions) => {
      const client = connect(options, 'admin');
      const domain = domainOrLocal(named, options);
      const { env: environment, stdin: input, stderr } = process;
      const passwords = passwordSource(options.passwordsStdin === true, { environment, input, output: stderr });
      const login = await loginBody(options, passwords);
      const settings = siteSettings(options, await foundOrNone<SiteView>(client, sitePath(domain)));
      const opened = await client.json<SiteView>(sitePath(domain), { method: 'PUT', json: { ...settings, login } });
      const output = createOutput(options.json);
      const isEmpty = opened.live === undefined && (await latestContent(client, domain)) === undefined;
      const live = options.wait && !isEmpty ? await whenDeployed(client, domain, {}) : undefined;
      const address = live?.address ?? opened.address;
      output.result(
        live === undefined ? opened : { ...opened, live },
        isEmpty
          ? `The site is open, and nothing is published yet. "bindery publish <folder> --domain ${domain}" makes it live at ${address}`
          : live === undefined
            ? `The site is open: ${address}`
            : await servedSentence(address, live.contentVersion),
      );
    });

  withConnection(site.command('close'))
    .description('close the site of a domain with its previews')
    .argument('[domain]', 'slug or host name of the domain')
    .action(async (named: string | undefined, options: ServerCommandOptions) => {
      const domain = domainOrLocal(named, options);
      await connect(options, 'admin').raw(sitePath(domain), { method: 'DELETE' });
      createOutput(options.json).result({ domain, closed: true }, `The site of "${domain}" is closed.`);
    });

  withConnection(site.command('deployments'))
    .description('list the deployments of a site and its previews, newest first')
    .argument('[domain]', 'slug or host name of the domain')
    .option('--follow', 'show each change, until the site is closed', false)
    .action(async (named: string | undefined, options: ServerCommandOptions & { follow: boolean }) => {
      if (options.follow) return await showDeployments(named, options);
      const list = await connect(options, 'admin').json<DeploymentList>(deploymentsPath(domainOrLocal(named, options)));
      createOutput(options.json).result(list, deploymentTable(list.deployments));
    });

  withConnection(site.command('deploy'))
    .description('deploy the latest content again, such as after a failed deployment or an upgrade')
    .argument('[domain]', 'slug or host name of the domain')
    .option(...noWait)
    .action(async (named: string | undefined, options: WaitOptions) => {
      const client = connect(options, 'admin');
      const domain = domainOrLocal(named, options);
      const begun = await client.json<DeploymentView>(deploymentsPath(domain), { method: 'POST' });
      const shown = options.wait ? ((await whenDeployed(client, domain, { id: begun.id })) ?? begun) : begun;
      createOutput(options.json).result(shown, sentenceOf(shown));
    });

  withConnection(site.command('rollback'))
    .description('roll the live site back to an earlier deployment, at once')
    .argument('[domain]', 'slug or host name of the domain')
    .option(
      '--to <deployment>',
      'number of the deployment; by default the one that readers saw before',
      wholeNumber(1, 1_000_000_000),
    )
    .action(async (named: string | undefined, options: ServerCommandOptions & { to?: number }) => {
      const client = connect(options, 'admin');
      const domain = domainOrLocal(named, options);
      const to = options.to ?? (await deploymentBefore(await client.json(deploymentsPath(domain)), domain));
      const shown = await client.json<DeploymentView>(`${deploymentsPath(domain)}/${to}/rollback`, { method: 'POST' });
      createOutput(options.json).result(
        shown,
        `Rolled back to deployment ${to}.\n${await servedSentence(shown.address ?? '', shown.contentVersion)}`,
      );
    });

  withConnection(site.command('views'))
    .description('page views of a site, by day, path or referrer')
    .argument('[domain]', 'slug or host name of the domain')
    .addOption(
      new Option('--by <order>', 'the entries of the list; by default days').choices(['day', 'path', 'referrer']),
    )
    .option(...fromDay)
    .option(...toDay)
    .option(...mostEntries)
    .action(async (named: string | undefined, { by, from, to, limit, ...options }: ViewsOptions) => {
      const domain = domainOrLocal(named, options);
      const query = { by, from, to, limit: limit?.toString() };
      const views = await connect(options, 'admin').json<Views>(`${domainPath(domain)}/views`, { query });
      createOutput(options.json).result(views, viewsTable(views));
    });

  withConnection(site.command('searches'))
    .description('what readers of a site searched for, and how often nothing was found')
    .argument('[domain]', 'slug or host name of the domain')
    .option(...fromDay)
    .option(...toDay)
    .option(...mostEntries)
    .action(async (named: string | undefined, { from, to, limit, ...options }: ViewsOptions) => {
      const domain = domainOrLocal(named, options);
      const query = { from, to, limit: limit?.toString() };
      const searches = await connect(options, 'admin').json<Searches>(`${domainPath(domain)}/searches`, { query });
      createOutput(options.json).result(searches, searchesTable(searches));
    });
}

async function showDeployments(named: string | undefined, options: ServerCommandOptions): Promise<void> {
  const domain = domainOrLocal(named, options);
  const output = createOutput(options.json);
  for await (const news of followDeployments(connect(options, 'admin'), deploymentsPath(domain))) {
    if (news.kind === 'all') output.result(news.list, deploymentTable(news.list.deployments));
    else output.result(news.deployment, sentenceOf(news.deployment));
  }
  output.note(`The site of "${domain}" is closed.`);
}

async function latestContent(client: ApiClient, domain: string): Promise<string | undefined> {
  const { versions } = await client.json<ContentList>(`${domainPath(domain)}/content`);
  return versions.find(({ latest }) => latest)?.contentVersion;
}

const domainPath = (domain: string): string => `/v1/domains/${encodeURIComponent(domain)}`;
const sitePath = (domain: string): string => `${domainPath(domain)}/site`;
const deploymentsPath = (domain: string): string => `${domainPath(domain)}/deployments`;

async function deploymentBefore({ deployments }: DeploymentList, domain: string): Promise<number> {
  const before = deployments.find(({ canRollBack }) => canRollBack);
  if (before === undefined)
    throw new DeploymentDidNotSucceed(`No earlier deployment of "${domain}" is kept, so a rollback is not possible.`);
  return before.id;
}

function sentenceOf({ id, label, status, address, error, findings }: DeploymentView): string {
  const subject = `Deployment ${id}${label === undefined ? '' : ` (${printable(label)})`}`;
  if (status === 'failed') return `${subject} failed: ${printable(error ?? 'no reason is known')}`;
  const found = status === 'live' && findings !== undefined ? `, with ${findingsText(findings)}` : '';
  return `${subject} is ${status}${found}${address === undefined ? '' : `: ${address}`}`;
}

const findingsText = ({ errors, warnings }: NonNullable<DeploymentView['findings']>): string =>
  [counted(errors, 'error'), counted(warnings, 'warning')].filter((text) => text !== '').join(', ') || 'no findings';

const counted = (count: number, what: string): string =>
  count === 0 ? '' : `${formatNumber(count)} ${what}${count === 1 ? '' : 's'}`;

/** A table of deployments. Pure. */
export function deploymentTable(deployments: readonly DeploymentView[]): string {
  if (deployments.length === 0) return 'No deployments.';
  return textTable(
    ['No.', 'Status', 'Requested (UTC)', 'Took', 'Size', 'Findings', 'Cause', 'Content', 'Address or error'],
    deployments.map((each) => [
      String(each.id),
      each.status,
      each.requestedAt.slice(0, 19).replace('T', ' '),
      each.durationMs === undefined ? '' : `${(each.durationMs / 1_000).toFixed(1)} s`,
      each.sizeBytes === undefined ? '' : formatBytes(each.sizeBytes),
      each.findings === undefined ? '' : findingsText(each.findings),
      `${each.cause}${each.label === undefined ? '' : ` ${printable(each.label)}`}`,
      `${each.contentVersion.slice(0, 11)}${each.source === undefined ? '' : ` (${printable(sourceWords(each.source))})`}`,
      printable(each.address ?? each.error ?? (each.canRollBack ? 'can be rolled back to' : '')),
    ]),
  );
}

/** A table of page views. Pure. */
export function viewsTable({ by, from, to, total, direct, entries, other }: Views): string {
  const named = { day: 'Day', path: 'Path', referrer: 'Referrer' } as const;
  const rest: [string, number][] = [
    ...(direct === undefined ? [] : [['(none, or the site itself)', direct] as [string, number]]),
    ...(other === 0 ? [] : [['(others)', other] as [string, number]]),
  ];
  const rows = [...entries.map(({ name, views }): [string, number] => [name, views]), ...rest];
  const said = `${formatNumber(total)} page view${total === 1 ? '' : 's'} from ${from} to ${to} (UTC).`;
  if (total === 0) return said;
  const table = textTable(
    [named[by], 'Views'],
    rows.map(([name, views]) => [printable(name), String(views)]),
  );
  return `${table}\n${said}`;
}

/** A table of searches. Pure. */
export function searchesTable({ from, to, total, empty, queries, other }: Searches): string {
  const said = `${formatNumber(total)} search${total === 1 ? '' : 'es'} from ${from} to ${to} (UTC), ${formatNumber(empty)} of them found nothing.`;
  if (total === 0) return said;
  const rows = queries.map((each) => [printable(each.query), String(each.searches), String(each.empty)]);
  const rest = other === 0 ? [] : [['(others)', String(other), '']];
  return `${textTable(['Words', 'Searches', 'Found nothing'], [...rows, ...rest])}\n${said}`;
}
