import type { NamedFiles } from '#shared/docs/project/project-files.ts';
import type { RemoteFlags } from '../command-options.ts';
import { WrongUse } from '../check/wrong-use.ts';
import { remoteParts, type RemoteOptions, type RemoteParts } from './remote-parts.ts';

type Environment = Record<string, string | undefined>;

/** The files that a project names by address, as the options of a command and the environment want them. */
export async function remoteOf(
  project: NamedFiles,
  folder: string,
  { remote, remotePictures, refresh, privateAddresses }: RemoteFlags,
  more: Partial<RemoteOptions> = {},
  environment: Environment = process.env,
): Promise<RemoteParts> {
  if (refresh && !remote) throw new WrongUse('--refresh fetches files, and --no-remote forbids that. Leave one out.');
  return await remoteParts(project, {
    folder,
    fetch: remote,
    refresh,
    pictures: remotePictures,
    allowPrivate: privateAddresses,
    isCi: !['', '0', 'false'].includes(environment['CI'] ?? ''),
    fontService: environment['BINDERY_FONTS_URL'] || undefined,
    ...more,
  });
}
