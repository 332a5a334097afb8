import { serveChild } from '#shared/docs/sandbox/child-server.ts';
import { handleRenderRequest } from './render-request.ts';

/** Entry of a sandbox child that renders: the only process that parses what a tenant wrote. */
serveChild(async (request) => handleRenderRequest(request));
