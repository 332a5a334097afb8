import { randomUUID } from 'node:crypto';
import { type Ask, serveChild } from '../child-server.ts';

/** A child that does as its request says, for the tests of the pool. */
type Order =
  | { do: 'echo'; value: unknown }
  | { do: 'loop' }
  | { do: 'regex' }
  | { do: 'work on' }
  | { do: 'sleep' }
  | { do: 'exit'; code: number }
  | { do: 'heap' }
  | { do: 'native' }
  | { do: 'throw'; message: string }
  | { do: 'name' }
  | { do: 'served' }
  | { do: 'ask'; content: unknown };

const served: unknown[] = [];

/** The title identifies the child from outside: with a process namespace for each child, the process id of each is 1. */
process.title = `bindery-child-${randomUUID()}`;

serveChild((request, ask) => obey(request as Order, ask));

async function obey(order: Order, ask: Ask): Promise<unknown> {
  served.push(order.do);
  if (order.do === 'echo') return order.value;
  if (order.do === 'loop') for (;;) served.length = 1;
  if (order.do === 'regex') return /^(?:a+)+$/.test(`${'a'.repeat(60)}b`);
  if (order.do === 'work on') setInterval(() => void /^(?:a+)+$/.test(`${'a'.repeat(20)}b`), 0);
  if (order.do === 'sleep') return new Promise(() => setInterval(() => undefined, 60_000));
  if (order.do === 'exit') return process.exit(order.code);
  if (order.do === 'heap') {
    const kept: unknown[][] = [];
    for (;;) kept.push(Array.from({ length: 100_000 }, () => ({ kept })));
  }
  if (order.do === 'native') {
    const kept: Uint8Array[] = [];
    for (;;) kept.push(new Uint8Array(16 * 1024 * 1024).fill(1));
  }
  if (order.do === 'throw') throw new TypeError(order.message);
  if (order.do === 'served') return served;
  if (order.do === 'ask') return { asked: await ask(order.content) };
  return process.title;
}
