const defaults =
  '.git .github .claude .agents .idea .vscode node_modules build dist coverage .cache tmp temp README.md LICENSE.md CHANGELOG.md CONTRIBUTING.md';
const maxRules = 1000;
const maxPattern = 500;

type Rule = { negated: boolean; folderOnly: boolean; pattern: string[] };

/**
 * Returns a predicate for the ignored files of a project: the default names at any level, and the patterns of `.mintignore` in gitignore's syntax.
 * The last matching rule decides, and no file in an ignored folder can be included again.
 */
export function ignoreRules(mintignore: string): (path: string) => boolean {
  const rules = [...defaults.split(' '), ...mintignore.split('\n').slice(0, maxRules)].flatMap(ruleOf);
  const folders = new Map<string, boolean>();
  const decide = (segments: string[], isFolder: boolean): boolean => {
    const rule = rules.findLast((rule) => (isFolder || !rule.folderOnly) && globMatch(rule.pattern, segments));
    return rule !== undefined && !rule.negated;
  };
  const folderIgnored = (segments: string[]): boolean => {
    if (segments.length === 0) return false;
    const key = segments.join('/');
    const known = folders.get(key);
    if (known !== undefined) return known;
    const ignored = folderIgnored(segments.slice(0, -1)) || decide(segments, true);
    folders.set(key, ignored);
    return ignored;
  };
  return (path) => {
    const segments = path.split('/');
    return folderIgnored(segments.slice(0, -1)) || decide(segments, false);
  };
}

function ruleOf(line: string): Rule[] {
  let text = line.replace(/(?<!\\)[ \t\r]+$/, '');
  if (text === '' || text.startsWith('#') || text.length > maxPattern) return [];
  const negated = text.startsWith('!');
  if (negated) text = text.slice(1);
  const folderOnly = text.endsWith('/');
  if (folderOnly) text = text.slice(0, -1);
  const anchored = text.includes('/');
  const pattern = text.split('/').filter((part) => part !== '');
  if (pattern.length === 0) return [];
  return [{ negated, folderOnly, pattern: anchored ? pattern : ['**', ...pattern] }];
}

/**
 * True if a path matches a gitignore pattern, both as segments. The number of steps is at most the product of their lengths. Authors' patterns never
 * become regular expressions.
 */
function globMatch(pattern: readonly string[], path: readonly string[]): boolean {
  // Fast path: most patterns are a name at any level, and this is called for every rule and file.
  const [first, name = ''] = pattern;
  if (first === '**' && pattern.length === 2) return segmentMatch(name, path.at(-1) ?? '');
  // `reachable[j]` is true if the part of the pattern that was read so far matches the first j segments.
  let reachable = path.map(() => false).concat(false);
  reachable[0] = true;
  for (const part of pattern) {
    const next = reachable.map(() => false);
    if (part === '**') {
      let any = false;
      for (const [index, is] of reachable.entries()) {
        any ||= is;
        next[index] = any;
      }
    } else {
      for (const [index, segment] of path.entries()) {
        if (reachable[index] && segmentMatch(part, segment)) next[index + 1] = true;
      }
    }
    reachable = next;
  }
  return reachable.at(-1) ?? false;
}

/** Matches `*`, `?`, `[a-z]`, `[!a]` and `\x` within one name. */
export function segmentMatch(pattern: string, name: string): boolean {
  if (!/[*?[\\]/.test(pattern)) return pattern === name;
  const parts = tokens(pattern);
  let part = 0;
  let at = 0;
  let star = -1;
  let starAt = 0;
  while (at < name.length) {
    const token = parts[part];
    if (token === '*') {
      star = part;
      starAt = at;
      part += 1;
    } else if (token !== undefined && token(name.charAt(at))) {
      part += 1;
      at += 1;
    } else if (star >= 0) {
      part = star + 1;
      starAt += 1;
      at = starAt;
    } else return false;
  }
  while (parts[part] === '*') part += 1;
  return part === parts.length;
}

type Token = '*' | ((character: string) => boolean);

function tokens(pattern: string): Token[] {
  const found: Token[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern.charAt(at);
    const classEnd = character === '[' ? pattern.indexOf(']', at + 2) : -1;
    if (character === '*') {
      if (found.at(-1) !== '*') found.push('*');
    } else if (character === '?') found.push(() => true);
    else if (classEnd > 0) {
      found.push(characterClass(pattern.slice(at + 1, classEnd)));
      at = classEnd;
    } else {
      const literal = character === '\\' && at + 1 < pattern.length ? pattern.charAt((at += 1)) : character;
      found.push((other) => other === literal);
    }
  }
  return found;
}

function characterClass(body: string): (character: string) => boolean {
  const negated = body.startsWith('!') || body.startsWith('^');
  const set = negated ? body.slice(1) : body;
  return (character) => {
    let inside = false;
    for (let at = 0; at < set.length; at += 1) {
      const isRange = set[at + 1] === '-' && at + 2 < set.length;
      const last = isRange ? set.charAt(at + 2) : set.charAt(at);
      inside ||= character >= set.charAt(at) && character <= last;
      if (isRange) at += 2;
    }
    return inside !== negated;
  };
}
