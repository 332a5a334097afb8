import { serveChild } from '#shared/docs/sandbox/child-server.ts';
import { type CutRequest, readAndCut } from './read-page.ts';

/** The child process that reads tenants' pages. */
serveChild(async (request) => readAndCut(request as CutRequest));
