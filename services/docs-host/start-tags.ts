import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';

/** An attribute of a start tag. `start` is the offset of its name, `end` the offset after its value with its quotes. */
export type Attribute = { name: string; value: string; start: number; end: number };

/** A start tag as a browser parses it. `end`: offset of its `>`. Character references in values are decoded. */
export type StartTag = { name: string; attributes: readonly Attribute[]; end: number };

/**
 * Reads the start tags of a page in order, until `visit` returns "stop". Text that only looks like a tag, in a value, a comment, a script or a style,
 * is ignored, and so is an unclosed tag. Time and memory are linear in the length of the page, whatever it contains. (parse5 has the better parser,
 * but compares each attribute of a tag with all before it, and keeps the whole tree with its positions.)
 */
export function readStartTags(html: string, visit: (tag: StartTag) => 'stop' | undefined): void {
  let name = '';
  let attributes: Attribute[] = [];
  let attribute: Attribute | undefined;
  let value = '';
  const endTag = (end: number): void => {
    if (visit({ name, attributes, end }) === 'stop') tokenizer.pause();
  };
  const callbacks: TokenizerCallbacks = {
    onopentagname(start, end) {
      name = html.slice(start, end).toLowerCase();
      attributes = [];
    },
    onattribname(start, end) {
      attribute = { name: html.slice(start, end).toLowerCase(), value: '', start, end };
      value = '';
    },
    onattribdata(start, end) {
      value += html.slice(start, end);
    },
    onattribentity(codePoint) {
      value += String.fromCodePoint(codePoint);
    },
    onattribend(_quote, end) {
      if (attribute !== undefined) attributes.push({ ...attribute, value, end });
    },
    onopentagend: endTag,
    onselfclosingtag: endTag,
    onclosetag() {},
    ontext() {},
    ontextentity() {},
    oncomment() {},
    oncdata() {},
    ondeclaration() {},
    onprocessinginstruction() {},
    onend() {},
  };
  const tokenizer = new Tokenizer({}, callbacks);
  tokenizer.write(html);
}
