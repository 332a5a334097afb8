import { expect, test } from 'vitest';
import { serviceEnvironment, serviceNames } from './services.ts';

const plan = {
  dataFolder: '/data',
  publicUrl: 'http://127.0.0.1:8080',
  host: '127.0.0.1',
  gatewayPort: 8080,
  natsUrl: 'nats://127.0.0.1:4222',
  ports: Object.fromEntries(serviceNames.map((name, index) => [name, 9000 + index])) as Record<
    (typeof serviceNames)[number],
    number
  >,
  secrets: {
    natsPasswords: Object.fromEntries(serviceNames.map((name) => [name, `password-of-${name}`])),
    serviceToken: 'service-token-service-token',
    operatorToken: 'operator-token-operator-token',
    hashKey: 'hash-key-hash-key-hash-key',
    linkSigningKey: 'link-key-link-key-link-key',
    auditKey: 'audit-key-audit-key-audit-key',
  },
  rendererSlots: 2,
};

test('a service gets its own bus password and no other, and only the gateway the operator token', () => {
  for (const name of serviceNames) {
    const values = Object.values(
      serviceEnvironment(name, plan, { BINDERY_OPERATOR_TOKEN: 'from outside', SECRET: 'x' }),
    );
    expect(values.filter((value) => value.startsWith('password-of-'))).toEqual([`password-of-${name}`]);
    expect(values.includes('operator-token-operator-token')).toBe(name === 'gateway');
    // Whoever writes a log must not be able to anchor it.
    expect(values.includes('audit-key-audit-key-audit-key')).toBe(name === 'projector');
    expect(values).not.toContain('x');
  }
});

test('what the user set wins, but for what the supervisor alone can know', () => {
  const env = serviceEnvironment('gateway', plan, {
    BINDERY_LANGUAGE_MODEL: 'mistral',
    BINDERY_RENDERER_SLOTS: '8',
    BINDERY_PORT: '1',
  });
  expect(env).toMatchObject({ BINDERY_LANGUAGE_MODEL: 'mistral', BINDERY_RENDERER_SLOTS: '8', BINDERY_PORT: '8080' });
});
