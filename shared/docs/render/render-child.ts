import { serveChild } from '#shared/docs/sandbox/child-server.ts';
import { handleRenderRequest } from './render-request.ts';

/** Entry of a sandbox child that renders. Tenants' sources are parsed only in such children. */
serveChild(handleRenderRequest);
