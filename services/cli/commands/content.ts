import { type Command, Option } from 'commander';
import { sourceWords } from '#shared/contracts/publication-source.ts';
import type { ContentChanges } from '#shared/interfaces/http/content-reading.ts';
import type { ContentList } from '#shared/interfaces/http/content.ts';
import type { SiteView } from '#shared/interfaces/http/sites.ts';
import { type ApiClient, foundOrNone } from '../api-client.ts';
import { type RemoteFlags, type ServerCommandOptions, withConnection, withRemote } from '../command-options.ts';
import { ciRun } from '../ci-run.ts';
import { connect, domainOrLocal } from '../connection.ts';
import { counted, formatNumber, printable } from '#shared/runtime/figures.ts';
import { findingsText } from '../check/print-findings.ts';
import { textIn } from '../check/text-in.ts';
import { lastPublication } from '../last-publication.ts';
import { writeSummary } from '../publication-summary.ts';
import { publishProject } from '../publish-project.ts';
import { createOutput, paintFor, terminalWidth, textTable } from '../terminal.ts';
import { unreadFolder } from '../unread-folder.ts';
import { whenDeployed } from '../when-deployed.ts';
import { servedSentence } from '../when-served.ts';

type PublishOptions = ServerCommandOptions &
  RemoteFlags & {
    domain?: string;
    label?: string;
    preview: boolean;
    wait: boolean;
  };

export function publishCommand(program: Command): void {
  withRemote(withConnection(program.command('publish')))
    .description('publish a docs project: a folder with docs.json and MDX files')
    .argument('<folder>', 'the docs project, with docs.json in it')
    .option(
      '--domain <domain>',
      'slug or host name of the domain; by default that of the installation in the data folder',
    )
    .option('--label <label>', 'name for this content version')
    .option('--preview', 'only the label and its preview change, and the live site does not; needs --label', false)
    .option('--no-wait', 'do not wait until readers of the site see it')
    .action(async (folder: string, options: PublishOptions) => {
      const output = createOutput(options.json);
      const domain = domainOrLocal(options.domain, options);
      const client = connect(options, 'admin');
      const { remoteOf } = await import('../remote/remote-of.ts');
      const opened = await unreadFolder(folder);
      const remote = await remoteOf(opened, folder, options);
      const refused = remote.diagnostics.filter(({ severity }) => severity === 'error');
      if (refused.length > 0) throw new NotPublished(refused.map(({ message }) => message).join('\n'));
      const run = ciRun(process.env);
      const before =
        run?.summaryFile === undefined
          ? undefined
          : await foundOrNone<ContentList>(client, `/v1/domains/${encodeURIComponent(domain)}/content`);
      const published = await publishProject(client, {
        ...(run !== undefined && { source: run.source }),
        domain,
        folder,
        label: options.label,
        preview: options.preview,
        opened,
        added: remote.files,
        last: lastPublication({ folder, baseUrl: client.baseUrl, domain }),
      });
      const { label, preview } = options;
      const { contentVersion } = published;
      const shown = options.wait
        ? await whenDeployed(client, domain, { contentVersion, ...(preview ? { label } : {}) })
        : undefined;
      const publication = {
        ...published,
        ...(shown?.address === undefined ? {} : { address: shown.address }),
        diagnostics: [...remote.diagnostics, ...remote.withoutSaid(published.diagnostics)],
      };
      const found = findingsText(publication.diagnostics, {
        textOf: (file) => textIn(folder, file),
        paint: paintFor(process.stdout, process.env),
        columns: terminalWidth(process.stdout),
      });
      output.result(
        publication,
        [
          ...(found === '' ? [] : [found, '']),
          `Published ${counted(publication.pages, 'page')} to "${domain}" as ${publication.contentVersion}${options.label ? ` (${options.label})` : ''}.`,
          ...(shown?.address === undefined ? [] : [await servedSentence(shown.address, contentVersion)]),
          ...(shown === undefined || shown.address !== undefined ? [] : [`Deployment ${shown.id} is ${shown.status}.`]),
        ].join('\n'),
      );
      if (run?.summaryFile !== undefined)
        await writeSummary(run.summaryFile, {
          domain,
          contentVersion,
          pages: publication.pages,
          address: shown?.address,
          isPreview: preview,
          source: run.source,
          diagnostics: publication.diagnostics,
          changes: await changesSince(client, domain, contentVersion, before?.latest),
        });
      if (options.wait && shown === undefined) output.note(await unseenNote(client, domain, options.preview));
    });
}

/** The lock of the project and the files at its addresses do not match. */
class NotPublished extends Error {
  override name = 'NotPublished';
}

