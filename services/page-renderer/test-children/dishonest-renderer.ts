import { handleRenderRequest } from '#shared/docs/render/render-request.ts';
import { serveChild } from '#shared/docs/sandbox/child-server.ts';
import { dishonest } from '#shared/docs/sandbox/test-children/dishonesty.ts';

/** A child that renders until a page takes it over. */
serveChild(dishonest(handleRenderRequest));
