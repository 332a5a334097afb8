import type { Command } from 'commander';
import { z } from 'zod';
import { retentionSettings } from '#services/housekeeper/config.ts';
import { domainSlug, jobId, organizationId } from '#shared/contracts/identifiers.ts';
import type { ChainProblem } from '#shared/messaging/log/commit-chain.ts';
import type { AuditScope } from '#shared/messaging/verify/verified-logs.ts';
import type { BundleCounts } from '#shared/messaging/verify/verify-bundles.ts';
import type { StreamReport } from '#shared/messaging/verify/verify-logs.ts';
import { loadConfig } from '#shared/runtime/config.ts';
import { dayMs } from '#shared/runtime/time-and-ids.ts';
import { openObjectStore } from '#shared/storage/open-object-store.ts';
import { auditListCommand } from '../audit-list.ts';
import { auditKeyOf, withBus, withinDeadline, withLocalObjects } from '../bus-connection.ts';
import { type BusCommandOptions, parsed, withBusOptions } from '../command-options.ts';
import { counted } from '#shared/runtime/figures.ts';
import { createOutput } from '../terminal.ts';

/** Number of problems that are printed; `--json` has them all. */
const mostShown = 50;

export function auditCommand(program: Command): void {
  const audit = program.command('audit').description('list the audit entries, and verify that the logs are unaltered');
  auditListCommand(audit);
  // Scopes become part of subjects, so they must be ids.
  withBusOptions(audit.command('verify'))
    .description(
      'check every history for holes, swapped messages, changed bytes, inconsistent states and wrong anchors',
    )
    .option('--organization <id>', 'only histories of this organization', parsed(organizationId))
    .option('--job <jobId>', 'only the history of this export job', parsed(jobId))
    .option('--domain <slug>', 'only the content history of this domain', parsed(domainSlug))
    .option('--bundles', 'also read each stored bundle, and compare it with its history')
    .option(
      '--unanchored-before <date>',
      'accept a missing anchor if the last change of the history is older, for histories from before anchors existed',
      parsed(z.iso.date()),
    )
    .action(verify);
}

type VerifyOptions = BusCommandOptions & AuditScope & { bundles?: boolean; unanchoredBefore?: string };

/** Exits with code 1 if there is any problem. */
function verify({ data, json, bundles, unanchoredBefore, ...scope }: VerifyOptions): Promise<void> {
  const output = createOutput(json);
  const options = data === undefined ? {} : { data };
  return withBus('auditor', options, async (bus, access) => {
    const [{ openLogAudit }, { verifyLogs }] = await Promise.all([
      import('#shared/messaging/nats/log-audit.ts'),
      import('#shared/messaging/verify/verify-logs.ts'),
    ]);
    const config = loadConfig(retentionSettings, withLocalObjects(options));
    const auditKey = auditKeyOf(options);
    if (auditKey === undefined) {
      output.note(
        'Anchors are not checked, so a rewritten history can look intact: give BINDERY_AUDIT_KEY, the key that the projector has.',
      );
    }
    const since = unanchoredBefore === undefined ? {} : { unanchoredBefore: new Date(unanchoredBefore) };
    const objectStore = await openObjectStore(config);
    const logs = await withinDeadline(access, openLogAudit(access));
    try {
      const audit = {
        logs,
        objectStore,
        models: bus.readModels,
        ...(auditKey === undefined ? {} : { anchors: { auditKey, ...since } }),
        ...(bundles === true ? { bundles: { keptSince: new Date(Date.now() - config.keepObjectsDays * dayMs) } } : {}),
      };
      const reports = await verifyLogs(audit, scope, (stream, historyCount) =>
        output.note(`${stream}: ${counted(historyCount, 'history', 'histories')} …`),
      );
      // A mistyped name must not look like an intact history.
      const isNarrowed = [scope.organization, scope.job, scope.domain].some((name) => name !== undefined);
      if (isNarrowed && reports.every(({ historyCount, problems }) => historyCount + problems.length === 0)) {
        throw new Error('Nothing was verified: there is no such history. Check --organization, --job and --domain.');
      }
      const problemCount = reports.reduce((sum, { problems }) => sum + problems.length, 0);
      const result = {
        whole: problemCount === 0,
        anchorsChecked: auditKey !== undefined,
        problemCount,
        streams: reports,
      };
      output.result(result, describe(reports, problemCount));
      if (problemCount > 0) process.exitCode = 1;
    } finally {
      await logs.close();
      await objectStore.close();
    }
  });
}

function describe(reports: readonly StreamReport[], problemCount: number): string {
  const streams = reports.map(({ stream, historyCount, commitCount, bundles, problems }) => {
    const verdict = problems.length === 0 ? 'whole' : counted(problems.length, 'problem');
    const read = bundles === undefined ? '' : `, ${counted(bundles.checked, 'bundle')}${goneText(bundles)}`;
    if (stream === 'ACCESS') {
      return `${stream.padEnd(10)} ${counted(historyCount, 'export')}, ${counted(commitCount, 'link')}: ${verdict}`;
    }
    return `${stream.padEnd(10)} ${counted(historyCount, 'history', 'histories')}, ${counted(commitCount, 'commit')}${read}: ${verdict}`;
  });
  const problems = reports.flatMap((report) => report.problems);
  const shown = problems.slice(0, mostShown).map((problem) => `  ${problemLine(problem)}`);
  const more = problemCount > mostShown ? [`  … and ${problemCount - mostShown} more (--json has all)`] : [];
  return [...streams, ...shown, ...more].join('\n');
}

const goneText = ({ gone }: BundleCounts): string => (gone === 0 ? '' : ` (${gone} no longer kept)`);

function problemLine({ problem, subject, sequence, revision, message }: ChainProblem): string {
  return `${problem}: ${subject}, message ${sequence}${revision === undefined ? '' : ` (revision ${revision})`}: ${message}`;
}
