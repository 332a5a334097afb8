import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { request } from 'undici';
import { onLoopback } from './on-loopback.ts';

/** Outcome of a bulk request: everything is stored, half is refused, or everything is stored but the answer is lost. */
export type BulkFate = 'stored' | 'half refused' | 'answer lost';

export type RefusingProxy = {
  url: string;
  /** Number of requests by their result. */
  counts: Record<BulkFate, number>;
  close(): Promise<void>;
};

type Item = Record<string, { _id: string; status: number; error?: { type: string; reason: string } }>;

/** Proxy in front of an Elasticsearch that handles each bulk request as `fate` says. `fate` gets the number of the request, from 0 on. */
export async function refusingProxy(target: string, fate: (bulk: number) => BulkFate): Promise<RefusingProxy> {
  const counts: RefusingProxy['counts'] = { stored: 0, 'half refused': 0, 'answer lost': 0 };
  let bulks = 0;

  async function forward(incoming: IncomingMessage, body: Uint8Array) {
    const { 'content-length': _, host: __, connection: ___, 'transfer-encoding': ____, ...headers } = incoming.headers;
    const method = (incoming.method ?? 'GET') as 'GET';
    const answer = await request(new URL(incoming.url ?? '/', target), {
      method,
      headers,
      body: body.length === 0 ? null : body,
    });
    return { status: answer.statusCode, headers: answer.headers, body: Buffer.from(await answer.body.arrayBuffer()) };
  }

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    if (!incoming.url?.includes('/_bulk')) return send(outgoing, await forward(incoming, body));
    const chosen = fate(bulks);
    bulks += 1;
    counts[chosen] += 1;
    if (chosen === 'stored') return send(outgoing, await forward(incoming, body));
    if (chosen === 'answer lost') {
      await forward(incoming, body);
      outgoing.destroy();
      return undefined;
    }
    return send(outgoing, await storeHalf(incoming, body));
  }

  /** Answer of a node with a full queue: every second document is refused. */
  async function storeHalf(incoming: IncomingMessage, body: Uint8Array) {
    const lines = Buffer.from(body).toString('utf8').trimEnd().split('\n');
    const operations = Array.from({ length: lines.length / 2 }, (_, at) => lines.slice(2 * at, 2 * at + 2));
    const kept = operations.filter((_, at) => at % 2 === 0);
    const stored = await forward(incoming, Buffer.from(`${kept.flat().join('\n')}\n`));
    const result = JSON.parse(stored.body.toString('utf8')) as { items: Item[]; errors: boolean };
    const items = operations.map(([action = ''], at): Item => {
      const one = result.items[at / 2];
      if (at % 2 === 0 && one !== undefined) return one;
      const { index } = JSON.parse(action) as { index: { _id: string } };
      const error = { type: 'es_rejected_execution_exception', reason: 'the queue is full' };
      return { index: { ...index, status: 429, error } };
    });
    return { ...stored, body: Buffer.from(JSON.stringify({ ...result, errors: true, items })) };
  }

  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch(() => outgoing.destroy());
  });
  return { ...(await onLoopback(server)), counts };
}

type Answer = { status: number; headers: Record<string, string | string[] | undefined>; body: Buffer };

function send(outgoing: ServerResponse, { status, headers, body }: Answer): void {
  const { 'content-length': _, 'transfer-encoding': __, connection: ___, ...kept } = headers;
  outgoing.writeHead(status, { ...kept, 'content-length': body.length });
  outgoing.end(body);
}
