import { type Command, Option } from 'commander';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { DiagnosticTally } from '#shared/contracts/diagnostic-tally.ts';
import { counted, formatNumber, printable } from '#shared/runtime/figures.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import type { CheckFinding, FolderCheck } from '../check/check-folder.ts';
import { type FindingFormat, findingFormats, formattedFindings } from '../check/finding-formats.ts';
import { findingsText, withPlace } from '../check/print-findings.ts';
import { explanation } from '../check/explain-code.ts';
import { openChecker, type FolderChecker } from '../check/open-checker.ts';
import { forgetTexts, textIn } from '../check/text-in.ts';
import { WrongUse } from '../check/wrong-use.ts';
import { type RemoteFlags, withRemote } from '../command-options.ts';
import { diagnosticCounts } from '../format.ts';
import { remoteOf } from '../remote/remote-of.ts';
import type { RemoteParts } from '../remote/remote-parts.ts';
import { unreadFolder } from '../unread-folder.ts';
import { createOutput, paintFor, terminalWidth, textTable } from '../terminal.ts';

type CheckOptions = RemoteFlags & {
  pages: boolean;
  external: boolean;
  since?: string;
  fix: boolean;
  format?: FindingFormat;
  json: boolean;
};

export function checkCommand(program: Command): void {
  const command = withRemote(
    program.command('check'),
    'with --external, also ask the sites again whose answers are still fresh',
  )
    .description('check a docs project as publication would, without a server')
    .argument('[folder]', 'the folder with docs.json', '.')
    .option('--no-pages', 'do not render pages: only the configuration, the navigation and the files are checked')
    .option('--external', 'also ask other sites whether the linked pages exist', false)
    .option('--since <ref>', 'only show what the change since this commit, branch or tag of git has brought')
    .option('--fix', 'make the repairs of findings that have exactly one right repair', false)
    .addOption(
      new Option('--format <format>', 'print the findings in a format for other programs').choices(findingFormats),
    )
    .option('--json', 'print JSON only', false)
    .option('--explain <code>', 'say what a code of a finding means, with an example, and check nothing')
    .addHelpText(
      'after',
      `
Findings are grouped by file. A table of them by code follows. The exit code is 1 if there is an error, and 2 if the command was called wrongly.`,
    )
    .action(async (folder: string, { explain, ...options }: CheckOptions & { explain?: string }) => {
      if (explain !== undefined) {
        const { value, text } = explanation(explain);
        createOutput(options.json).result(value, text);
        return;
      }
      if (options.json && options.format !== undefined)
        throw new WrongUse('--json and --format are two formats. Name one of them.');
      if (!options.pages && options.external)
        throw new WrongUse('--external needs the links of the pages, which --no-pages leaves out.');
      await runCheck(folder, options);
    });
  // Programs that run this command can tell a wrong call from a project with errors.
  command.exitOverride((error) => {
    throw Object.assign(error, error.exitCode === 0 ? {} : { exitStatus: 2 });
  });
}

async function runCheck(folder: string, options: CheckOptions): Promise<void> {
  const checker = openChecker();
  try {
    // The thread loads its modules while this one reads what the project names by address.
    if (options.since === undefined) await checker.prepare(folder);
    const check = await checkProject(folder, options, checker);
    const findings = check.found.map(({ finding }) => placed(folder, finding));
    await print(folder, { ...check, findings }, options);
    if (findings.some(({ severity }) => severity === 'error')) process.exitCode = 1;
  } finally {
    await checker.close();
  }
}

/** The finding with the line to which it belongs. */
function placed(folder: string, finding: Diagnostic): Diagnostic {
  if (finding.line !== undefined) return finding;
  const text = textIn(folder, finding.file);
  return text === undefined ? finding : withPlace(finding, text.split(/\r\n|\r|\n/));
}

type Check = {
  publishable: boolean;
  pages: number;
  found: CheckFinding[];
  /** Sentences about the parts that were not checked. */
  leftOut: string[];
  /** Number of repairs by file. */
  fixed: ReadonlyMap<string, number>;
};

/** Limit of rounds of repairs. Two are usually enough. */
const mostRounds = 5;

