import { type Command, InvalidArgumentError } from 'commander';
import type { z } from 'zod';
import { domainSlug, jobId, organizationId } from '#shared/contracts/identifiers.ts';
import type { ChainProblem } from '#shared/messaging/commit-chain.ts';
import { auditListCommand } from './audit-list.ts';
import { busAccess, withinDeadline } from './connection.ts';
import { createOutput } from './terminal.ts';
import type { AuditScope } from '#shared/messaging/verify/verified-logs.ts';
import type { StreamReport } from '#shared/messaging/verify/verify-logs.ts';

type Options = AuditScope & { data?: string; json: boolean };

/** More than this is not read; `--json` has them all. */
const mostShown = 50;

export function auditCommand(program: Command): void {
  const audit = program.command('audit').description('who did what, and whether the logs are as they were written');
  auditListCommand(audit);
  audit
    .command('verify')
    .description('check every history for holes, swapped messages, changed bytes and states that do not follow')
    .option('--organization <id>', 'only those of this organization', parsed(organizationId))
    .option('--job <jobId>', 'only that of this export job', parsed(jobId))
    .option('--domain <slug>', 'only those of the contents of this domain', parsed(domainSlug))
    .option('--data <folder>', 'data folder of a local installation (BINDERY_DATA, .bindery)')
    .option('--json', 'print JSON only', false)
    .action(verify);
}

/** Scopes become part of subjects, so nothing else than ids may get there. */
const parsed =
  (schema: z.ZodType<string>) =>
  (value: string): string => {
    const result = schema.safeParse(value);
    if (!result.success) throw new InvalidArgumentError(result.error.issues[0]?.message ?? 'It is no id.');
    return result.data;
  };

/** Exit code 1 when anything is wrong. */
async function verify({ data, json, ...scope }: Options): Promise<void> {
  const output = createOutput(json);
  const dataFolder = data ?? process.env.BINDERY_DATA ?? '.bindery';
  const access = busAccess('auditor', dataFolder, process.env);
  // Only now: other commands need no client of the bus and no service.
  const [{ openLogAudit }, { connectBus }, { verifyLogs }, { auditArchive, openAuditStore }] = await Promise.all([
    import('#shared/messaging/nats/log-audit.ts'),
    import('#shared/messaging/nats/connect-bus.ts'),
    import('#shared/messaging/verify/verify-logs.ts'),
    import('#shared/messaging/verify/verify-logs.ts'),
  ]);
  const { url, user: service, password } = access;
  const objectStore = await openAuditStore(dataFolder, process.env);
  const audit = await withinDeadline(access, openLogAudit(access));
  const bus = await withinDeadline(access, connectBus({ url, service, password, instance: `cli-${process.pid}` }));
  try {
    const archive = auditArchive(objectStore);
    const reports = await verifyLogs({ logs: audit, archive, models: bus.documents }, scope, (stream, historyCount) =>
      output.note(`${stream}: ${count(historyCount, 'history', 'histories')} …`),
    );
    const problemCount = reports.reduce((sum, { problems }) => sum + problems.length, 0);
    output.result({ whole: problemCount === 0, problemCount, streams: reports }, describe(reports, problemCount));
    if (problemCount > 0) process.exitCode = 1;
  } finally {
    await audit.close();
    await objectStore.close();
    await bus.close();
  }
}

function describe(reports: readonly StreamReport[], problemCount: number): string {
  const streams = reports.map(({ stream, historyCount, commitCount, problems }) => {
    const verdict = problems.length === 0 ? 'whole' : count(problems.length, 'problem', 'problems');
    return `${stream.padEnd(10)} ${count(historyCount, 'history', 'histories')}, ${count(commitCount, 'commit', 'commits')}: ${verdict}`;
  });
  const problems = reports.flatMap((report) => report.problems);
  const shown = problems.slice(0, mostShown).map((problem) => `  ${problemLine(problem)}`);
  const more = problemCount > mostShown ? [`  … and ${problemCount - mostShown} more (--json has all)`] : [];
  return [...streams, ...shown, ...more].join('\n');
}

function problemLine({ problem, subject, sequence, revision, message }: ChainProblem): string {
  return `${problem}: ${subject}, message ${sequence}${revision === undefined ? '' : ` (revision ${revision})`}: ${message}`;
}

const count = (n: number, one: string, many: string): string => `${n.toLocaleString('en')} ${n === 1 ? one : many}`;
