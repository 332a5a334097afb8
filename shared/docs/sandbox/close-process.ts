import dgram from 'node:dgram';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import v8 from 'node:v8';

/**
 * Permanently removes the capabilities that Node's permission model leaves to this process: signals to other processes and their priority, names of
 * other users, native code, sockets and socket files, and engine settings that write files. A child calls this when it has loaded all its modules.
 * Calls throw `ProcessClosed`. The kernel refuses most of this if it can; this applies on every system.
 */
export function closeProcess(): void {
  const owners: readonly (readonly [object, readonly string[]])[] = [
    [process, ['kill', '_kill', '_debugProcess', '_debugEnd', 'dlopen', 'setuid', 'seteuid', 'setgid', 'setegid']],
    [process, ['setgroups', 'initgroups']],
    [v8, ['setFlagsFromString', 'setHeapSnapshotNearHeapLimit']],
    [os, ['setPriority']],
    [net, ['connect', 'createConnection', 'createServer', '_createServerHandle', 'BoundSocket']],
    [net.Socket.prototype, ['connect']],
    [net.Server.prototype, ['listen']],
    [dgram.Socket.prototype, ['bind', 'connect', 'send']],
    [dgram, ['createSocket', '_createSocketHandle', 'Socket']],
    ...[dns, dns.promises].map(
      (module) => [module, Object.keys(module).filter((name) => name !== 'promises')] as const,
    ),
  ];
  for (const [owner, names] of owners) {
    for (const name of names) {
      if (typeof Reflect.get(owner, name) !== 'function') continue;
      // A `function` instead of an arrow function, because it also replaces classes.
      const value = function closed(): never {
        throw new ProcessClosed(`${name} is not available in a child that reads tenants' bytes`);
      };
      Object.defineProperty(owner, name, { value, writable: false, configurable: false });
    }
  }
  syncBuiltinESMExports();
}

/** Code in the child used a removed capability. */
class ProcessClosed extends Error {
  override name = 'ProcessClosed';
}