async function checkProject(folder: string, options: CheckOptions, checker: FolderChecker): Promise<Check> {
  const remote = await remotePartsOf(folder, options);
  const earlier =
    options.since === undefined
      ? undefined
      : await (await import('../check/earlier-tree.ts')).earlierTree(folder, options.since);
  try {
    const { pages } = options;
    const before =
      earlier?.folder === undefined ? undefined : await checker.check(earlier.folder, { pages, added: remote.files });
    const moved = before &&
      earlier && { since: options.since ?? '', before: before.pageFiles, renamed: earlier.renamed };
    const checkNow = async (): Promise<{ check: FolderCheck; found: CheckFinding[] }> => {
      forgetTexts();
      const check = await checker.check(folder, { pages, moved, added: remote.files });
      const own = remote.withoutSaid(check.findings.map(({ finding }) => finding));
      const all = [
        ...remote.diagnostics.map((finding) => ({ finding })),
        ...check.findings.filter(({ finding }) => own.includes(finding)),
      ];
      if (before === undefined || earlier?.folder === undefined) return { check, found: all };
      const { newFindings } = await import('../check/earlier-tree.ts');
      const from = earlier.folder;
      const located = (root: string) => (item: CheckFinding) => {
        const { file, line } = item.finding;
        const text = line === undefined ? undefined : textIn(root, file)?.split(/\r\n|\r|\n/)[line - 1];
        return { item, finding: item.finding, text };
      };
      return {
        check,
        found: newFindings(all.map(located(folder)), before.findings.map(located(from)), earlier.renamed),
      };
    };
    let { check, found } = await checkNow();
    const fixed = new Map<string, number>();
    // A repair may make another one possible: links to a renamed page lead through the redirect that was added for it.
    for (let round = 1; options.fix && round <= mostRounds; round += 1) {
      const repairs = found.flatMap(({ repair }) => repair ?? []);
      const { applyRepairs } = await import('../check/apply-repairs.ts');
      const made = await applyRepairs(folder, repairs).catch((error: unknown) => {
        throw new Error(`A file cannot be repaired: ${messageOf(error)}`, { cause: error });
      });
      for (const [file, count] of made) fixed.set(file, (fixed.get(file) ?? 0) + count);
      if (made.size === 0) break;
      ({ check, found } = await checkNow());
    }
    const leftOut = [
      ...(pages
        ? []
        : ['Pages were not rendered, so links, pictures, components and accessibility were not checked (--no-pages).']),
      ...(options.remote || !(await namesRemote(folder))
        ? []
        : ['API descriptions and fonts that are named by address were not fetched (--no-remote).']),
    ];
    if (options.external) {
      const { askSites } = await import('../check/ask-sites.ts');
      const asked = await askSites(check.external, {
        allowPrivate: options.privateAddresses,
        refresh: options.refresh,
        onProgress: progressOf(options),
      });
      found = [...found, ...asked.findings.map((finding) => ({ finding }))];
      leftOut.push(...asked.leftOut);
    } else if (check.external.length > 0)
      leftOut.push(
        `${counted(check.external.length, 'address', 'addresses')} of other sites were not asked (--external asks them).`,
      );
    return { publishable: check.publishable, pages: check.pages, found, leftOut, fixed };
  } finally {
    await earlier?.close();
  }
}

function progressOf({ json, format }: CheckOptions): (asked: number, total: number) => void {
  if (json || format !== undefined || !process.stderr.isTTY) return () => undefined;
  return (asked, total) =>
    void process.stderr.write(asked === total ? '\r\u001b[2K' : `\r\u001b[2KAsked ${asked} of ${total} addresses.`);
}

async function remotePartsOf(folder: string, options: CheckOptions): Promise<RemoteParts> {
  const project = await unreadFolder(folder);
  const parts = await remoteOf(project, folder, options);
  await project.remember();
  return parts;
}

/** True if the configuration has an address after the key of a description. */
const namesRemote = (folder: string): Promise<boolean> =>
  Promise.resolve(
    ['docs.json', 'mint.json'].some((file) =>
      /"(?:openapi|asyncapi|source)"\s*:\s*\[?\s*"https?:/.test(textIn(folder, file) ?? ''),
    ),
  );

async function print(
  folder: string,
  check: Omit<Check, 'found'> & { findings: Diagnostic[] },
  options: CheckOptions,
): Promise<void> {
  const { publishable, pages, findings, leftOut, fixed } = check;
  const output = createOutput(options.json);
  if (options.format !== undefined) {
    const { pathInRepository } = await import('../check/earlier-tree.ts');
    const text = formattedFindings(options.format, findings, await pathInRepository(folder));
    if (text !== '') output.result(undefined, text);
    for (const sentence of leftOut) output.note(sentence);
    return;
  }
  const paint = paintFor(process.stdout, process.env);
  const counts = diagnosticCounts(findings);
  const verdict = publishable ? counted(pages, 'page') : 'The project cannot be published';
  const repairs = [...fixed.values()].reduce((sum, count) => sum + count, 0);
  const columns = terminalWidth(process.stdout);
  output.result(
    { publishable, pages, diagnostics: findings, leftOut, fixed: Object.fromEntries(fixed) },
    [
      ...(findings.length > 0
        ? [findingsText(findings, { textOf: (file) => textIn(folder, file), paint, columns }), '']
        : []),
      ...(findings.length > 1 ? [diagnosticTable(findings), ''] : []),
      ...(repairs > 0
        ? [
            `Made ${counted(repairs, 'repair')} in ${counted(fixed.size, 'file')}: ${[...fixed.keys()].map(printable).join(', ')}.`,
          ]
        : []),
      ...leftOut.map((sentence) => paint('dim', sentence)),
      `${verdict}: ${options.since === undefined ? counts : `${counts} since ${printable(options.since)}`}.`,
    ].join('\n'),
  );
}

/** Number of diagnostics of each code, errors first. */
export function diagnosticTable(diagnostics: readonly Diagnostic[]): string {
  return textTable(
    ['Code', 'Severity', 'Count', 'Files', 'The first of them'],
    new DiagnosticTally()
      .add(diagnostics)
      .rows()
      .map(({ code, severity, count, files, example }) => [
        code,
        severity,
        formatNumber(count).padStart('Count'.length),
        formatNumber(files).padStart('Files'.length),
        cutText(printable(example)),
      ]),
  );
}

const mostText = 100;

const cutText = (text: string): string => (text.length > mostText ? `${text.slice(0, mostText - 1)}…` : text);
