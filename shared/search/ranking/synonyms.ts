import { analyzeQuery, analyzeText } from './analyze-text.ts';

/** Groups of words and phrases of documentation with nearly the same meaning. Abbreviations are grouped with their long forms. */
const builtIn: readonly (readonly string[])[] = [
  ['install', 'set up', 'setup', 'installation'],
  ['delete', 'remove', 'destroy', 'erase', 'drop'],
  ['error', 'failure', 'fail'],
  ['problem', 'issue', 'trouble', 'troubleshoot', 'troubleshooting', 'debug'],
  ['crash', 'die', 'failure', 'outage'],
  ['accident', 'mistake', 'accidental'],
  ['valid', 'expire', 'expiry', 'lifetime', 'good for'],
  ['offline', 'air gapped', 'without internet', 'no internet', 'without network', 'no network'],
  ['login', 'log in', 'sign in', 'authenticate', 'authentication', 'auth'],
  ['logout', 'log out', 'sign out'],
  ['signup', 'sign up', 'register'],
  ['cli', 'command line', 'terminal'],
  ['headless', 'no browser', 'without browser', 'no display', 'without display'],
  ['backup', 'back up', 'restore', 'snapshot', 'recovery', 'recover', 'get back'],
  ['undo', 'revert', 'roll back', 'rollback', 'restore'],
  ['upgrade', 'update', 'migrate'],
  ['copy', 'clone', 'duplicate', 'fork', 'branch'],
  ['config', 'configuration', 'configure', 'setting', 'option'],
  ['price', 'pricing', 'billing', 'cost', 'invoice'],
  ['docker', 'container'],
  ['limit', 'quota', 'maximum'],
  ['permission', 'access', 'role', 'authorization'],
  ['private', 'protect', 'restrict', 'hide'],
  ['employee', 'staff', 'colleague', 'teammate'],
  ['deploy', 'publish', 'release'],
  ['create', 'add', 'new', 'make'],
  ['change', 'edit', 'modify', 'update'],
  ['show', 'display', 'view'],
  ['allow', 'enable', 'permit'],
  ['block', 'deny', 'forbid', 'disable'],
  ['enable', 'activate', 'turn on', 'switch on'],
  ['disable', 'deactivate', 'turn off', 'switch off', 'opt out'],
  ['synonym', 'mean the same', 'same meaning'],
  ['typo', 'misspell', 'spelling', 'misspelling'],
  ['lose', 'forget', 'reset'],
  ['highlight', 'bold', 'emphasize', 'emphasis'],
  ['near', 'nearby', 'close', 'distance'],
  ['revoke', 'invalidate', 'rotate'],
  ['stolen', 'steal', 'leak', 'compromise'],
  ['cancel', 'abort', 'stop'],
  ['start', 'begin', 'launch', 'run'],
  ['quickstart', 'quick start', 'getting started', 'get started', 'first steps', 'try', 'tutorial'],
  ['local', 'localhost', 'laptop', 'my machine', 'own machine', 'my computer'],
  ['import', 'upload', 'load', 'bring in'],
  ['migrate', 'migration', 'move', 'bring', 'transfer'],
  ['download', 'export'],
  ['kept', 'keep', 'retention', 'retain', 'stored'],
  ['cheap', 'low price', 'price'],
  ['slow', 'fast', 'performance', 'latency', 'speed'],
  ['big', 'large', 'huge'],
  ['address', 'url', 'link'],
  ['repository', 'repo'],
  ['pull request', 'merge request'],
  ['documentation', 'docs', 'doc'],
  ['directory', 'folder'],
  ['picture', 'image'],
  ['javascript', 'js'],
  ['typescript', 'ts'],
  ['database', 'db'],
  ['postgres', 'postgresql'],
  ['kubernetes', 'k8s'],
  ['environment', 'env'],
  ['administrator', 'admin'],
  ['application', 'app'],
  ['parameter', 'param', 'argument'],
  ['website', 'site'],
  ['organization', 'organisation', 'tenant', 'customer'],
  ['chat', 'chatbot', 'assistant'],
  ['translate', 'translation', 'language', 'localization', 'i18n'],
  ['color', 'colour', 'theme', 'appearance'],
  ['analytics', 'statistics', 'metrics'],
  ['two factor', '2fa', 'mfa'],
  ['single sign on', 'sso', 'saml'],
  ['openid connect', 'oidc'],
  ['openapi', 'swagger'],
  ['tls', 'ssl', 'https'],
  ['multiple', 'several'],
  ['combine', 'merge', 'compose', 'put together'],
  ['mute', 'silence', 'suppress', 'snooze'],
  ['password', 'secret'],
  ['save', 'store', 'persist'],
  ['loop', 'iterate', 'foreach', 'for each'],
  ['schedule', 'cron'],
  ['parallel', 'concurrent', 'simultaneous', 'at once', 'at the same time'],
  ['shrink', 'compact', 'make smaller'],
  ['telemetry', 'usage data', 'usage statistics'],
  ['sidebar', 'navigation', 'menu'],
  ['diagram', 'flowchart', 'chart'],
  ['ram', 'memory'],
  ['iphone', 'ipad', 'ios'],
];

