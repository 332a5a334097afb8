import assert from 'node:assert';
import {
  type Child,
  type ChildDied,
  ChildMisbehaved,
  type ChildProgram,
  ChildTimedOut,
  isAsleep,
  processorTimeMs,
  startChild,
} from './child.ts';
import type { FromChild } from './child-messages.ts';
import {
  type Answerer,
  anything,
  type ChildOutcome,
  type Expected,
  type SentRequest,
  sendRequest,
} from './child-request.ts';
import type { Confinement } from './confinement.ts';
import { Misfit } from './frames.ts';

export type ChildPoolOptions = ChildProgram & {
  /** Maximum number of requests in flight. Each runs in a separate child. */
  slots: number;
  /**
   * Started but unused children, counting parked ones; at least one unused spare is kept unless this is 0. They start when the pool has been calm for
   * a while, because a start beside requests takes their processor time and memory. They replace a parked child if there are `slots` of those, and at
   * least two. They end with the others when the pool is idle, and are started again after its next request. Default: 1.
   */
  warmSpares?: number;
  /** Requests of our own that make spares compile their code before a real request arrives. Default: none. */
  warmUp?: WarmUp;
  /** The pool is calm when it has had no request for this time. Default: 3 s. */
  calmAfterMs?: number;
  /**
   * Maximum number of parked children, beyond `slots`, that wait for the organization they served. Without them, organizations that take turns would
   * each start a new process (0.4 s of processor time with the renderer's code). Default: as many as `slots`.
   */
  parked?: number;
  /** Idle timeout. A child that was unused for this time ends, and the spares end when the pool has had no request for it. Default: a minute. */
  idleAfterMs?: number;
  /** JavaScript heap of a child in megabytes; native memory is limited to somewhat more. Default: 512. */
  memoryLimitMb?: number;
  /** A child is replaced after this many requests. The number is high because a new child is slow until its code is compiled. Default: 5,000. */
  requestsPerChild?: number;
  /** Called for each request that cost a child, because of its deadline, the end of the process, or an invalid message. */
  onLost?: (how: ChildLoss) => void;
  /** The confinement of the children; by default the strongest that this machine offers. */
  confinement?: Confinement;
};

/**
 * Options for services that work for some seconds at a time: their children free their memory between the work, and a new child starts in a fifth of
 * a second.
 */
export const briefly = { warmSpares: 0, idleAfterMs: 3_000 } satisfies Partial<ChildPoolOptions>;

export const childLosses = ['deadline', 'died', 'misbehaved'] as const;
type ChildLoss = (typeof childLosses)[number];

export type RunOptions<T> = {
  /** Schema and checks of the response. */
  expects: Expected<T>;
  /**
   * Deadline from the moment when the child gets the request; time in the queue does not count. It is processor time where the system reports it, so
   * that a busy machine makes no request fail: it may then take six times as long in real time. Time in which the child sleeps, or in which its
   * messages are read, counts after the first deadline in real time.
   */
  deadlineMs: number;
  /** Deadline in real time, for a request whose child waits for slow answers, such as the parts of an upload. */
  withinMs?: number;
  /** Removes the request from the queue, or kills its child. */
  signal?: AbortSignal | undefined;
  /** The organization. A child that served one organization never serves another. */
  affinity?: string | undefined;
  /** Answers questions of the child while it works on this request. */
  answers?: Answerer | undefined;
};

/**
 * Requests of our own whose responses are discarded. They contain no data of an organization, so the child can still serve any organization. One
 * child at a time works on them, one request after the other while the pool is calm. A real request waits for one of them at most.
 */
export type WarmUp = {
  /** Number of warm-up requests for each child. */
  requests: number;
  /** The request of this number, from 0. It takes a child some milliseconds. */
  request: (number: number) => unknown;
};

export type ChildPool = {
  /**
   * Makes one child work on `request` (JSON with bytes in it) and returns its verified response. Rejects with `ChildTimedOut`, `ChildDied` or its
   * subclass `ChildMisbehaved`, `ChildRequestFailed` (the handler threw), or the reason of `signal`.
   */
  run<T>(request: unknown, options: RunOptions<T>): Promise<T>;
  /** Accepts no new request, finishes the accepted ones, then ends the children. */
  drain(): Promise<void>;
  /** Kills all children; running and waiting requests reject. */
  close(): Promise<void>;
};

type Job = {
  request: unknown;
  options: RunOptions<unknown>;
  resolve: (response: unknown) => void;
  reject: (error: unknown) => void;
  /** Removes the job from the queue and its listener from the signal, which may live as long as the service. */
  leaveQueue: () => void;
  /** True if a later job went first, because a child of its organization was idle and there was none for this job. */
  isOvertaken: boolean;
};

