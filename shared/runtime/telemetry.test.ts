import { expect, test } from 'vitest';
import { nextTraceparent } from './telemetry.ts';

test('a child keeps the trace and its flags and has a span of its own', () => {
  const parent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  expect(nextTraceparent(parent)).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-01$/);
  expect(nextTraceparent(parent)).not.toBe(parent);
});

test('an invalid parent starts a new trace', () => {
  expect(nextTraceparent('00-00000000000000000000000000000000-00f067aa0ba902b7-01')).toMatch(
    /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/,
  );
  expect(nextTraceparent('nonsense')).toMatch(/^00-/);
});
