import type { Command } from 'commander';
import type { Finding } from '#shared/runtime/finding.ts';
import { type ConnectionOptions, dataFolderOf, readLocalInstallation } from '../connection.ts';
import { createOutput, type Paint, paintFor } from '../terminal.ts';
import type { Examination } from '../doctor/examine.ts';

type DoctorOptions = Omit<ConnectionOptions, 'key'> & { json: boolean; natsMonitor?: string[] };

export function doctorCommand(program: Command): void {
  program
    .command('doctor')
    .description(
      'check versions, settings and reachability of all dependencies of this installation, and say how to correct faults; fails if there is one',
    )
    .argument('[services]', 'services whose settings must be in this environment, comma-separated: gateway,assistant')
    .option('--url <address>', 'address of the gateway (BINDERY_URL; else that of the installation in the data folder)')
    .option('--data <folder>', 'data folder of a local installation (BINDERY_DATA, .bindery)')
    .option(
      '--nats-monitor <addresses...>',
      'monitoring addresses of the NATS servers, such as http://nats:8222; only they tell if messages are on disk before they are acknowledged',
    )
    .option('--json', 'print JSON only', false)
    .addHelpText(
      'after',
      '\nIt reads the same variables as the services: run it where they run, with their environment and the folder of secrets "doctor".',
    )
    .action(async (services: string | undefined, options: DoctorOptions) => {
      const { examine } = await import('../doctor/examine.ts');
      const { parseServiceNames } = await import('../run-services.ts');
      const dataFolder = dataFolderOf(options);
      const examinations = await examine({
        environment: process.env,
        dataFolder,
        services: services === undefined ? [] : parseServiceNames(services),
        gateway: options.url ?? process.env.BINDERY_URL ?? readLocalInstallation(dataFolder)?.baseUrl,
        natsMonitors: options.natsMonitor ?? [],
      });
      const faults = count(examinations, 'fault');
      createOutput(options.json).result(
        { healthy: faults === 0, examinations },
        examinationText(examinations, paintFor(process.stdout, process.env)),
      );
      process.exit(faults === 0 ? 0 : 1);
    });
}

const count = (examinations: readonly Examination[], level: Finding['level']): number =>
  examinations.flatMap(({ findings }) => findings).filter((finding) => finding.level === level).length;

const signs = { good: ['✓', 'green'], warning: ['!', 'yellow'], fault: ['✗', 'red'] } as const;

/** A block for each examined part, and a last line with counts. Pure. */
export function examinationText(examinations: readonly Examination[], paint: Paint): string {
  const blocks = examinations.map(({ about, findings }) => {
    const lines = findings.flatMap(({ level, text, advice }) => {
      const [sign, style] = signs[level];
      return [`  ${paint(style, sign)} ${text}`, ...(advice === undefined ? [] : [`    → ${advice}`])];
    });
    return [paint('bold', about), ...lines].join('\n');
  });
  const faults = count(examinations, 'fault');
  const warnings = count(examinations, 'warning');
  const end = faults + warnings === 0 ? 'All is well.' : `${plural(faults, 'fault')}, ${plural(warnings, 'warning')}.`;
  return `${blocks.join('\n')}\n${end}`;
}

const plural = (number: number, word: string): string => `${number} ${word}${number === 1 ? '' : 's'}`;
