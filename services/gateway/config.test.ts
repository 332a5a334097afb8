import { expect, test } from 'vitest';
import { gatewaySettings } from './config.ts';

test('a trusted proxy that is no address is refused at the start', () => {
  const { trustProxy } = gatewaySettings;
  expect(trustProxy.schema.parse(' 10.0.0.1, fd00::/8,loopback')).toEqual(['10.0.0.1', 'fd00::/8', 'loopback']);
  for (const wrong of ['proxy.local', '10.0.0.0/33', '10.0.0.1,x']) {
    expect(trustProxy.schema.safeParse(wrong).error?.issues[0]?.message).toContain('addresses and networks');
  }
});

test('the address of Redis has no password in it, where it would be printed', () => {
  const { redisUrl } = gatewaySettings;
  for (const right of ['redis://127.0.0.1:6379', 'rediss://redis.internal/1', 'redis://[::1]:6379'])
    expect(redisUrl.schema.parse(right)).toBe(right);
  for (const wrong of ['redis', 'http://redis:6379', 'redis://:secret@redis', 'redis://user@redis', 'redis://'])
    expect(redisUrl.schema.safeParse(wrong).error?.issues[0]?.message).toContain('no user and password');
});
