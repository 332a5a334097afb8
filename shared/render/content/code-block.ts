import type { Element, ElementContent } from 'hast';
import { h } from 'hastscript';
import { codeHtml } from '../code/code-html.ts';
import { type FenceMeta, fenceMeta } from '../code/fence-meta.ts';
import type { ContentContext } from './content-context.ts';
import { icon } from './icon.ts';

export type CodeInput = { code: string; language?: string | null | undefined; meta?: string | null | undefined };

/** Where coloured code is put in when the page is written out: a number into `ContentContext.codes`. */
export const CODE_SLOT = 'dataCodeSlot';

const EXPANDABLE_FROM_LINES = 14;

/** A block of code with its header. `bare`: without header, for a place that shows the title itself. */
export function codeBlock(input: CodeInput, context: ContentContext, bare = false): Element {
  const { language, meta, title } = codeFacts(input);
  if (language === 'mermaid') return diagram(input.code);
  const coloured = codeHtml(input.code, language, meta);
  if (coloured.hasBidi) {
    context.report('bidi-in-code', 'A code block has characters that reorder text; they are shown by their numbers.');
  }
  const slot = context.codes.push({ html: coloured.html, text: coloured.text }) - 1;
  const classes = ['code-block'];
  if (meta.lines) classes.push('with-lines');
  if (meta.wrap) classes.push('wrapped');
  if (meta.focused.size > 0) classes.push('has-focus');
  if (meta.expandable && coloured.lineCount > EXPANDABLE_FROM_LINES) classes.push('expandable-code');
  const pre = h('pre', { tabIndex: 0 }, [
    h('code', { className: [`language-${language || 'text'}`], [CODE_SLOT]: String(slot) }),
  ]);
  const head: ElementContent[] =
    title === undefined || bare
      ? []
      : [
          h('div', { className: ['code-block-header'] }, [
            ...icon(meta.icon, 'code-block-icon'),
            h('span', { className: ['code-block-title'] }, title),
          ]),
        ];
  return h('div', { className: classes, ...(meta.copy ? {} : { dataNocopy: '' }), dataLanguage: language || 'text' }, [
    ...head,
    pre,
  ]);
}

/** Language, options and title of a fence. `nocopy` may stand where the language does. */
export function codeFacts({ code, language: written, meta: rest }: CodeInput): {
  language: string;
  meta: FenceMeta;
  title: string | undefined;
} {
  let language = (written ?? '').trim();
  let options = rest ?? '';
  if (language.includes('{') || language.includes('=') || language.includes('"')) {
    options = `${language.replace(/^[\w+#.-]*/, '')} ${options}`;
    language = /^[\w+#.-]*/.exec(language)?.[0] ?? '';
  }
  const meta = fenceMeta(options, code.split('\n').length);
  if (language === 'nocopy') {
    language = '';
    meta.copy = false;
  }
  return {
    language: language
      .toLowerCase()
      .replace(/[^a-z0-9+#-]/g, '')
      .slice(0, 40),
    meta,
    title: meta.title,
  };
}

/** Diagrams are shown as their source, which says the same. */
function diagram(source: string): Element {
  return h('figure', { className: ['mermaid'] }, [
    h('pre', { tabIndex: 0 }, [h('code', { className: ['language-mermaid'] }, source)]),
  ]);
}
