import { closeSync, writeSync } from 'node:fs';
import { errorCode } from '#shared/runtime/failures.ts';
import { channelDescriptor } from '../child-messages.ts';

/*
 * Ways in which a child that a page has taken over misuses the pipe to its service. One is triggered by `dishonest: <name>;` in the bytes or texts of
 * a request. Everything else is handled honestly.
 */

const never = new Promise<never>(() => undefined);

/** Writes to the pipe directly. It is non-blocking, so a write is tried again while it is full. */
function write(bytes: Uint8Array, descriptor = channelDescriptor): void {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(descriptor, bytes, at);
    } catch (error) {
      if (errorCode(error) !== 'EAGAIN') throw error;
    }
  }
}

function prefix(json: number, bytes: number): Buffer {
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(json, 0);
  lengths.writeUInt32BE(bytes, 4);
  return lengths;
}

const frame = (json: string, bytes: Uint8Array = new Uint8Array(0)): Buffer =>
  Buffer.concat([prefix(Buffer.byteLength(json), bytes.length), Buffer.from(json), bytes]);

const text = (json: string, bytes?: Uint8Array): void => write(frame(json, bytes));

const say = (message: unknown, places: unknown[] = [], bytes?: Uint8Array): void =>
  text(JSON.stringify([message, places]), bytes);

const question = (id: number, number: number, content: unknown = 'x') =>
  say({ kind: 'question', id, question: number, content });

/** Misuses that get the id of the request, which a child that was taken over would know. */
export const dishonesties = {
  'says null': () => say(null),
  'says a text': () => say('ready'),
  'says a message of an unknown kind': () => say({ kind: 'exit', code: 0 }),
  'says a message with more fields': (id) => say({ kind: 'response', id, response: null, path: '/etc/passwd' }),
  'says what Node says of handles': () => say({ cmd: 'NODE_HANDLE', type: 'net.Socket', msg: null }),
  'says what Node says to itself': () => say({ cmd: 'NODE_CLUSTER', act: 'listening' }),
  'says what Node acknowledges': () => say({ cmd: 'NODE_HANDLE_ACK' }),
  'says no JSON': () => text('{'),
  'says something that is no pair': () => text('[1]'),
  'writes lines instead of frames': () => write(Buffer.from('{"kind":"ready"}\n{"kind":"ready"}\n')),
  'sends an empty frame': () => write(prefix(0, 0)),
  'promises four gigabytes': () => write(prefix(0xffffffff, 0xffffffff)),
  'promises four gigabytes of bytes': () => write(prefix(20, 0xffffffff)),
  'sends a million values': () => text(`[[${'0,'.repeat(1_000_000)}0],[]]`),
  'names half a million places': () => text(`[[],[${'[["a"],0],'.repeat(500_000)}[["a"],0]]]`),
  'sends lists in lists': () => text(`[${'['.repeat(100_000)}${']'.repeat(100_000)},[]]`),
  'sends bytes for a prototype': (id) =>
    say({ kind: 'response', id, response: {} }, [[['__proto__', 'polluted'], 1]], Buffer.from('x')),
  'sends bytes for the prototype of a list': (id) =>
    say({ kind: 'response', id, response: [] }, [[['response', 'length'], 1]], Buffer.from('x')),
  'sends bytes for a value that it sent': (id) =>
    say({ kind: 'response', id, response: 'x' }, [[['response'], 1]], Buffer.from('x')),
  'names more bytes than it sends': (id) =>
    say({ kind: 'response', id, response: null }, [[['response'], 9]], Buffer.from('x')),
  'sends bytes without a place': (id) => say({ kind: 'response', id, response: null }, [], Buffer.from('x')),
  'answers a request of somebody else': (id) => say({ kind: 'response', id: id + 1, response: 'x' }),
  'answers the request before': (id) => say({ kind: 'failure', id: id - 1, name: 'Error', message: 'x' }),
  'is ready again': () => say({ kind: 'ready' }),
  'fails with a name of a megabyte': (id) => say({ kind: 'failure', id, name: 'x'.repeat(2 ** 20), message: '' }),
  'asks a question twice': (id) => {
    question(id, 1);
    question(id, 1);
  },
  'asks hundreds of questions at once': (id) => {
    for (let number = 1; number <= 300; number += 1) question(id, number);
  },
  'writes megabytes of errors': () => write(Buffer.alloc(3 * 2 ** 20, 'x'), 2),
} satisfies Record<string, (id: number) => void>;

/** Misuses that respond before their questions are answered. */
const impatience = {
  'responds while it is being answered': (id) => {
    question(id, 1);
    question(id, 2);
    say({ kind: 'response', id, response: 'early' });
  },
} satisfies Record<string, (id: number) => void>;

/** Ways to end without sending anything invalid. */
export const breaks = {
  'closes its pipe': () => closeSync(channelDescriptor),
  'closes its pipe in the middle of a message': () => {
    write(prefix(1_000, 0));
    write(Buffer.from('[{"kind":'));
    closeSync(channelDescriptor);
  },
  'sends a byte now and then': () => {
    write(prefix(1_000_000, 0));
    setInterval(() => write(Buffer.from('[')), 5);
  },
} satisfies Record<string, () => void>;

/** Messages after the expected response, in the same piece: in a later piece they could meet the next request of the organization. */
export const afterwards = {
  'answers twice': (id) => ({ kind: 'response', id, response: 'again' }),
  'asks a question that nobody waits for': (id) => ({ kind: 'question', id, question: 1_000_000, content: 'x' }),
  'speaks when nothing was asked': () => ({ kind: 'response', id: 1_000_000, response: null }),
} satisfies Record<string, (id: number) => object>;

type Handler = (request: unknown, ask: (content: unknown) => Promise<unknown>) => Promise<unknown>;

/** Requests are counted as a pool of one child counts them: each test has its own pool. */
export function dishonest(honest: Handler): Handler {
  let requests = 0;
  return async (request, ask) => {
    requests += 1;
    const id = requests;
    const name = /dishonest: ([^;]+);/.exec(seenIn(request))?.[1] ?? '';
    const lies: Record<string, ((id: number) => void) | undefined> = { ...dishonesties, ...impatience, ...breaks };
    if (lies[name] !== undefined) {
      lies[name](id);
      return never;
    }
    const later: Record<string, ((id: number) => object) | undefined> = afterwards;
    if (later[name] !== undefined) {
      const response = { kind: 'response', id, response: await honest(request, ask) };
      write(Buffer.concat([response, later[name](id)].map((message) => frame(JSON.stringify([message, []])))));
      return never;
    }
    return honest(request, ask);
  };
}

const seenIn = (request: unknown): string =>
  JSON.stringify(request, (_key, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString() : value,
  );
