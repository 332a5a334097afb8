import { expect, test } from 'vitest';
import { nextOrganization, type Round, windowSize } from './fair-share.ts';

/** Who is served while `waiting` says who has how much to hand out. */
function serve(rounds: number, waiting: (turn: number) => Map<string, number>): string[] {
  let round: Round = [];
  const served: string[] = [];
  for (let turn = 0; turn < rounds; turn += 1) {
    const next = nextOrganization(round, waiting(turn));
    if (next === undefined) continue;
    round = next.round;
    served.push(next.organization);
  }
  return served;
}

const count = (served: string[], organization: string) => served.filter((name) => name === organization).length;

test('nobody waiting: nobody is served', () => {
  expect(nextOrganization([{ organization: 'a', due: 1, opening: 0 }], new Map())).toBeUndefined();
});

test('who comes gets its share in a row first, then equal shares take turns, one chunk each', () => {
  const both = new Map([
    ['a', 2],
    ['b', 2],
  ]);
  expect(serve(12, () => both).join('')).toBe('aabbabababab');
});

test('shares decide how much each gets', () => {
  const plans = new Map([
    ['free', 1],
    ['pro', 2],
    ['enterprise', 4],
  ]);
  const served = serve(700, () => plans);
  expect(['free', 'pro', 'enterprise'].map((name) => count(served, name))).toEqual([100, 200, 400]);
});

test('who comes while another of its plan has much to do is served next', () => {
  const served = serve(
    20,
    (turn) =>
      new Map(
        turn < 9
          ? [['large', 4]]
          : [
              ['large', 4],
              ['small', 4],
            ],
      ),
  );
  expect(served.indexOf('small')).toBe(9);
});

test('those that come together are served one after the other', () => {
  const left = new Map(['a', 'b', 'c'].map((name) => [name, 3]));
  const served: string[] = [];
  let round: Round = [];
  for (let turn = 0; turn < 9; turn += 1) {
    const waiting = new Map([...left].filter(([, units]) => units > 0).map(([name]) => [name, 4]));
    const next = nextOrganization(round, waiting);
    if (next === undefined) break;
    round = next.round;
    served.push(next.organization);
    left.set(next.organization, (left.get(next.organization) ?? 0) - 1);
  }
  expect(served.join('')).toBe('aaabbbccc');
});

test('who had nothing to hand out has saved nothing up', () => {
  const served = serve(
    48,
    (turn) =>
      new Map(
        turn > 0 && turn < 40
          ? [['b', 4]]
          : [
              ['a', 4],
              ['b', 4],
            ],
      ),
  );
  expect(count(served.slice(40), 'a')).toBe(4);
});

test('the window is at least two and up to 1.75 times the slots', () => {
  expect([0, 1, 2, 3, 16].map(windowSize)).toEqual([2, 2, 3, 5, 28]);
});
