import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import type { FindingText } from '#shared/docs/findings/finding-text.ts';
import { findingTexts } from '#shared/docs/findings/finding-texts.ts';
import { programVersion } from '#shared/runtime/program-version.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';

/** Formats of findings for other programs. */
export const findingFormats = ['sarif', 'github', 'junit'] as const;
export type FindingFormat = (typeof findingFormats)[number];

/** The findings in a format. `prefix`: the path of the project in its repository, with a slash at its end, or ''. Pure. */
export function formattedFindings(format: FindingFormat, findings: readonly Diagnostic[], prefix: string): string {
  if (format === 'sarif') return JSON.stringify(sarifLog(findings, prefix), null, 1);
  return format === 'github' ? githubCommands(findings, prefix) : junitReport(findings, prefix);
}

const textOfCode = (code: string): FindingText | undefined =>
  (findingTexts as Readonly<Record<string, FindingText>>)[code];

const sarifLevels = { error: 'error', warning: 'warning', info: 'note' } as const;

/** A log in SARIF 2.1.0, which code scanning services read. */
export function sarifLog(findings: readonly Diagnostic[], prefix: string): object {
  const codes = [...new Set(findings.map(({ code }) => code))].sort();
  const counts = new Map<string, number>();
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'bindery', semanticVersion: programVersion, rules: codes.map(ruleOf) } },
        columnKind: 'utf16CodeUnits',
        results: findings.map((finding) => {
          const { code, severity, message, file, line, column } = finding;
          const region =
            line === undefined ? {} : { region: { startLine: line, ...(column && { startColumn: column }) } };
          const location = { physicalLocation: { artifactLocation: { uri: uriOf(prefix + file) }, ...region } };
          // Lines move, so that the fingerprint of a finding has none: a counter tells equal ones apart.
          const same = JSON.stringify([code, file, message]);
          const count = (counts.get(same) ?? 0) + 1;
          counts.set(same, count);
          return {
            ruleId: code,
            ruleIndex: codes.indexOf(code),
            level: sarifLevels[severity],
            message: { text: message },
            locations: file === '' ? [] : [location],
            partialFingerprints: { 'bindery/v1': sha256Of(`${same} ${count}`).slice(0, 32) },
          };
        }),
      },
    ],
  };
}

function ruleOf(id: string): object {
  const text = textOfCode(id);
  if (text === undefined) return { id };
  const says = sentence(text.says);
  return {
    id,
    shortDescription: { text: says },
    help: { text: `${says} ${text.repair}`, markdown: `${says}\n\n${text.repair}` },
    defaultConfiguration: { level: sarifLevels[text.severity] },
  };
}

/** The text of a code as a sentence of its own. */
export const sentence = (says: string): string => says.charAt(0).toUpperCase() + says.slice(1);

const uriOf = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

const commands = { error: 'error', warning: 'warning', info: 'notice' } as const;

/** Workflow commands that GitHub shows as annotations of lines, errors first, because it shows only some of them. */
function githubCommands(findings: readonly Diagnostic[], prefix: string): string {
  const rank = { error: 0, warning: 1, info: 2 };
  return findings
    .toSorted((a, b) => rank[a.severity] - rank[b.severity])
    .map(({ severity, code, message, file, line, column }) => {
      const properties = {
        ...(file !== '' && { file: prefix + file }),
        ...(line !== undefined && { line: String(line) }),
        ...(column !== undefined && { col: String(column) }),
        title: code,
      };
      const written = Object.entries(properties).map(([name, value]) => `${name}=${escapedProperty(value)}`);
      return `::${commands[severity]} ${written.join(',')}::${escapedData(message)}`;
    })
    .join('\n');
}

// The escapes of the toolkit of GitHub's actions.
const escapedData = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
const escapedProperty = (text: string): string => escapedData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

/** A JUnit report: a suite for each file and a case for each finding. Only errors are failures, as they are for the exit code. */
function junitReport(findings: readonly Diagnostic[], prefix: string): string {
  const groups = [...Map.groupBy(findings, ({ file }) => file)];
  const failures = findings.filter(({ severity }) => severity === 'error').length;
  const suites = groups.map(([file, found]) => {
    const failed = found.filter(({ severity }) => severity === 'error').length;
    const name = file === '' ? 'project' : prefix + file;
    const cases = found.map((finding) => caseOf(name, finding));
    return `  <testsuite name="${xml(name)}" tests="${found.length}" failures="${failed}" errors="0">\n${cases.join('\n')}\n  </testsuite>`;
  });
  const none =
    '  <testsuite name="project" tests="1" failures="0" errors="0">\n    <testcase name="no problems" classname="project"/>\n  </testsuite>';
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="bindery check" tests="${Math.max(1, findings.length)}" failures="${failures}" errors="0">`,
    ...(suites.length === 0 ? [none] : suites),
    '</testsuites>',
  ].join('\n');
}

function caseOf(name: string, { severity, code, message, line, column }: Diagnostic): string {
  const place = [line, column].filter((part) => part !== undefined).join(':');
  const where = `${name}${place === '' ? '' : `:${place}`}`;
  const inside =
    severity === 'error'
      ? `<failure type="${xml(code)}" message="${xml(message)}">${xml(`${where}: ${message}`)}</failure>`
      : `<system-out>${xml(`${severity} ${where}: ${message}`)}</system-out>`;
  return `    <testcase name="${xml(`${code}${place === '' ? '' : ` ${place}`}`)}" classname="${xml(name)}">${inside}</testcase>`;
}

const xml = (text: string): string =>
  text
    .toWellFormed()
    // XML has no escape for these.
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '&#10;')
    .replaceAll('\r', '&#13;');
