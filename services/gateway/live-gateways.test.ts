import { expect, test } from 'vitest';
import type { PresenceReport } from '#shared/contracts/export-tasks.ts';
import type { Presence } from '#shared/messaging/queue/task-queue.ts';
import { systemClock } from '#shared/runtime/time-and-ids.ts';
import { liveGateways } from './live-gateways.ts';

/** Presence reports that are sent when a test says so, and that all receive. */
function presenceOnRequest() {
  const senders: (() => void)[] = [];
  const listeners = new Set<(report: PresenceReport) => void>();
  const presence: Presence = {
    announce(report) {
      const now = () => {
        for (const listener of listeners) listener(report());
      };
      senders.push(now);
      now();
      return { now, stop: () => void senders.splice(senders.indexOf(now), 1) };
    },
    watch(_service, listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const secondPasses = () => {
    for (const send of senders) send();
  };
  return { presence, senders, secondPasses };
}

test('a gateway counts those that it hears, and forgets one that says that it goes', () => {
  const { presence, secondPasses } = presenceOnRequest();
  const [one, two, three] = ['a', 'b', 'c'].map((name) => liveGateways(presence, name, systemClock));
  secondPasses();
  expect([one, two, three].map((each) => each?.count())).toEqual([3, 3, 3]);
  three?.stop();
  expect([one, two].map((each) => each?.count())).toEqual([2, 2]);
});

test('one that died is forgotten after a few seconds, but not while nobody is heard', () => {
  const { presence, senders, secondPasses } = presenceOnRequest();
  const one = liveGateways(presence, 'a', systemClock);
  liveGateways(presence, 'b', systemClock);
  secondPasses();
  expect(one.count()).toBe(2);
  // The bus is away: not even the gateway's own reports arrive, so nothing changes.
  const [own] = senders.splice(0);
  expect(one.count()).toBe(2);
  for (let second = 0; second < 3; second += 1) own?.();
  expect(one.count()).toBe(2);
  own?.();
  expect(one.count()).toBe(1);
});
