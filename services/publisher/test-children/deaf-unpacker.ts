import { serveChild } from '#shared/docs/sandbox/child-server.ts';

/** A child that reports success regardless of the answers to its questions. */
serveChild(async (_request, ask) => {
  await ask({ kind: 'more' }).catch(() => undefined);
});
