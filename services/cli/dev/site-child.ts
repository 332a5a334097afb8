import type { ProjectFiles } from '#shared/docs/project/project-files.ts';
import { fileReader } from '#shared/docs/project/file-reader.ts';
import { serveChild } from '#shared/docs/sandbox/child-server.ts';
import { liveSite } from './live-site.ts';
import type { SiteRequest } from './site-questions.ts';

/*
 * The child that holds the model of the site that is shown while its author writes. It reads the project as the publisher's child does, and asks its
 * parent for the files. Unlike that child it keeps the readings of all files, so a saved page costs the reading of one file.
 */

const site = liveSite();

serveChild((request, ask) => {
  const asked = request as SiteRequest;
  const reader = (files: ProjectFiles['files']): ProjectFiles => ({ files, read: fileReader(ask, files) });
  return site.answer(asked, reader);
});
