import { handleRenderRequest, type RenderRequest } from '#shared/docs/render/render-request.ts';
import { serveChild } from '#shared/docs/sandbox/child-server.ts';

/** A child that renders, and never ends with a page that has the words `hang here`. */
serveChild((request, ask) => {
  const asked = request as RenderRequest;
  const sources =
    asked.kind === 'checked' ? asked.pages.map(({ source }) => source) : asked.kind === 'page' ? [asked.source] : [];
  for (const source of sources) if (Buffer.from(source).includes('hang here')) for (;;);
  return handleRenderRequest(request, ask);
});
