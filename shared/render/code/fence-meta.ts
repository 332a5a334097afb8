/** What an author said after the language of a fence. Line numbers count from 1. */
export type FenceMeta = {
  title?: string;
  icon?: string;
  lines: boolean;
  wrap: boolean;
  expandable: boolean;
  copy: boolean;
  highlighted: ReadonlySet<number>;
  focused: ReadonlySet<number>;
};

const FLAGS = new Set(['lines', 'wrap', 'expandable', 'nocopy', 'twoslash', 'showLineNumbers']);

/**
 * Reads `title="x" icon="js" lines {1,3-5} focus={2} Some bare title`. Line ranges are clamped to `lineCount`, so that none can be
 * larger than the code.
 */
export function fenceMeta(meta: string, lineCount: number): FenceMeta {
  const read: FenceMeta = {
    lines: false,
    wrap: false,
    expandable: false,
    copy: true,
    highlighted: new Set(),
    focused: new Set(),
  };
  const bare: string[] = [];
  const token = /([A-Za-z][\w-]*)=(?:"([^"]*)"|'([^']*)'|\{([^}]*)\}|(\S+))|\{([\d,\s-]+)\}|(\S+)/g;
  for (const [, key, double, single, braced, plain, range, word] of meta.slice(0, 2000).matchAll(token)) {
    const value = double ?? single ?? braced ?? plain ?? '';
    if (range !== undefined) read.highlighted = lineNumbers(range, lineCount);
    else if (word !== undefined) {
      if (FLAGS.has(word)) setFlag(read, word);
      else bare.push(word);
    } else if (key === 'title' || key === 'filename') read.title = value.replace(/^["']|["']$/g, '');
    else if (key === 'icon') read.icon = value.replace(/^["']|["']$/g, '');
    else if (key === 'highlight') read.highlighted = lineNumbers(value, lineCount);
    else if (key === 'focus') read.focused = lineNumbers(value, lineCount);
    else if (key !== undefined && FLAGS.has(key)) {
      if (value !== 'false') setFlag(read, key);
    } else if (key !== undefined && !['theme', 'actions', 'placement', 'startLine'].includes(key))
      bare.push(`${key}=${value}`);
  }
  const title = bare.join(' ').replace(/^["']|["']$/g, '');
  if (read.title === undefined && title !== '') read.title = title;
  return read;
}

function setFlag(read: FenceMeta, name: string): void {
  if (name === 'lines' || name === 'showLineNumbers') read.lines = true;
  if (name === 'wrap') read.wrap = true;
  if (name === 'expandable') read.expandable = true;
  if (name === 'nocopy') read.copy = false;
}

/** `1,3-5` or `[1,3]` as a set of numbers from 1 to `lineCount`. */
export function lineNumbers(written: string, lineCount: number): ReadonlySet<number> {
  const numbers = new Set<number>();
  for (const part of written
    .replace(/[[\]{}\s]/g, '')
    .split(',')
    .slice(0, 500)) {
    const range = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(part);
    if (!range) continue;
    const first = Number(range[1]);
    const last = Math.min(Number(range[2] ?? range[1]), lineCount);
    for (let line = Math.max(1, first); line <= last; line++) numbers.add(line);
  }
  return numbers;
}
