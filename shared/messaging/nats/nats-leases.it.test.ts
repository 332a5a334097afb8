import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { leasesContract } from '../leases.contract.ts';
import { describeWithServers } from '../../../test/support/describe-with-servers.ts';
import { startTestBus } from '../../../test/support/start-bus.ts';

/** A process that takes the role, prints that it has it, and never releases it. */
const holder = `
const { connectBus } = await import(${JSON.stringify(new URL('./connect-bus.ts', import.meta.url).href)});
const [url, password, role] = process.argv.slice(1);
const bus = await connectBus({ url, service: 'orchestrator', password, instance: 'dies' });
await bus.leases.acquire(role, 'dies', new AbortController().signal);
console.log('held');
`;

describeWithServers(['nats-server'], 'leases over a real nats-server', () => {
  leasesContract('NATS', async () => {
    const stand = await startTestBus();
    const [first, second] = await Promise.all([stand.connect('orchestrator', 'a'), stand.connect('orchestrator', 'b')]);
    return {
      first: first.leases,
      second: second.leases,
      async takeAndDie(role) {
        const args = [
          '--input-type=module',
          '-e',
          holder,
          stand.server.url,
          stand.passwords['orchestrator'] ?? '',
          role,
        ];
        const child = spawn(process.execPath, args, {
          cwd: fileURLToPath(new URL('../../../', import.meta.url)),
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        await once(child.stdout, 'data');
        child.kill('SIGKILL');
        await once(child, 'exit');
      },
      async cutOff() {
        await stand.server.kill('SIGSTOP');
        return () => stand.server.kill('SIGCONT');
      },
      stop: () => stand.stop(),
    };
  });
});
