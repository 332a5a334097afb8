import { globMatch } from './glob-match.ts';

const defaults =
  '.git .github .claude .agents .idea .vscode node_modules build dist coverage .cache tmp temp README.md LICENSE.md CHANGELOG.md CONTRIBUTING.md';
const MAX_RULES = 1000;
const MAX_PATTERN = 500;

type Rule = { negated: boolean; folderOnly: boolean; pattern: string[] };

/**
 * Which files of a project are left out: the default names at any level, and `.mintignore` in gitignore's syntax (the last rule that
 * matches decides; inside of an ignored folder nothing can be taken back).
 */
export function ignoreRules(mintignore: string): (path: string) => boolean {
  const rules = [...defaults.split(' '), ...mintignore.split('\n').slice(0, MAX_RULES)].flatMap(ruleOf);
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
  if (text === '' || text.startsWith('#') || text.length > MAX_PATTERN) return [];
  const negated = text.startsWith('!');
  if (negated) text = text.slice(1);
  const folderOnly = text.endsWith('/');
  if (folderOnly) text = text.slice(0, -1);
  const anchored = text.includes('/');
  const pattern = text.split('/').filter((part) => part !== '');
  if (pattern.length === 0) return [];
  return [{ negated, folderOnly, pattern: anchored ? pattern : ['**', ...pattern] }];
}
