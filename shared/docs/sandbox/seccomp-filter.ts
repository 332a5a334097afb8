/** Numbers of a system call on each architecture that Node has builds for (arch/x86/entry/syscalls/syscall_64.tbl, asm-generic/unistd.h). */
type SystemCall = { x64: number; arm64?: number };

/**
 * System calls that a child never needs: new sockets (its channel exists before it starts), signals to others and their priority, new processes,
 * inspecting other processes, and kernel interfaces that bypass these.
 */
const refused: Readonly<Record<string, SystemCall>> = {
  socket: { x64: 41, arm64: 198 },
  connect: { x64: 42, arm64: 203 },
  bind: { x64: 49, arm64: 200 },
  listen: { x64: 50, arm64: 201 },
  kill: { x64: 62, arm64: 129 },
  tkill: { x64: 200, arm64: 130 },
  rt_sigqueueinfo: { x64: 129, arm64: 138 },
  rt_tgsigqueueinfo: { x64: 297, arm64: 240 },
  setpriority: { x64: 141, arm64: 140 },
  fork: { x64: 57 },
  vfork: { x64: 58 },
  pidfd_open: { x64: 434, arm64: 434 },
  pidfd_getfd: { x64: 438, arm64: 438 },
  pidfd_send_signal: { x64: 424, arm64: 424 },
  ptrace: { x64: 101, arm64: 117 },
  process_vm_readv: { x64: 310, arm64: 270 },
  process_vm_writev: { x64: 311, arm64: 271 },
  unshare: { x64: 272, arm64: 97 },
  setns: { x64: 308, arm64: 268 },
  mount: { x64: 165, arm64: 40 },
  io_uring_setup: { x64: 425, arm64: 425 },
  bpf: { x64: 321, arm64: 280 },
  perf_event_open: { x64: 298, arm64: 241 },
  userfaultfd: { x64: 323, arm64: 282 },
  keyctl: { x64: 250, arm64: 219 },
  add_key: { x64: 248, arm64: 217 },
  request_key: { x64: 249, arm64: 218 },
  open_by_handle_at: { x64: 304, arm64: 265 },
};

/** The calls that start threads, which Node needs, and processes. The flags of `clone3` are in memory, which a filter cannot read. */
const clone = { x64: 56, arm64: 220 };
const clone3 = { x64: 435, arm64: 435 };
/** Flag of a call that starts a thread (linux/sched.h). */
const cloneThread = 0x00010000;

/** Values from linux/audit.h. */
const machines = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
/** On x86-64 each call has a second number, for programs with 32-bit pointers (x32); none of ours is one. */
const x32Bit = 0x40000000;

// Values from linux/bpf_common.h and linux/seccomp.h.
const loadWord = 0x20;
const jumpIfEqual = 0x15;
const jumpIfNotLess = 0x35;
const jumpIfAnyBit = 0x45;
const answer = 0x06;
const allow = 0x7fff0000;
const failWithEperm = 0x00050001;
const failWithEnosys = 0x00050026;
const numberOffset = 0;
const machineOffset = 4;
/** Offset of the lower half of the first argument. */
const argumentOffset = 16;

/**
 * A seccomp program for `setpriv --seccomp-filter`: each refused call fails with EPERM, and so does the start of a process. All others are allowed,
 * except that `clone3` does not exist: libraries then start their threads by `clone`. Undefined if the call numbers of this architecture are unknown.
 */
export function seccompFilter(architecture: string = process.arch): Uint8Array | undefined {
  if (!(architecture === 'x64' || architecture === 'arm64')) return undefined;
  const numbers = Object.values(refused).flatMap((call) => call[architecture] ?? []);
  const program: [code: number, ifTrue: number, ifFalse: number, value: number][] = [
    [loadWord, 0, 0, machineOffset],
    // Jumps count the instructions that they skip: to the refusal, the second to last one, or to the permission before it.
    [jumpIfEqual, 0, numbers.length + 7, machines[architecture]],
    [loadWord, 0, 0, numberOffset],
    [jumpIfNotLess, numbers.length + 5, 0, x32Bit],
    ...numbers.map((value, index): [number, number, number, number] => [
      jumpIfEqual,
      numbers.length - index + 4,
      0,
      value,
    ]),
    [jumpIfEqual, 0, 2, clone[architecture]],
    [loadWord, 0, 0, argumentOffset],
    [jumpIfAnyBit, 1, 2, cloneThread],
    [jumpIfEqual, 2, 0, clone3[architecture]],
    [answer, 0, 0, allow],
    [answer, 0, 0, failWithEperm],
    [answer, 0, 0, failWithEnosys],
  ];
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  }
  return bytes;
}