/**
 * A child of the pool. It is `starting` until it reports that it is ready, then `idle`, `busy` with one request, and `idle` again. Before its first
 * request it may be `warming` at times. From the first request on it serves that organization only. A killed or ended child is no longer a member.
 */
type Member = {
  child: Child;
  state: 'starting' | 'idle' | 'warming' | 'busy';
  /** Number of warm-up requests that it has answered. */
  warmed: number;
  served: number;
  affinity: string | undefined;
  /** Time of the last use on the monotonic clock, in milliseconds. */
  usedAt: number;
  /** Stops the idle child, which belongs to an organization, unless its next request arrives at once. */
  pauseTimer: NodeJS.Timeout | undefined;
  onMessage: (message: FromChild) => void;
  /**
   * Handles the end of the child during the current request. A reaction to `child.ended` for each request would keep all requests in memory while the
   * child lives.
   */
  onEnd: (ended: ChildDied) => void;
};

const startDeadlineMs = 20_000;
const mostFailedStarts = 3;
/** A request may take this many times its deadline in real time while its child gets too little processor time. */
const mostStretch = 6;
const shortestExtensionMs = 20;
/**
 * Number of checks whether a child sleeps, during an extension as long as its deadline. Their times are random, so that a child cannot wake up just
 * for them.
 */
const looksAtDeadline = 20;
/** Pause between two requests after which a child is stopped. */
const pauseAfterMs = 100;
/** Deadline of a warm-up request in real time. It is far longer than such a request takes, even on a busy machine. */
const warmUpDeadlineMs = 5_000;

/** Refuses any message of a child that has no request. */
const unasked = (): never => {
  throw new Misfit('it sent a message without a request');
};

