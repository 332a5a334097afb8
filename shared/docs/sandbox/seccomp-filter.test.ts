import { expect, test } from 'vitest';
import { seccompFilter } from './seccomp-filter.ts';

type Call = { machine: number; number: number; flags?: number };

const [x64, arm64] = [0xc000003e, 0xc00000b7];

/** The answer of a filter to a system call, as the kernel runs it: classic BPF over `struct seccomp_data` (linux/seccomp.h). */
function verdict(filter: Uint8Array, { machine, number, flags = 0 }: Call): string {
  const program = Buffer.from(filter);
  const words = new Map([
    [0, number],
    [4, machine],
    [16, flags],
  ]);
  let loaded = 0;
  for (let at = 0; at < program.length / 8; at += 1) {
    const [code, value] = [program.readUInt16LE(at * 8), program.readUInt32LE(at * 8 + 4)];
    const [ifTrue, ifFalse] = [program.readUInt8(at * 8 + 2), program.readUInt8(at * 8 + 3)];
    if (code === 0x20) loaded = words.get(value) ?? Number.NaN;
    else if (code === 0x06)
      return { 0x7fff0000: 'allowed', 0x00050001: 'EPERM', 0x00050026: 'ENOSYS' }[value] ?? 'unknown';
    else {
      const holds = { 0x15: loaded === value, 0x35: loaded >= value, 0x45: (loaded & value) !== 0 }[code];
      if (holds === undefined) throw new Error(`There is no instruction ${code}.`);
      at += holds ? ifTrue : ifFalse;
    }
  }
  throw new Error('The program has no end.');
}

test.each([
  ['x64', x64, { read: 0, socket: 41, clone: 56, fork: 57, vfork: 58, kill: 62, clone3: 435, openByHandle: 304 }],
  ['arm64', arm64, { read: 63, socket: 198, clone: 220, kill: 129, clone3: 435, openByHandle: 265 }],
] as const)('a child on %s starts threads, and neither processes nor sockets', (architecture, machine, numbers) => {
  const filter = seccompFilter(architecture);
  if (filter === undefined) throw new Error('There is no filter for this architecture.');
  const answers = Object.fromEntries(
    Object.entries(numbers).map(([name, number]) => [name, verdict(filter, { machine, number })]),
  );
  expect(answers).toEqual({
    ...{ read: 'allowed', socket: 'EPERM', clone: 'EPERM', kill: 'EPERM', clone3: 'ENOSYS', openByHandle: 'EPERM' },
    ...(architecture === 'x64' ? { fork: 'EPERM', vfork: 'EPERM' } : {}),
  });
  const thread = 0x3d0f00;
  expect(verdict(filter, { machine, number: numbers.clone, flags: thread })).toBe('allowed');
  expect(verdict(filter, { machine, number: numbers.clone, flags: 17 })).toBe('EPERM');
  // Calls for another machine, or with 32-bit pointers.
  expect(verdict(filter, { machine: 0x40000003, number: numbers.read })).toBe('EPERM');
  expect(verdict(filter, { machine, number: 0x40000000 + numbers.read })).toBe('EPERM');
});

test('there is no filter for an architecture with unknown numbers', () => {
  expect(seccompFilter('riscv64')).toBeUndefined();
});
