import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { freePorts, isFree } from './free-ports.ts';

test('no port is returned twice, also when it is free again', async () => {
  const given = [...(await freePorts(12)), ...(await freePorts(12))];
  expect(new Set(given).size).toBe(24);
});

test('ports are outside the ephemeral range of the system', async () => {
  for (const port of await freePorts(20)) {
    expect(port).toBeGreaterThan(1_024);
    expect(port).toBeLessThan(32_768);
  }
});

test('a port on which another process listens is not returned', async () => {
  const [port = 0] = await freePorts(1);
  const others = createServer();
  const taken = port + 1;
  await new Promise<void>((resolve) => others.listen(taken, '127.0.0.1', resolve));
  try {
    expect(await isFree('127.0.0.1', taken)).toBe(false);
    expect(await freePorts(3)).not.toContain(taken);
  } finally {
    others.close();
  }
});
