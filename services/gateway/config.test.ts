import { expect, test } from 'vitest';
import { gatewaySettings } from './config.ts';

test('a trusted proxy that is no address is refused at the start', () => {
  const { trustProxy } = gatewaySettings;
  expect(trustProxy.schema.parse(' 10.0.0.1, fd00::/8,loopback')).toEqual(['10.0.0.1', 'fd00::/8', 'loopback']);
  for (const wrong of ['proxy.local', '10.0.0.0/33', '10.0.0.1,x']) {
    expect(trustProxy.schema.safeParse(wrong).error?.issues[0]?.message).toContain('addresses and networks');
  }
});
