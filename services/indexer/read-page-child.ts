import { serveChild } from '#shared/docs/sandbox/child-server.ts';
import { cutPassages, type PageToRead, readPage } from './read-page.ts';

/** The child process that reads tenants' pages: gets a `PageToRead`, answers with a `CutPage`. */
serveChild(async (request) => {
  const { sections, markdown } = readPage(request as PageToRead);
  return { passages: cutPassages(sections), markdown };
});
