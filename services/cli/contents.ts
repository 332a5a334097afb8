import { type Command, Option } from 'commander';
import type { ContentList } from '#shared/contracts/http/published-content.ts';
import { type ApiClient } from './api-client.ts';
import { connect, domainOrLocal } from './connection.ts';
import { createOutput } from './output.ts';
import { printable } from './printable.ts';
import { textTable } from './text-table.ts';
import { formatNumber } from './timeline/format-figures.ts';
import { type ServerCommandOptions, withConnection } from './with-connection.ts';

type Options = ServerCommandOptions & { promote?: string; delete?: string };

/** No content version is meant by what was given; the message says what there is. */
export class UnknownContent extends Error {
  override name = 'UnknownContent';
}

export function contentsCommand(program: Command): void {
  withConnection(program.command('contents'))
    .description('what has been published to a domain: content versions, their labels, which is latest and searched')
    .argument('[domain]', 'slug or host name')
    .addOption(
      new Option('--promote <content>', 'make a content version the latest; also by its label').conflicts('delete'),
    )
    .option('--delete <content>', 'delete a content version that is neither latest nor labelled')
    .action(async (named: string | undefined, options: Options) => {
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
      } else {
        const list = await listContents(client, path);
        output.result(list, contentTable(list));
      }
    });
}

const listContents = (client: ApiClient, path: string): Promise<ContentList> => client.json<ContentList>(path);

/** The content version of this name, of this label, or the only one that begins so. Pure. Throws `UnknownContent`. */
export function contentNamed({ domain, versions }: ContentList, name: string): string {
  const labelled = versions.find(({ contentVersion, labels }) => contentVersion === name || labels.includes(name));
  if (labelled !== undefined) return labelled.contentVersion;
  const [first, ...more] = name.startsWith('cv_')
    ? versions.filter(({ contentVersion }) => contentVersion.startsWith(name))
    : [];
  if (first !== undefined && more.length === 0) return first.contentVersion;
  throw new UnknownContent(
    first === undefined
      ? `There is no content version or label "${name}" in "${domain}". "bindery contents ${domain}" lists those there are.`
      : `${more.length + 1} content versions of "${domain}" begin with "${name}". Give more of it.`,
  );
}

/** Newest first. Pure. */
export function contentTable({ domain, versions }: ContentList): string {
  if (versions.length === 0) return `Nothing has been published to "${domain}".`;
  return textTable(
    ['Content version', 'Published', 'Pages', 'Is', 'Labels'],
    versions.map(({ contentVersion, publishedAt, pages, labels, latest, searched }) => [
      contentVersion,
      publishedAt,
      formatNumber(pages).padStart('Pages'.length),
      [...(latest ? ['latest'] : []), ...(searched ? ['searched'] : [])].join(', '),
      printable(labels.join(', ')),
    ]),
  );
}
