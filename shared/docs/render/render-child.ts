import { serveChild } from '#shared/docs/sandbox/child-server.ts';
import { handleRenderRequest } from './render-request.ts';

/** Entry of a sandbox child that renders. Only such children parse what a tenant wrote. */
serveChild(handleRenderRequest);