/** Killable child processes for work on tenants' bytes. Parsers and highlighters can hang so that only SIGKILL ends them. */
export function childPool(options: ChildPoolOptions): ChildPool {
  const { entry, addons, limits, snapshot, slots, warmSpares = 1, parked = slots, warmUp } = options;
  const {
    calmAfterMs = 3_000,
    idleAfterMs = 60_000,
    memoryLimitMb = 512,
    requestsPerChild = 5_000,
    confinement,
    onLost,
  } = options;
  const members = new Set<Member>();
  const queue: Job[] = [];
  const waitingForQuiet: (() => void)[] = [];
  /** Killed children whose processes have not ended yet. */
  const leaving = new Set<Promise<ChildDied>>();
  let mode: 'open' | 'draining' | 'closed' = 'open';
  /** Timer that is active while the pool has children. */
  let unusedTimer: NodeJS.Timeout | undefined;
  let lastId = 0;
  let failedStarts = 0;
  /** True once a child died during its warm-up, because others would die too. */
  let warmUpFailed = false;
  /** Time at which the last request ended. Monotonic, milliseconds. */
  let quietSince = performance.now();
  /** True if the pool has had no request for its idle timeout, so spares would only take memory. */
  const isUnused = (): boolean => isQuietFor(idleAfterMs);
  const isCalm = (): boolean => mode === 'open' && isQuietFor(calmAfterMs);
  const isQuietFor = (ms: number): boolean =>
    queue.length === 0 && busyCount() === 0 && performance.now() - quietSince >= ms;

  const isFresh = (member: Member): boolean => member.served === 0 && member.state !== 'busy';
  const all = (test: (member: Member) => boolean): Member[] => [...members].filter(test);
  const busyCount = (): number => all(({ state }) => state === 'busy').length;

  function start(): void {
    // A damaged snapshot may be the reason why a child did not start, so the next one starts without it.
    const program = { entry, addons, limits, snapshot: failedStarts === 0 ? snapshot : undefined };
    const member: Member = {
      child: startChild({ ...program, memoryLimitMb, confinement }, (message) => member.onMessage(message)),
      state: 'starting',
      warmed: 0,
      served: 0,
      affinity: undefined,
      usedAt: performance.now(),
      pauseTimer: undefined,
      onMessage: (message) => {
        if (message.kind !== 'ready') throw new Misfit('it spoke before it was ready');
        clearTimeout(startTimer);
        failedStarts = 0;
        member.onMessage = unasked;
        member.state = 'idle';
        schedule();
      },
      onEnd: () => undefined,
    };
    const startTimer = setTimeout(() => member.child.kill(), startDeadlineMs);
    members.add(member);
    unusedTimer ??= setInterval(retireUnused, idleAfterMs / 2).unref();
    void afterEnd(member, startTimer);
  }

  async function afterEnd(member: Member, startTimer: NodeJS.Timeout): Promise<void> {
    const ended = await member.child.ended;
    clearTimeout(startTimer);
    if (member.state === 'starting' && members.has(member)) failedStarts += 1;
    if (member.state === 'warming' && members.has(member)) warmUpFailed = true;
    members.delete(member);
    if (failedStarts < mostFailedStarts) schedule();
    else rejectWaiting(ended);
    member.onEnd(ended);
  }

  function rejectWaiting(reason: Error): void {
    for (const job of [...queue]) {
      job.leaveQueue();
      job.reject(reason);
    }
  }

  /** Removes a child from the pool at once, so that another can take its place. Its process ends later. */
  function retire(member: Member): void {
    members.delete(member);
    clearTimeout(member.pauseTimer);
    leaving.add(member.child.ended);
    void member.child.ended.then(() => leaving.delete(member.child.ended));
    member.child.kill();
  }

  function schedule(): void {
    while (queue.length > 0 && busyCount() < slots) {
      const found = nextMatch();
      if (!found) break;
      found.job.leaveQueue();
      work(found.member, found.job);
    }
    refill();
    warm();
    if (queue.length === 0 && busyCount() === 0) for (const resolve of waitingForQuiet.splice(0)) resolve();
  }

  /** The oldest job for which a child is idle that has served the same organization or none. */
  function nextMatch(): { job: Job; member: Member } | undefined {
    const idle = all(({ state, child }) => state === 'idle' && !child.isRefused());
    for (const [at, job] of idle.length > 0 ? queue.entries() : []) {
      const member =
        idle.find(({ served, affinity }) => served > 0 && affinity === job.options.affinity) ??
        idle.find(({ served }) => served === 0);
      if (member === undefined) continue;
      for (const before of queue.slice(0, at)) before.isOvertaken = true;
      return { job, member };
    }
    return undefined;
  }

  function refill(): void {
    // After a failed start, the entry is tried again with the next request instead of in a loop.
    if (mode === 'closed' || isUnused() || (failedStarts > 0 && queue.length === 0)) return;
    // A child starts for a job that was overtaken while all slots are busy: an organization that always has a request would keep it waiting.
    const overtaken = queue.some(({ isOvertaken }) => isOvertaken) ? 1 : 0;
    const waiting = Math.max(overtaken, Math.min(queue.length, slots - busyCount()));
    const spares = isCalm() ? Math.max(warmSpares - parkedChildren().length, Math.min(warmSpares, 1)) : 0;
    const wanted = Math.max(spares, waiting);
    for (let fresh = all(isFresh).length; fresh < wanted; fresh += 1) {
      const isSpare = fresh >= waiting;
      if (members.size >= slots + parked + warmSpares || (isSpare && parkedChildren().length >= Math.max(slots, 2))) {
        // The waiting requests belong to other organizations than the parked children. A spare takes the place of one of them, because each takes as much
        // memory as three services, and requests of the same organization can use the spare.
        const [longestUnused] = parkedChildren();
        if (!longestUnused) return;
        retire(longestUnused);
      }
      start();
    }
  }

  /** While the pool is calm, sends the next warm-up request to the first spare whose warm-up is not complete. */
  function warm(): void {
    if (warmUp === undefined || warmUpFailed || !isCalm() || all(({ state }) => state === 'warming').length > 0) return;
    const [member] = all(
      ({ state, served, warmed, child }) =>
        state === 'idle' && served === 0 && warmed < warmUp.requests && !child.isRefused(),
    );
    if (member === undefined) return;
    lastId += 1;
    const id = lastId;
    member.state = 'warming';
    const timer = setTimeout(() => member.child.kill(), warmUpDeadlineMs);
    member.onEnd = () => clearTimeout(timer);
    const request = warmUp.request(member.warmed);
    ({ onMessage: member.onMessage } = sendRequest(member.child, { id, request, expects: anything }, () => {
      clearTimeout(timer);
      member.onMessage = unasked;
      member.onEnd = () => undefined;
      member.warmed += 1;
      member.state = 'idle';
      schedule();
    }));
  }

  /** Idle children that belong to an organization, the least recently used first. */
  const parkedChildren = (): Member[] =>
    all(({ state, served }) => state === 'idle' && served > 0).sort((a, b) => a.usedAt - b.usedAt);

  function retireUnused(): void {
    const since = performance.now() - idleAfterMs;
    for (const member of parkedChildren()) if (member.usedAt <= since) retire(member);
    if (isUnused()) for (const member of all(isFresh)) retire(member);
    if (members.size > 0) return;
    clearInterval(unusedTimer);
    unusedTimer = undefined;
  }

  function work(member: Member, job: Job): void {
    const { expects, deadlineMs, withinMs, signal, affinity, answers } = job.options;
    assert(member.state === 'idle', 'a child works on one request at a time');
    assert(
      member.served === 0 || member.affinity === affinity,
      'a child that served one organization never serves another',
    );
    clearTimeout(member.pauseTimer);
    member.child.resume();
    lastId += 1;
    const id = lastId;
    member.state = 'busy';
    member.served += 1;
    member.affinity = affinity;
    let settled = false;
    const finish = (child: 'keep' | 'kill', settle: () => void): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      member.onMessage = unasked;
      member.onEnd = () => undefined;
      member.state = 'idle';
      member.usedAt = performance.now();
      quietSince = member.usedAt;
      calmTimer.refresh();
      if (child === 'kill' || member.served >= requestsPerChild) retire(member);
      else member.pauseTimer = setTimeout(() => member.child.pause(), pauseAfterMs).unref();
      settle();
      schedule();
    };
    const lose = (how: ChildLoss, reason: Error): void => {
      if (!settled) onLost?.(how);
      finish('kill', () => job.reject(reason));
    };
    const abort = (): void => finish('kill', () => job.reject(signal?.reason));
    const usedMs = (): number | undefined => processorTimeMs(member.child.pid());
    const usedBefore = usedMs();
    const heardBefore = member.child.heardMs();
    const startedAt = performance.now();
    let lookedAt = startedAt + deadlineMs;
    let asleepMs = 0;
    let sent: SentRequest | undefined;
    const onDeadline = (): void => {
      const now = performance.now();
      const usedNow = usedMs();
      const isKnown = usedBefore !== undefined && usedNow !== undefined;
      // A child that a page has taken over may sleep forever without using processor time.
      if (sent?.isAsking() !== true && isAsleep(member.child.pid()) === true) asleepMs += Math.max(0, now - lookedAt);
      lookedAt = now;
      const clockLeft = (withinMs ?? deadlineMs * (isKnown ? mostStretch : 1)) - (now - startedAt);
      const spentMs = isKnown ? usedNow - usedBefore + asleepMs + member.child.heardMs() - heardBefore : 0;
      const left = Math.min(clockLeft, isKnown ? deadlineMs - spentMs : Infinity);
      if (left <= 0) return lose('deadline', new ChildTimedOut(deadlineMs));
      const untilLook = (deadlineMs / looksAtDeadline) * (0.5 + Math.random());
      timer = setTimeout(onDeadline, Math.max(shortestExtensionMs, Math.min(left, untilLook)));
    };
    let timer = setTimeout(onDeadline, deadlineMs);
    signal?.addEventListener('abort', abort, { once: true });
    member.onEnd = (ended) => lose(ended instanceof ChildMisbehaved ? 'misbehaved' : 'died', ended);
    const settle = (outcome: ChildOutcome<unknown>): void =>
      finish('keep', () => ('failure' in outcome ? job.reject(outcome.failure) : job.resolve(outcome.response)));
    try {
      sent = sendRequest(member.child, { id, request: job.request, expects, answers }, settle);
      member.onMessage = sent.onMessage;
    } catch (error) {
      finish('keep', () => job.reject(error));
    }
  }

  const calmTimer = setTimeout(() => {
    // Timers count from the start of the event loop's iteration, which may be some time before the request ended.
    if (isQuietFor(0) && !isQuietFor(calmAfterMs)) calmTimer.refresh();
    else schedule();
  }, calmAfterMs).unref();

  async function end(): Promise<void> {
    clearInterval(unusedTimer);
    clearTimeout(calmTimer);
    for (const member of all(() => true)) retire(member);
    await Promise.all(leaving);
  }

  return {
    run<T>(request: unknown, runOptions: RunOptions<T>): Promise<T> {
      if (mode !== 'open') return Promise.reject(new Error('the pool of child processes is closed'));
      const { signal } = runOptions;
      if (signal?.aborted) return Promise.reject(signal.reason as Error);
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      const leaveQueue = (): void => {
        queue.splice(queue.indexOf(job), 1);
        signal?.removeEventListener('abort', giveUp);
      };
      const options = runOptions as RunOptions<unknown>;
      const job: Job = {
        ...{ request, options, reject, leaveQueue, isOvertaken: false },
        resolve: (response) => resolve(response as T),
      };
      const giveUp = (): void => {
        leaveQueue();
        reject(signal?.reason);
      };
      queue.push(job);
      signal?.addEventListener('abort', giveUp);
      schedule();
      return promise;
    },
    async drain() {
      const quiet = new Promise<void>((resolve) => waitingForQuiet.push(resolve));
      if (mode === 'open') mode = 'draining';
      schedule();
      await quiet;
      mode = 'closed';
      await end();
    },
    async close() {
      mode = 'closed';
      rejectWaiting(new Error('the pool of child processes is closed'));
      await end();
    },
  };
}
