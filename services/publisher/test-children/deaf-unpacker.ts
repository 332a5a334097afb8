import { serveChild } from '#shared/docs/sandbox/child-server.ts';

/** A child that says that all went well, whatever it was answered. */
serveChild(async (_request, ask) => {
  await ask({ kind: 'more' }).catch(() => undefined);
});
