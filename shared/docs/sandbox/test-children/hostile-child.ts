import dgram from 'node:dgram';
import dns from 'node:dns/promises';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import { getSystemErrorName } from 'node:util';
import v8 from 'node:v8';
import { serveChild } from '../child-server.ts';

/** Attempts that tenants' code would make if a fault in a parser let it run. Each returns its result, or throws. */
type Attempt = { do: keyof typeof attempts; path?: string; pid?: number; port?: number };

// These functions are saved before the child closes them, as if code had found a way around.
const innerKill = Reflect.get(process, '_kill') as (pid: number, signal: number) => number;
const innerConnect = Reflect.get(net.Socket.prototype, 'connect') as (to: object) => unknown;

/** Calls the constructor of a socket handle that Node's own modules use. Returns `object` if that worked. */
const handleOf = (module: object, name: string, ...parameters: unknown[]): string =>
  typeof Reflect.apply(Reflect.get(module, name) as () => unknown, undefined, parameters);

/** Gets the modules even when imports are impossible, as in a process that started from a snapshot. */
const builtin = ((name: string) => {
  const found = process.getBuiltinModule(name);
  if (found === undefined) throw new Error(`No such built-in module: ${name}`);
  return found;
}) as typeof process.getBuiltinModule;

const attempts = {
  read: ({ path = '' }) => fs.readFileSync(path, 'utf8'),
  write: ({ path = '' }) => fs.writeFileSync(path, 'x'),
  environment: () => ({ ...process.env }),
  program: () => builtin('node:child_process').execFileSync('/bin/sh', ['-c', 'echo out']).toString(),
  'native code': ({ path = '' }) => process.dlopen({ exports: {} }, path),
  database: ({ path = '' }) => {
    const { DatabaseSync } = builtin('node:sqlite');
    new DatabaseSync(path).exec('CREATE TABLE taken (x)');
  },
  signal: ({ pid = 0 }) => process.kill(pid, 0),
  'signal to its group': () => process.kill(0, 0),
  'signal by the inner function': ({ pid = 0 }) => Reflect.get(process, '_kill')(pid, 0) as unknown,
  'signal around the closing': ({ pid = 0 }) => {
    const problem = innerKill(pid, 0);
    if (problem !== 0) throw new Error(getSystemErrorName(problem));
  },
  'debugger of another process': ({ pid = 0 }) => Reflect.get(process, '_debugProcess')(pid) as unknown,
  connection: ({ port = 0 }) => once(net.connect(port, '127.0.0.1'), 'connect'),
  'connection by its class': ({ port = 0 }) => once(new net.Socket().connect(port, '127.0.0.1'), 'connect'),
  'connection around the closing': ({ port = 0 }) => {
    const socket = new net.Socket();
    Reflect.apply(innerConnect, socket, [{ port, host: '127.0.0.1' }]);
    return once(socket, 'connect');
  },
  'connection to a socket file': ({ path = '' }) => once(net.connect(path), 'connect'),
  'web request': ({ port = 0 }) => fetch(`http://127.0.0.1:${port}/`),
  'own port': () => once(net.createServer().listen(0), 'listening'),
  'port by a handle': () => handleOf(net, '_createServerHandle', '127.0.0.1', 0, 4),
  'socket file by a handle': ({ path = '' }) => handleOf(net, '_createServerHandle', path, -1, -1),
  'datagrams by a handle': () => handleOf(dgram, '_createSocketHandle', '127.0.0.1', 0, 'udp4'),
  'datagrams by their class': () => Reflect.construct(dgram.Socket, ['udp4']) instanceof dgram.Socket,
  'priority of another process': ({ pid = 0 }) => os.setPriority(pid, os.getPriority()),
  datagram: async ({ port = 0 }) => {
    const socket = dgram.createSocket('udp4');
    await new Promise<void>((resolve, reject) => {
      socket.send('x', port, '127.0.0.1', (error) => (error ? reject(error) : resolve()));
    });
  },
  'name look-up': () => dns.resolve4('localhost'),
  'worker thread': () => new (builtin('node:worker_threads').Worker)('', { eval: true }).threadId,
  inspector: () => builtin('node:inspector').open(0, '127.0.0.1'),
  'inspector session': () => new (builtin('node:inspector').Session)().connect(),
  wasi: () => new (builtin('node:wasi').WASI)({ version: 'preview1', preopens: { '/': '/' } }),
  'code from a string': () => Reflect.apply(Function, undefined, ['return 1'])() as unknown,
  'file of the engine': ({ path = '' }) => v8.setFlagsFromString(`--logfile=${path}`),
  'heap snapshot': ({ path = '' }) => v8.writeHeapSnapshot(path),
  report: ({ path = '' }) => process.report.writeReport(path),
  'other user': () => process.setuid?.(65_534),
  'internal binding': () => Reflect.get(process, 'binding')('fs') as unknown,
} satisfies Record<string, (attempt: Attempt) => unknown>;

serveChild(async (request) => {
  const attempt = request as Attempt;
  return { got: (await attempts[attempt.do](attempt)) ?? 'done' };
});
