import { test } from 'vitest';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { chaosProject, ownDocumentation } from '../support/docs-projects.ts';
import { runStack } from '../stack/run-stack.ts';

const minuteMs = 60_000;

describeWithServers(['nats-server', 'redis-server', 'versitygw', 'elasticsearch'], 'a production installation', () => {
  test('does its work, also while one server after the other is killed in an export', { timeout: 8 * minuteMs }, () =>
    runStack([{ name: 'our own documentation', folder: ownDocumentation }], chaosProject, (line) =>
      process.stdout.write(`${line}\n`),
    ),
  );
});
