import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { seccompFilter } from './seccomp-filter.ts';

/** Capability that the kernel can deny a child in addition to Node's own restrictions. */
type KernelDenial = 'network' | 'signals' | 'new privileges' | 'files';

/**
 * The confinement of children on this machine. Node's restrictions apply everywhere; the kernel's also apply to code that gets around Node. They need
 * programs that most Linux systems have. On other systems there is no kernel confinement.
 */
export type Confinement = {
  /** Denied capabilities, each with the program and mechanism that denies it. */
  denied: Partial<Record<KernelDenial, string>>;
  /** Capabilities that are not denied, each with the reason. */
  missing: Partial<Record<KernelDenial, string>>;
  /** Returns the command with the wrappers before it, which allow reading the `readable` files. The paths are absolute. */
  wrap(command: readonly string[], readable: readonly string[]): string[];
  /**
   * Standard input of the wrapper, in the form of the shell's `printf`; empty if it reads none. It must be a pipe of the shell: the wrapper opens it
   * by name, and the sockets that Node makes have none.
   */
  input: string;
  /** True if the wrapper stays as the parent of the child, and ends with it. */
  forks: boolean;
};

/** One program that confines the command that it starts. */
type Layer = {
  program: string;
  args(readable: readonly string[]): string[];
  denied: Partial<Record<KernelDenial, string>>;
  input?: string;
  forks?: boolean;
};

let found: Confinement | undefined;

/** Confinement on this machine, probed once in each process: 0.1 s at the first call. */
export function kernelConfinement(): Confinement {
  found ??= probeConfinement(process.env['PATH']);
  return found;
}

/** Confinement on a machine whose programs are in the folders of `path`. If it has none, `missing` lists every capability. */
export function probeConfinement(path: string = '/usr/bin:/bin'): Confinement {
  const missing: Confinement['missing'] = {};
  if (process.platform !== 'linux') return confinementOf([], allMissing(`${process.platform} has no mechanism for it`));
  if (!existsSync('/bin/sh')) return confinementOf([], allMissing('there is no /bin/sh'));
  const layers: Layer[] = [];
  const add = (choices: readonly Layer[]): void => {
    const works = choices.find((layer) => starts(confinementOf([...layers, layer], {})));
    if (works !== undefined) layers.push(works);
  };
  const unshare = programIn(path, 'unshare');
  if (unshare !== undefined) add(unshareLayers(unshare));
  const setpriv = programIn(path, 'setpriv');
  const options = setpriv === undefined ? '' : spawnSync(setpriv, ['--help'], { encoding: 'utf8' }).stdout;
  if (setpriv !== undefined) {
    add(privilegeLayers(setpriv));
    if (options.includes('--landlock-access')) add(landlockLayers(setpriv));
    if (options.includes('--seccomp-filter')) add(seccompLayers(setpriv));
  }
  const why = (tool: string | undefined, name: string, offers = true): string => {
    if (tool === undefined) return `there is no ${name}`;
    return offers ? `this machine does not allow ${name} to do it` : `${name} is too old for it`;
  };
  const seccomp = why(setpriv, 'setpriv', options.includes('--seccomp-filter'));
  missing.network = missing.signals = `${why(unshare, 'unshare')}, and ${seccomp}`;
  missing['new privileges'] = why(setpriv, 'setpriv');
  missing.files = why(setpriv, 'setpriv', options.includes('--landlock-access'));
  return confinementOf(layers, missing);
}

/** One line for a log or a report, such as "no network (unshare); files: only what Node refuses, because setpriv is too old for it". */
export function describeConfinement({ denied, missing }: Confinement): string {
  return kinds
    .map((kind) =>
      denied[kind] === undefined
        ? `${kind}: only what Node refuses, because ${missing[kind]}`
        : `no ${kind} (${denied[kind]})`,
    )
    .join('; ');
}

const kinds: readonly KernelDenial[] = ['network', 'signals', 'new privileges', 'files'];

const allMissing = (reason: string): Confinement['missing'] => Object.fromEntries(kinds.map((kind) => [kind, reason]));

