import type { ProjectFiles } from '#shared/docs/project/project-files.ts';
import { fileReader } from '#shared/docs/project/file-reader.ts';
import { serveChild } from '#shared/docs/sandbox/child-server.ts';
import type { ReadFiles } from './dev-files.ts';
import { liveSite } from './live-site.ts';
import type { SiteRequest } from './site-questions.ts';

/*
 * The child that holds the model of the site that is shown while its author writes. It reads the project as the publisher's child does, and asks its
 * parent for the files. Unlike that child it keeps the readings of all files, so a saved page costs the reading of one file.
 */

const site = liveSite();

serveChild((request, ask) => {
  const asked = request as SiteRequest;
  const known = new Map(asked.kind === 'load' ? partsOf(asked.read) : []);
  const reader = (files: ProjectFiles['files']): ProjectFiles => {
    const read = fileReader(ask, files);
    return {
      files,
      read(path, maxBytes) {
        const bytes = known.get(path);
        return bytes === undefined ? read(path, maxBytes) : Promise.resolve(bytes.subarray(0, maxBytes));
      },
    };
  };
  return site.answer(asked, reader);
});

/** The files of joined bytes. */
function partsOf({ paths, lengths, bytes }: ReadFiles): [path: string, bytes: Uint8Array][] {
  let at = 0;
  return paths.map((path, index) => {
    const begin = at;
    at += lengths[index] ?? 0;
    return [path, bytes.subarray(begin, at)];
  });
}
