import { markdownAddress } from './markdown-text.ts';

/** A streaming filter. `push` returns the text that is safe to show and holds back text that may still become a link; `end` returns the rest. */
export type LinkFilter = { push(delta: string): Promise<string>; end(): Promise<string> };

/** Longest link in characters, its text included. Longer ones are not taken for links. */
const longestLink = 2_000;
/** Nesting limit of brackets. Without it, a long row of brackets would be read again from each of them. */
const deepestBrackets = 8;

// GFM readers also autolink addresses whose characters are escaped or written as references.
const special = /[\\`~[\]!<&@\n]|(?:https?|ftp)\\?:\\?\/\\?\/|www\\?\.|\/\\?\//i;
/** A character of a host's name. */
const label = String.raw`[-\p{L}\p{N}]`;
/** The unfinished beginning of an address: a protocol, `www.`, or a host after two slashes, which takes the page's protocol. */
const begins = [
  String.raw`h|ht|htt|https?|f|ft|ftp|(?:https?|ftp)(?:\\|\\?:\\?\/?\\?)|w|ww|www\\?`,
  String.raw`(?<![:/])\/(?:\\|\\?\/${label}*(?:\\?\.|\\)?)?`,
].join('|');
const addressBegins = new RegExp(`(?:${begins})$`, 'iu');
const escapedAddressBegins = new RegExp(String.raw`^\\(?:${begins})?$`, 'iu');
const address = new RegExp(
  String.raw`^(?:(?:https?|ftp)\\?:\\?\/\\?\/|www\\?\.|\/\\?\/(?=${label}+\\?\.${label}))[^\s<>()\[\]"'\x60|]*`,
  'iu',
);
/** Punctuation that may follow an address before the next blank, and does not belong to it. */
const trailing = /^[!"'()*,.:;?_~\]]*$/;
/** A character reference, by number or name. The names are those of characters that occur in addresses. */
const reference = /^&(?:#(\d{1,7})|#x([\da-f]{1,6})|(?:colon|sol|period|commat|lowbar|UnderBar|plus));/i;
const referenceBegins = /^&#?\w{0,40}!?$/;
/** A reference may be split by a link: the link's text may hold the rest of it. */
const referenceGoesOn = /^&#?\w{0,40}(?:!?\[|$)/;
const inAddresses = /[\w:/.@+-]/;
const mailGoesOn = /[-.\w+](@[-\w.]*)$/;
/** True for hosts of mail addresses, but not for versions, as in `name@1.2.3`. For readers, a host ends before a dot that no label follows. */
const isMailHost = (host: string): boolean => /\.[-\w]*[a-z][-\w]*(?:$|\.[^a-z\d])/i.test(host);
/** Readers such as marked and markdown-it also take a version for a host: they make `name@1.2.3` a mail address. */
const isHostForSome = (host: string): boolean => /\.[-\w]*[a-z\d]/i.test(host);
/** Number of characters that are read at once. An answer may arrive in one piece, and each step searches all the text that was read. */
const readAtOnce = 4_000;
const longestBeginning = 80;
/** Shown for a link or a picture that has no text. */
const noText = '…';
/** The marks of quotations and lists before the text of a line. The last one may be unfinished. */
const lineBegins = /^[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t>]+)*(?:[-+*]|\d{1,9}[.)]?)?$/;
/** The `@` and the host of a mail address. */
const mailHost = /^@((?:[-\w.]|\\[-._])*)/;
/** Punctuation after a mail address. */
const mailEnds = /[-_.\\]+$/;
/** The name of a mail address, before `@`. Mail allows 64 characters at most. */
const mailName = /[-.\w+]{1,64}$/;
/** An open block of code. `column` is the column of its mark, after the marks of quotations. */
type Fence = { before: string; marks: string; quotes: number; column: number };

/**
 * A mark of code in quotations whose marks stand side by side from the beginning of the line. A mark that stands further in may belong to a list item,
 * whose end also ends the quotation, or may be the text of a paragraph.
 */
const fenceLine = /^((?:> ?)*[ \t]*)(`{3,}|~{3,})([^\n]*)/;
/** The marks of quotations at the beginning of a line, and the indent after them. */
const lineIndent = /^(?:> ?)*[ \t]*/;
/** Tildes at a place where the text of a line may begin. */
const tildesBegun = /(?:^|[\s>])(~*)$/;
/** A list item that is not empty. `* * *` is a thematic break, not an item. */
const listItem = /^([ \t]*)(?:[-+*]|(\d{1,9})[.)])([ \t]+)(?=[^\s])(?!(?:[-*_][ \t]*)+$)/;
/** The beginning of a line that may become a list item, a thematic break, or a mark of code. */
const blockMayBegin = /^[ \t>]*(?:\d{1,9}|(?:[-+*]|\d{1,9}[.)])?[ \t]*(?:[-*_][ \t]*)*|[`~].*)$/;
/** A beginning of a line that ends the paragraph before it, and with it inline code that is still open. */
const blockBegins = /\n[ \t>]*(?:[-+*#|=`~\n]|\d{1,9}[.)])/;
const mostIndent = 3;
const linkTarget = /^\(\s*(?:<([^<>\n]*)>|((?:[^\s()<>]|\([^\s()]*\))*))(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/;

/**
 * Filters a Markdown stream so that only links that `isAllowed` accepts remain, even if a page or a reader made the model write others. Other links
 * are replaced by their text and pictures by their alternative text; bare addresses become code, which no reader autolinks; HTML becomes text. Code is
 * unchanged, and the output leaves no doubt for any Markdown reader where code is: marks that open no code are escaped, and a block of code is closed
 * where the quotation or list around it ends.
 */
export function linkFilter(isAllowed: (url: string) => Promise<boolean> | boolean): LinkFilter {
  let rest = '';
  /** Input that follows `rest`. */
  let later = '';
  /** The last characters of the output, which may be the beginning of an address. */
  let said = '';
  /** The output of the current line, up to its first text. */
  let line = '';
  let isLineBegun = false;
  let endsWithMark = false;
  let fence: Fence | undefined;
  let atLineStart = true;
  let afterEmptyLine = true;
  /** Column at which the text of the open list item begins; 0 without an open item. */
  let listColumn = 0;

  function take(length: number): string {
    const taken = rest.slice(0, length);
    rest = rest.slice(length);
    atLineStart = taken.endsWith('\n');
    return taken;
  }

  /** The output for the beginning of a line that is code, '' for other lines, undefined if more input must come first. */
  function lineStart(isLast: boolean): string | undefined {
    const end = rest.indexOf('\n');
    const line = end === -1 ? rest : rest.slice(0, end);
    const mayGrow = end === -1 && !isLast && line.length < longestLink;
    if (fence !== undefined) return codeLine(fence, line, mayGrow);
    if (mayGrow && blockMayBegin.test(line)) return undefined;
    const [, before = '', marks = '', info = ''] = fenceLine.exec(line) ?? [];
    const { quotes, column } = placeOf(lineIndent.exec(line)?.[0] ?? '');
    const endsItem = !isEmpty(line) && (quotes > 0 || column < listColumn);
    if (endsItem) listColumn = 0;
    const isClear = column - listColumn <= mostIndent;
    const isCode = marks !== '' && isClear && !(marks.startsWith('`') && info.includes('`'));
    if (isCode) {
      fence = { before, marks, quotes, column };
      // Some readers take a line with `|` for the head of a table, although it opens a block of code.
      return take(line.length + 1).replaceAll('|', ' ');
    }
    const [item = '', indent = '', number, gap = ''] = listItem.exec(line) ?? [];
    // Numbers other than 1 continue a list or begin one after an empty line; inside a paragraph, also that of an item, they are text.
    const isItem = item !== '' && (number === undefined || number === '1' || afterEmptyLine || endsItem);
    if (isItem && columnOf(indent) - listColumn <= mostIndent) {
      const [markEnd, textColumn] = [columnOf(item.slice(0, -gap.length)), columnOf(item)];
      listColumn = textColumn - markEnd > 4 ? markEnd + 1 : textColumn;
    }
    afterEmptyLine = isEmpty(line);
    atLineStart = false;
    return '';
  }

  function codeLine(open: Fence, line: string, mayGrow: boolean): string | undefined {
    if (mayGrow && /^[ \t>]*[`~]*[ \t]*$/.test(line)) return undefined;
    const inner = withoutQuotes(line, open.quotes);
    const [, blanks = '', marks = ''] = /^([ \t]*)(`+|~+)?/.exec(inner ?? '') ?? [];
    const column = columnOf(blanks);
    const isMark = marks.startsWith(open.marks) && isEmpty(inner?.slice(blanks.length + marks.length) ?? '');
    // A tab after the mark of a quotation is shorter than one at the beginning of a line.
    const isNear = column <= open.column + mostIndent || (open.quotes > 0 && blanks.includes('\t'));
    const isEnd = isMark && isNear;
    const isOutside = inner === undefined || (!isEmpty(inner) && column < open.column);
    if (!isEnd && !isOutside) return take(line.length + 1);
    fence = undefined;
    afterEmptyLine = true;
    // Every reader ends the block at the mark that opened it.
    const closed = `${open.before}${open.marks}`;
    if (!isEnd) return `${closed}\n`;
    const ends = take(line.length + 1).endsWith('\n');
    return ends ? `${closed}\n` : closed;
  }

  async function step(isLast: boolean): Promise<string | undefined> {
    if (atLineStart) {
      const code = lineStart(isLast);
      if (code !== '') return code;
    } else if (fence !== undefined) {
      const end = rest.indexOf('\n');
      return take(end === -1 ? rest.length : end + 1);
    }
    const joint = goesOn(isLast);
    if (joint !== '') return joint;
    const at = rest.search(special);
    const held = isLast ? -1 : addressAtEnd(rest);
    if (held !== -1 && (at === -1 || held <= at)) return take(held) || undefined;
    if (at === -1) return take(rest.length);
    if (at > 0) return take(at);
    const [first = ''] = rest;
    if (first === '\n') return take(1);
    if (first === '&') return characterReference(isLast);
    if (first === '@') return await mailAddress(isLast);
    if (first === '\\') {
      if (!isLast && escapedAddressBegins.test(rest)) return undefined;
      // Before an address the backslash is text, and must not escape the mark of code that the address gets.
      if (address.test(rest.slice(1))) return `${take(1)}\\`;
      if (rest[1] === '@') rest = rest.slice(1);
      if (rest[0] === '@') return '';
      return take(2);
    }
    if (first === '`') return inlineCode(isLast);
    if (first === '~') return tildes(isLast);
    if (first === '<') {
      if (rest.length === 1 && !isLast) return undefined;
      return /^<[\s\d=<-]/.test(rest) ? take(1) : `\\${take(1)}`;
    }
    if (first === ']') {
      // The text so far is not a link. Another reader must not see a link end here, nor a definition of a link's target.
      if (rest.length === 1 && !isLast) return undefined;
      return /^\][(:]/.test(rest) ? `${take(1)}\\${take(1)}` : take(1);
    }
    if (first === '[' || first === '!') return await link(isLast);
    // Slashes after another protocol, a third slash and a host without a dot begin no address, because comments in code begin like that.
    if (first === '/' && (/[:/]$/.test(said) || !address.test(rest))) return take(1);
    const [url = ''] = address.exec(rest) ?? [];
    const [whole = ''] = /^\S*/.exec(rest) ?? [];
    if (whole.length === rest.length && !isLast && whole.length < longestLink) return undefined;
    const shown = url.replace(/[.,;:!?*_\\]+$/, '');
    take(shown.length);
    const meant = withoutEscapes(shown);
    // For GFM readers everything up to a blank belongs to the address, and a backslash escapes nothing there.
    const endsThere = trailing.test(whole.slice(shown.length));
    return endsThere && (await isAllowed(meant)) ? shown : `\`${meant}\``;
  }

  /** Turns the rest of an address into code if the address began before a link that was replaced by its text. Returns '' if no address began. */
  function goesOn(isLast: boolean): string | undefined {
    const begun = addressBegins.exec(said)?.[0];
    const mail = mailGoesOn.exec(said)?.[1];
    if (begun === undefined && mail === undefined) return '';
    const both = `${begun ?? mail ?? ''}${rest}`;
    const [whole = ''] = (begun === undefined ? mailHost : address).exec(both) ?? [];
    const mayGrow = goesToEnd(whole, both) || addressAtEnd(both) === 0;
    if (mayGrow && !isLast && rest.length < longestLink) return undefined;
    const shown = begun === undefined ? whole.replace(mailEnds, '') : whole;
    const length = shown.length - (both.length - rest.length);
    if (length <= 0 || (begun === undefined && !isHostForSome(shown.slice(1)))) return '';
    return `\`${withoutEscapes(take(length))}\``;
  }

  function characterReference(isLast: boolean): string | undefined {
    if (!isLast && referenceBegins.test(rest)) return undefined;
    const [whole = '', decimal, hex] = reference.exec(rest) ?? [];
    if (whole === '') return referenceGoesOn.test(rest) ? `\\${take(1)}` : take(1);
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    const isName = decimal === undefined && hex === undefined;
    return isName || (code < 128 && inAddresses.test(String.fromCharCode(code)))
      ? `\\${take(whole.length)}`
      : take(whole.length);
  }

  /** Turns the host of a mail address into code, and escapes the dot of a version. The name before `@` has already been shown. */
  async function mailAddress(isLast: boolean): Promise<string | undefined> {
    const [whole = '', host = ''] = mailHost.exec(rest) ?? [];
    if (goesToEnd(whole, rest) && !isLast && whole.length < longestLink) return undefined;
    const shown = host.replace(mailEnds, '');
    const [name] = mailName.exec(said) ?? [];
    const meant = withoutEscapes(shown);
    if (!isHostForSome(meant) || !/[-.\w+]$/.test(said)) return take(1);
    take(shown.length + 1);
    if (!isMailHost(meant)) return `@${shown.replace(/\\?\./, '\\.')}`;
    return (await isAllowed(`mailto:${name}@${meant}`)) ? `@${shown}` : `@\`${meant}\``;
  }

  /** Escapes tildes that a reader could take for the mark of a block of code, wherever the text of a line may begin. */
  function tildes(isLast: boolean): string | undefined {
    const [run = ''] = /^~+/.exec(rest) ?? [];
    const begun = tildesBegun.exec(said)?.[1];
    if (begun === undefined) return take(run.length);
    if (begun.length + run.length > 2) return `\\${take(run.length)}`;
    return run.length === rest.length && !isLast ? undefined : take(run.length);
  }

  function inlineCode(isLast: boolean): string | undefined {
    const [marks = ''] = /^`+/.exec(rest) ?? [];
    const mayGrow = !isLast && rest.length < longestLink && !/\n[ \t>]*\n/.test(rest);
    if (marks.length === rest.length && mayGrow) return undefined;
    const end = rest.slice(marks.length, longestLink).search(new RegExp(`(?<!\`)${marks}(?!\`)`));
    const length = marks.length * 2 + end;
    if ((end === -1 || length === rest.length) && mayGrow) return undefined;
    const inside = rest.slice(marks.length, marks.length + end);
    // Cells of tables end at `|`, also in code.
    const isCell = inside.includes('|') && /\][(:[]|<[^>|]*[:=]|:\/\/|www\./i.test(inside);
    if (end === -1 || blockBegins.test(inside) || isCell) return take(marks.length).replaceAll('`', '\\`');
    // On one line, nothing can separate the marks of the code.
    return take(length).replaceAll(/\s*\n[ \t>]*/g, ' ');
  }

  async function link(isLast: boolean): Promise<string | undefined> {
    const mayGrow = !isLast && rest.length < longestLink && !rest.includes('\n\n');
    if (rest === '!') return mayGrow ? undefined : take(1);
    if (rest.startsWith('!') && rest[1] !== '[') return take(1);
    const opens = rest.startsWith('!') ? 2 : 1;
    const closes = closingBracket(rest, opens);
    if (closes === -1 || rest.slice(0, closes).includes('\n\n')) return mayGrow ? undefined : take(1);
    const text = rest.slice(opens, closes).replaceAll(/\s*\n[\s>]*/g, ' ');
    const whole = rest.slice(0, closes + 1);
    const after = rest.slice(whole.length);
    if (after === '' && mayGrow) return undefined;
    if (!after.startsWith('(')) return take(1);
    const target = linkTarget.exec(after);
    if (target === null) return mayGrow ? undefined : withoutLink(text, whole.length + 1);
    const url = target[1] ?? target[2] ?? '';
    const isPicture = rest.startsWith('!');
    if (!isPicture && (await isAllowed(url))) {
      take(whole.length + target[0].length);
      return `[${await filtered(text)}](${linkAddress(url)})`;
    }
    return withoutLink(text, whole.length + target[0].length);
  }

  /** Replaces a link by its text, which is read again together with the following text: the two may form another link. They must not begin a block. */
  function withoutLink(text: string, length: number): string {
    take(length);
    const shown = text.trim() === '' ? noText : text.trim();
    const marks = isLineBegun
      ? shown
      : shown
          .replace(/^(?:[~>]|[-+*=#]+(?=\s|$))/, '\\$&')
          .replace(/^[.)]/, /\d$/.test(line) ? '\\$&' : '$&')
          .replace(/^(\d{1,9})([.)]|$)/, (_all, number: string, mark: string) =>
            mark === '' ? `\\[${number}\\]` : `${number}\\${mark}`,
          );
    rest = `${marks}${rest}`;
    return '';
  }

  async function filtered(text: string): Promise<string> {
    // The letter keeps the text from counting as the start of a line.
    const inner = linkFilter(isAllowed);
    return ((await inner.push(`a${text}`)) + (await inner.end())).slice(1);
  }

  async function run(isLast: boolean): Promise<string> {
    let shown = '';
    for (;;) {
      const wasCode = fence !== undefined;
      const next = rest === '' ? undefined : await step(isLast && later === '');
      if (next === undefined && later === '') return shown;
      if (next === undefined) {
        rest += later.slice(0, readAtOnce);
        later = later.slice(readAtOnce);
        continue;
      }
      const isCode = wasCode || fence !== undefined;
      // Two marks of code that touch would be read as one.
      shown += endsWithMark && !isCode && next.startsWith('`') ? ` ${next}` : next;
      if (next !== '') endsWithMark = next.endsWith('`');
      said = `${said}${next}`.slice(-longestBeginning);
      const lineEnd = next.lastIndexOf('\n');
      if (lineEnd !== -1) [line, isLineBegun] = ['', false];
      if (!isLineBegun) {
        line += next.slice(lineEnd + 1);
        isLineBegun = !lineBegins.test(line);
      }
    }
  }

  return {
    push(delta) {
      later += delta.replaceAll('\r', '');
      return run(false);
    },
    end: () => run(true),
  };
}

/** True if an address at the beginning of a text may continue after it. A backslash may escape a mark of the address. */
const goesToEnd = (address: string, text: string): boolean => /^\\?$/.test(text.slice(address.length));

/** The offset of an address at the end of the text, which may continue in later text; -1 without one. */
function addressAtEnd(text: string): number {
  const from = Math.max(0, text.length - longestBeginning);
  const at = text.slice(from).search(addressBegins);
  return at === -1 ? -1 : from + at;
}

/** The text without the backslashes of escaped marks. */
const withoutEscapes = (text: string): string => text.replaceAll(/\\(?=[!-/:-@[-`{-~])/g, '');

/** True for a line that separates blocks: it has only spaces and tabs. Other white space, such as a no-break space, is text. */
const isEmpty = (line: string): boolean => /^[ \t]*$/.test(line);

/** The column at which a line continues after `begin`, its first characters. */
const columnOf = (begin: string): number =>
  begin.split('').reduce((column, each) => (each === '\t' ? column + 4 - (column % 4) : column + 1), 0);

/** The number of quotations around a line, from the marks at its beginning, and the indent of its text inside them. */
function placeOf(before: string): { quotes: number; column: number } {
  const parts = before.split('>');
  const blanks = parts.at(-1) ?? '';
  return { quotes: parts.length - 1, column: columnOf(parts.length > 1 ? blanks.replace(' ', '') : blanks) };
}

/** The rest of a line after the marks of `quotes` quotations; undefined if the line has fewer. */
function withoutQuotes(line: string, quotes: number): string | undefined {
  let inner = line;
  for (let quote = 0; quote < quotes; quote += 1) {
    const [mark] = /^ {0,3}> ?/.exec(inner) ?? [];
    if (mark === undefined) return undefined;
    inner = inner.slice(mark.length);
  }
  return inner;
}

/** Escapes characters of an address that would end its link, or begin code or a table cell. */
const linkAddress = (url: string): string => markdownAddress(url).replaceAll('`', '%60').replaceAll('|', '%7C');

/** The end of the link text that begins at `from`; -1 if the text is too long or its brackets are nested too deep. */
function closingBracket(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length && at < longestLink && depth <= deepestBrackets; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '[') depth += 1;
    else if (text[at] === ']' && --depth === 0) return at;
  }
  return -1;
}