function confinementOf(layers: readonly Layer[], reasons: Confinement['missing']): Confinement {
  const denied: Confinement['denied'] = Object.assign({}, ...layers.map((layer) => layer.denied).toReversed());
  return {
    denied,
    missing: Object.fromEntries(kinds.flatMap((kind) => (denied[kind] === undefined ? [[kind, reasons[kind]]] : []))),
    wrap: (command, readable) => [
      ...layers.flatMap((layer, index) => [
        ...(layer.program === layers[index - 1]?.program ? [] : [layer.program]),
        ...layer.args(readable),
      ]),
      ...command,
    ],
    input: layers.map(({ input = '' }) => input).join(''),
    forks: layers.some(({ forks }) => forks),
  };
}

const startWithinMs = 10_000;

/** True if Node starts under this confinement and can read an allowed file. */
function starts(confinement: Confinement): boolean {
  const own = fileURLToPath(import.meta.url);
  const read = 'require("node:fs").readFileSync(process.argv[1])';
  const command = confinement.wrap([process.execPath, '-e', read, own], [own]);
  const outcome = spawnSync(
    '/bin/sh',
    ['-c', 'input="$1"; shift; printf "$input" | "$@"', 'sh', confinement.input, ...command],
    {
      env: { TZ: 'UTC' },
      stdio: 'ignore',
      timeout: startWithinMs,
      killSignal: 'SIGKILL',
    },
  );
  return outcome.status === 0;
}

function programIn(path: string, name: string): string | undefined {
  return path
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return file.startsWith('/');
      } catch {
        return false;
      }
    });
}

/**
 * A network namespace without a route out, and a process namespace without other processes that the child could signal. A new user namespace makes
 * this possible for any user, and drops the privileges of root. busybox does not know `--kill-child`, without which the child would outlive the
 * wrapper.
 */
function unshareLayers(program: string): Layer[] {
  const own = ['--ipc', '--net', '--pid', '--kill-child'];
  const numbers = existsSync(`/proc/self/task/${process.pid}/children`);
  const both = { denied: { network: 'unshare', signals: 'unshare' }, forks: true };
  const network = { denied: { network: 'unshare' } };
  return [
    ...(numbers
      ? [
          { args: ['--user', ...own], ...both },
          { args: own, ...both },
        ]
      : []),
    { args: ['-U', '-n'], ...network },
    { args: ['-n'], ...network },
  ].map((layer) => ({ ...layer, program, args: () => layer.args }));
}

/** Setuid programs grant no rights, and the capabilities of root are dropped if there are any. */
function privilegeLayers(program: string): Layer[] {
  const denied = { 'new privileges': 'setpriv' };
  return [['--no-new-privs', '--inh-caps=-all', '--bounding-set=-all'], ['--no-new-privs']].map((args) => ({
    program,
    args: () => args,
    denied,
  }));
}

/** Rights of Landlock's first version, which all later ones have (landlock(7)). */
const everyRight =
  'execute,write-file,read-file,read-dir,remove-dir,remove-file,make-char,make-dir,make-reg,make-sock,make-fifo,make-block,make-sym';

/** System files that Node reads: its libraries, the settings for encryption, and the size of the memory. */
const systemPaths = [
  ...['/lib', '/lib64', '/usr/lib', '/usr/lib64', '/usr/local/lib', '/nix/store', '/etc/ld.so.cache', '/etc/ssl'],
  ...['/dev/null', '/dev/urandom', '/proc/meminfo', '/proc/cpuinfo', '/proc/stat', '/sys/fs/cgroup'],
];

/** Denies all writes, and allows reading and running only the files of the program. */
function landlockLayers(program: string): Layer[] {
  const rule = (path: string): string => {
    const rights = statSync(path).isDirectory() ? 'execute,read-file,read-dir' : 'execute,read-file';
    return `--landlock-rule=path-beneath:${rights}:${path}`;
  };
  return ['fs', `fs:${everyRight}`].map((access) => ({
    program,
    denied: { files: 'Landlock' },
    args: (readable) => {
      const node = [process.execPath, dirname(realpathSync(process.execPath))];
      const paths = [...node, ...systemPaths, ...readable].filter((path) => existsSync(path));
      return [`--landlock-access=${access}`, ...paths.map(rule)];
    },
  }));
}

function seccompLayers(program: string): Layer[] {
  const filter = seccompFilter();
  if (filter === undefined) return [];
  const input = [...filter].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
  const denied = { network: 'seccomp', signals: 'seccomp' };
  return [{ program, input, args: () => ['--seccomp-filter=/dev/stdin'], denied }];
}
