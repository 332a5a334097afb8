import { expect, test } from 'vitest';
import { seededRandom } from '../../test/support/chaos/fault-injection.ts';
import { priorityQueue } from './priority-queue.ts';

test('the first item is the least after any additions, moves and removals', () => {
  const random = seededRandom(7);
  const queue = priorityQueue<{ at: number }>((a, b) => a.at < b.at);
  const items = Array.from({ length: 60 }, () => ({ at: 0 }));
  const inside = new Set<{ at: number }>();
  for (let step = 0; step < 5_000; step += 1) {
    const item = items[random.between(0, items.length - 1)] as { at: number };
    if (random.between(1, 3) === 1) {
      queue.remove(item);
      inside.delete(item);
    } else {
      item.at = random.between(1, 1_000);
      queue.put(item);
      inside.add(item);
    }
    expect(queue.size).toBe(inside.size);
    expect(queue.first()?.at).toBe(inside.size === 0 ? undefined : Math.min(...[...inside].map(({ at }) => at)));
  }
});