/** The differences to the content that was the latest before; undefined if there was none, or the server cannot compare the two. */
async function changesSince(
  client: ApiClient,
  domain: string,
  contentVersion: string,
  from: string | undefined,
): Promise<ContentChanges | undefined> {
  if (from === undefined || from === contentVersion) return undefined;
  const path = `/v1/domains/${encodeURIComponent(domain)}/content/${contentVersion}/changes`;
  return await client.json<ContentChanges>(path, { query: { from } }).catch(() => undefined);
}

/** Says why readers do not see a publication. */
async function unseenNote(client: ApiClient, domain: string, preview: boolean): Promise<string> {
  const site = await foundOrNone<SiteView>(client, `/v1/domains/${encodeURIComponent(domain)}/site`);
  if (site === undefined) return `"${domain}" has no site for readers: "bindery site open ${domain}" opens one.`;
  if (preview && !site.previews)
    return `The site has no previews: "bindery site open ${domain} --previews" switches them on.`;
  return `Its deployment has not begun yet: "bindery site deployments ${domain}" shows it.`;
}

type ContentsOptions = ServerCommandOptions & { promote?: string; delete?: string; unlabel?: string };

/** The given name matches no content version, or more than one; the message says what to do. */
class UnknownContent extends Error {
  override name = 'UnknownContent';
}

export function contentsCommand(program: Command): void {
  withConnection(program.command('contents'))
    .description('list the content versions of a domain with their labels, and which is latest and which is searched')
    .argument('[domain]', 'slug or host name')
    .addOption(
      new Option('--promote <content>', 'make a content version the latest, given by its id or label').conflicts([
        'delete',
        'unlabel',
      ]),
    )
    .addOption(
      new Option('--delete <content>', 'delete a content version that is neither latest nor labelled').conflicts(
        'unlabel',
      ),
    )
    .option('--unlabel <label>', 'remove a label; the content version that has it stays')
    .action(async (named: string | undefined, options: ContentsOptions) => {
      const output = createOutput(options.json);
      const client = connect(options, 'admin');
      const path = `/v1/domains/${encodeURIComponent(domainOrLocal(named, options))}/content`;
      if (options.promote !== undefined) {
        const contentVersion = contentNamed(await listContents(client, path), options.promote);
        const list = await client.json<ContentList>(`${path}/${contentVersion}/promote`, { method: 'POST' });
        output.result(list, `${contentVersion} is the latest now.`);
      } else if (options.delete !== undefined) {
        const contentVersion = contentNamed(await listContents(client, path), options.delete);
        await client.raw(`${path}/${contentVersion}`, { method: 'DELETE' });
        output.result({ contentVersion, deleted: true }, `Deleted ${contentVersion}.`);
      } else if (options.unlabel !== undefined) {
        const label = options.unlabel;
        await client.raw(`${path}/labels/${encodeURIComponent(label)}`, { method: 'DELETE' });
        output.result({ label, removed: true }, `Removed the label ${printable(label)}.`);
      } else {
        const list = await listContents(client, path);
        output.result(list, contentTable(list));
      }
    });
}

const listContents = (client: ApiClient, path: string): Promise<ContentList> => client.json<ContentList>(path);

/** The content version with this name or label, or the only one that begins with it. Pure. Throws `UnknownContent`. */
export function contentNamed({ domain, versions }: ContentList, name: string): string {
  const labelled = versions.find(({ contentVersion, labels }) => contentVersion === name || labels.includes(name));
  if (labelled !== undefined) return labelled.contentVersion;
  const [first, ...more] = name.startsWith('cv_')
    ? versions.filter(({ contentVersion }) => contentVersion.startsWith(name))
    : [];
  if (first !== undefined && more.length === 0) return first.contentVersion;
  throw new UnknownContent(
    first === undefined
      ? `There is no content version or label "${name}" in "${domain}". "bindery contents ${domain}" lists them.`
      : `${more.length + 1} content versions of "${domain}" begin with "${name}". Give more characters of the id.`,
  );
}

/** A table of content versions, newest first. Pure. */
export function contentTable({ domain, versions }: ContentList): string {
  if (versions.length === 0) return `Nothing has been published to "${domain}".`;
  return textTable(
    ['Content version', 'Published', 'Pages', 'Is', 'Labels', 'From'],
    versions.map(({ contentVersion, publishedAt, pages, labels, latest, searched, source }) => [
      contentVersion,
      publishedAt,
      formatNumber(pages).padStart('Pages'.length),
      [...(latest ? ['latest'] : []), ...(searched ? ['searched'] : [])].join(', '),
      printable(labels.join(', ')),
      source === undefined ? '' : printable(sourceWords(source)),
    ]),
  );
}
