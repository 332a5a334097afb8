import { gfm } from 'micromark-extension-gfm';
import type { Construct, Extension, Token, TokenizeContext, Tokenizer } from 'micromark-util-types';

declare module 'micromark-util-types' {
  interface Token {
    /** Set by the autolinks of GFM on a token that no open bracket precedes. */
    _gfmAutolinkLiteralWalkedInto?: boolean | undefined;
  }
}

type Label = { index: number; token: Token };
/** Cache of the open bracket that was found last, by text. */
const labels = new WeakMap<TokenizeContext, Label>();

function withCachedLabels(extension: Extension): Extension {
  const text = Object.entries(extension.text ?? {}).map(([code, constructs]) => {
    const list = Array.isArray(constructs) ? constructs : constructs === undefined ? [] : [constructs];
    return [code, list.map((construct) => (isAutolink(construct) ? outsideLabels(construct) : construct))] as const;
  });
  return { ...extension, text: Object.fromEntries(text) };
}

const isAutolink = ({ name }: Construct): boolean => name?.endsWith('Autolink') === true;

function outsideLabels(construct: Construct): Construct {
  const tokenize: Tokenizer = function (effects, ok, nok) {
    const start = construct.tokenize.call(this, effects, ok, nok);
    return (code) => (isInLabel(this) ? nok(code) : start(code));
  };
  return { ...construct, tokenize };
}

function isInLabel(context: TokenizeContext): boolean {
  const { events } = context;
  const known = labels.get(context);
  if (known !== undefined && events[known.index]?.[1] === known.token && known.token._balanced !== true) return true;
  for (let index = events.length - 1; index >= 0; index -= 1) {
    const token = events[index]?.[1];
    if (token === undefined || token._gfmAutolinkLiteralWalkedInto === true) return false;
    if ((token.type === 'labelLink' || token.type === 'labelImage') && token._balanced !== true) {
      labels.set(context, { index, token });
      return true;
    }
  }
  return false;
}

/**
 * GFM for micromark. An autolink is not a link inside the text of a link, so for each word GFM searches back to an open `[`, over all text in
 * between. Here the last found `[` is cached, so the time does not grow with the square of the text after a bracket that is never closed.
 */
export const gfmSyntax: Extension = withCachedLabels(gfm());