/** Weight of a synonym, relative to the word itself. */
const synonymShare = 0.7;
/** Weight of a word for a whole phrase: `no browser` means `headless` more surely than one word means another. */
const phraseShare = 0.9;
/** Weight of a word of a phrase that stands for a single word. */
const phrasePartShare = 0.3;

/** Finds the synonyms of the terms of a question. */
export type Synonyms = {
  /** The synonyms of each term that has some, with their weights. `sequence`: all terms of the question in order. */
  of(sequence: readonly string[]): Map<string, Map<string, number>>;
};

/** A word or phrase as terms. A compound name has a second form, written as one word: `libSQL` is also `libsql`. */
type Expression = readonly (readonly string[])[];
type Entry = { phrase: readonly string[]; own: Expression; group: readonly Expression[] };
type Groups = ReadonlyMap<string, readonly Entry[]>;

/** Entries by the first term of each form of each expression. */
function compiled(groups: readonly (readonly string[])[]): Groups {
  const byFirst = new Map<string, Entry[]>();
  for (const group of groups.map((entries) => entries.map(formsOf).filter((forms) => forms.length > 0))) {
    for (const own of group) {
      for (const phrase of own) {
        const first = phrase[0] ?? '';
        const entries = byFirst.get(first) ?? [];
        entries.push({ phrase, own, group });
        byFirst.set(first, entries);
      }
    }
  }
  return byFirst;
}

function formsOf(expression: string): Expression {
  const terms = analyzeText(expression);
  if (terms.length === 0) return [];
  const isName = terms.length > 1 && !/\s/.test(expression);
  const whole = isName ? analyzeText(expression.replaceAll(/[^\p{L}\p{N}]/gu, '').toLowerCase()) : [];
  return whole.length === 1 ? [terms, whole] : [terms];
}

const builtInGroups = compiled(builtIn);

/** Limit of a project's synonyms for one question: a word may be in hundreds of groups, and each term costs a search. */
const mostOwnTerms = 100;

/** The built-in groups and those of a project, as groups of words and phrases with the same meaning. */
export function synonymsOf(own: readonly (readonly string[])[] = []): Synonyms {
  const ownGroups = own.length === 0 ? undefined : compiled(own);
  return {
    of(sequence) {
      const found = new Map<string, Map<string, number>>();
      addFrom(builtInGroups, sequence, found, Number.POSITIVE_INFINITY);
      if (ownGroups !== undefined) addFrom(ownGroups, sequence, found, mostOwnTerms);
      return found;
    },
  };
}

function addFrom(
  groups: Groups,
  sequence: readonly string[],
  found: Map<string, Map<string, number>>,
  most: number,
): void {
  let left = most;
  // A question may repeat a phrase, whose synonyms need to be added only once.
  const added = new Set<Entry>();
  for (const [at, term] of sequence.entries()) {
    for (const entry of groups.get(term) ?? []) {
      const { phrase, own, group } = entry;
      if (left <= 0) return;
      if (added.has(entry) || !isAt(sequence, at, phrase)) continue;
      added.add(entry);
      for (const part of phrase) left -= addGroup(found, part, phrase, own, group);
    }
  }
}

/** True if the phrase begins at this position. It may contain a pronoun: `get it back`, `set this up`. */
function isAt(sequence: readonly string[], from: number, phrase: readonly string[]): boolean {
  let at = from;
  for (const part of phrase) {
    if (at > from && sequence[at] !== part && pronouns.has(sequence[at] ?? '')) at += 1;
    if (sequence[at] !== part) return false;
    at += 1;
  }
  return true;
}

const pronouns = new Set(analyzeText('it this that them these those me us you'));

/** Adds the synonyms of a group. Returns the number of added terms. */
function addGroup(
  found: Map<string, Map<string, number>>,
  term: string,
  phrase: readonly string[],
  own: Expression,
  group: readonly Expression[],
): number {
  const variants = found.get(term) ?? new Map<string, number>();
  const before = variants.size;
  for (const other of group.filter((expression) => expression !== own).flat()) {
    const share =
      other.length > 1 ? phrasePartShare : phrase.length > 1 && own.length === 1 ? phraseShare : synonymShare;
    for (const part of other.length === 1 ? other : topical(other)) {
      if (!phrase.includes(part)) variants.set(part, Math.max(share, variants.get(part) ?? 0));
    }
  }
  found.set(term, variants);
  return variants.size - before;
}

const topicalOf = new WeakMap<readonly string[], readonly string[]>();

/** Cached for each phrase, because one may be in hundreds of groups of a question. */
function topical(phrase: readonly string[]): readonly string[] {
  const known = topicalOf.get(phrase) ?? analyzeQuery(phrase.join(' '));
  topicalOf.set(phrase, known);
  return known;
}

/** The synonyms of the built-in groups only. */
export const builtInSynonyms = synonymsOf();
