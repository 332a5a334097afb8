import { text } from 'node:stream/consumers';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

export const loginKinds = ['none', 'password', 'oidc'] as const;
export const protectedSites = ['all', 'previews'] as const;

/** The options of a login in `bindery site open`. */
export type LoginOptions = {
  login?: (typeof loginKinds)[number];
  user?: string[];
  group?: string[];
  emailDomain?: string[];
  protect?: (typeof protectedSites)[number];
  passwordsStdin?: boolean;
};

/** A login as the interface takes it. */
type LoginBody =
  | { kind: 'none' }
  | { kind: 'password'; protects?: string | undefined; users: { name: string; password?: string }[] }
  | { kind: 'oidc'; protects?: string | undefined; groups: string[]; emailDomains: string[] };

/** Returns a password for each name, in their order; undefined keeps the stored one. */
export type PasswordSource = (names: readonly string[]) => Promise<(string | undefined)[]>;

/**
 * The login that options describe; undefined if they say nothing, so that the login stays. Passwords are no options, because other users of a machine
 * see those. Throws for options that do not belong together.
 */
export async function loginBody(options: LoginOptions, passwordsOf: PasswordSource): Promise<LoginBody | undefined> {
  const { login, user = [], group = [], emailDomain = [], protect, passwordsStdin = false } = options;
  const given = { '--user': user.length > 0, '--passwords-stdin': passwordsStdin };
  const rules = { '--group': group.length > 0, '--email-domain': emailDomain.length > 0 };
  if (login !== 'password') refuse(given, '--login password');
  if (login !== 'oidc') refuse(rules, '--login oidc');
  if (login === undefined || login === 'none') refuse({ '--protect': protect !== undefined }, '--login');
  if (login === undefined) return undefined;
  if (login === 'none') return { kind: 'none' };
  const protects = protect === undefined ? {} : { protects: protect };
  if (login === 'oidc') return { kind: 'oidc', ...protects, groups: group, emailDomains: emailDomain };
  if (user.length === 0) throw new Error('--login password needs --user with the names of readers.');
  const passwords = await passwordsOf(user);
  const users = user.map((name, at) => {
    const password = passwords[at];
    return password === undefined ? { name } : { name, password };
  });
  return { kind: 'password', ...protects, users };
}

function refuse(given: Readonly<Record<string, boolean>>, needed: string): void {
  for (const [option, isGiven] of Object.entries(given)) {
    if (isGiven) throw new Error(`${option} needs ${needed}.`);
  }
}

const passwordVariable = 'BINDERY_SITE_PASSWORD';

type Terminal = {
  environment: Readonly<Record<string, string | undefined>>;
  input: NodeJS.ReadableStream & { isTTY?: boolean };
  output: { write(text: string): unknown };
};

/**
 * Source of passwords. If `fromInput` is true: the input, one a line. Otherwise: the environment for a single reader, else a prompt on the terminal
 * that does not echo. Without a terminal the stored passwords stay.
 */
export function passwordSource(fromInput: boolean, { environment, input, output }: Terminal): PasswordSource {
  return async (names) => {
    if (fromInput) {
      const lines = (await text(input)).replace(/\r?\n$/, '').split(/\r?\n/);
      if (lines.length !== names.length)
        throw new Error(`The input has ${lines.length} lines, but there are ${names.length} names of readers.`);
      return lines.map((line) => line || undefined);
    }
    const [first] = names;
    const ofVariable = environment[passwordVariable];
    if (ofVariable) {
      if (names.length > 1)
        throw new Error(`${passwordVariable} is for one reader. Pass several passwords with --passwords-stdin.`);
      return first === undefined ? [] : [ofVariable];
    }
    if (input.isTTY !== true) return names.map(() => undefined);
    const found: (string | undefined)[] = [];
    for (const name of names) found.push((await askHidden(name, input, output)) || undefined);
    return found;
  };
}

async function askHidden(name: string, input: NodeJS.ReadableStream, output: Terminal['output']): Promise<string> {
  output.write(`Password of ${name} (12 characters or more; Enter keeps the stored one): `);
  // The terminal must not echo the keys, so readline writes nowhere.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: nowhere, terminal: true });
  try {
    return await lines.question('');
  } finally {
    lines.close();
    output.write('\n');
  }
}
