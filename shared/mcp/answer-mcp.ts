import {
  createMcpHandler,
  isLegacyRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

const mostBodyBytes = 1024 * 1024;

/**
 * Answers one POST of the Model Context Protocol over Streamable HTTP, without a session, so any process may answer the next one. Clients of the revision
 * 2026-07-28 and of those before it (with `initialize`) are served. Answers are JSON: no tool reports progress, and some proxies buffer streams.
 * `build` makes a server for this request alone. The caller has checked key and origin.
 */
export async function answerMcp(
  request: Request,
  build: () => Promise<McpServer>,
  onError: (error: Error) => void,
): Promise<Response> {
  const accepting = withAccept(request);
  const options = { maxRequestBodySize: mostBodyBytes };
  if (await isLegacyRequest(accepting, undefined, options))
    return await answerEarlier(accepting, await build(), onError);
  const handler = createMcpHandler(build, {
    ...options,
    legacy: 'reject',
    maxSubscriptions: 0,
    onerror: onError,
  });
  return await handler.fetch(accepting);
}

/** Answers a client of a revision before 2026-07-28. */
async function answerEarlier(request: Request, server: McpServer, onError: (error: Error) => void): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  // A transport has this property instead of events.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener
  transport.onerror = onError;
  await server.connect(transport);
  try {
    return await transport.handleRequest(request);
  } finally {
    await server.close();
  }
}

/**
 * The request with an `Accept` that names both kinds of answers. Clients must send it, but some send one kind, or `*` for all, and would get an error for no
 * reason.
 */
function withAccept(request: Request): Request {
  const headers = new Headers(request.headers);
  headers.set('accept', 'application/json, text/event-stream');
  return new Request(request, { headers });
}
