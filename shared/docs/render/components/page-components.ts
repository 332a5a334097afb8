import type { ElementContent } from 'hast';
import { icon } from '#shared/docs/render/content/icon.ts';
import { h, toText } from '#shared/docs/render/content/content-tree.ts';
import {
  type Component,
  type Components,
  iconProp,
  paragraph,
  text,
  textProp,
  textsProp,
  titledMarkdown,
} from './component.ts';
import { codeGroup } from './tabs.ts';

/** `Update`: an entry of a changelog, with an anchor and an item in the page's feed. */
const update: Component = {
  html({ props, children }, context) {
    const label = textProp(props, 'label') ?? context.texts.update;
    const anchor = context.anchors.claim(label, textProp(props, 'id'));
    const description = textProp(props, 'description');
    const tags = textsProp(props, 'tags');
    const feed = props.get('rss');
    context.toc.push({ anchor, title: label, depth: 2 });
    const above = context.toc.length;
    const content = context.children(children);
    for (const entry of context.toc.slice(above)) entry.depth = 3;
    const fed =
      feed instanceof Map ? { title: textProp(feed, 'title'), text: textProp(feed, 'description') } : undefined;
    context.feedItems.push({
      anchor,
      title: fed?.title ?? label,
      text: (fed?.text ?? [description ?? '', toText(content)].join('\n').trim()).slice(0, 5000),
      tags,
    });
    const badges = tags.map((tag) => h('span', { className: ['badge'], dataColor: 'gray' }, tag));
    return [
      h('section', { className: ['update'], id: anchor, ...(tags.length > 0 && { dataTags: tags.join(',') }) }, [
        h('div', { className: ['update-head'] }, [
          h('h2', { className: ['update-label'], dataNoToc: '' }, [h('a', { href: `#${anchor}` }, label)]),
          description === undefined
            ? null
            : h('p', { className: ['update-description'] }, context.inlineMarkdown(description)),
          tags.length === 0 ? null : h('p', { className: ['update-tags'] }, badges),
        ]),
        h('div', { className: ['update-content'] }, content),
      ]),
    ];
  },
  markdown({ props, children }, write) {
    const tags = textsProp(props, 'tags');
    const description = textProp(props, 'description');
    return [
      { type: 'heading', depth: 2, children: [text(textProp(props, 'label') ?? 'Update')] },
      ...(description === undefined ? [] : [paragraph(text(description))]),
      ...(tags.length === 0 ? [] : [paragraph(text(`Tags: ${tags.join(', ')}`))]),
      ...write.blocks(children),
    ];
  },
};

/** `View`: one of several variants of the page's content, from which the reader chooses. */
const view: Component = {
  html(element, context) {
    const { props, children } = element;
    const title = textProp(props, 'title') ?? context.texts.scripts.view;
    return [
      h('section', { className: ['view'], dataView: title }, [
        h('p', { className: ['view-title'] }, [iconProp(element, 'view-icon', context), title]),
        context.children(children),
      ]),
    ];
  },
  markdown: titledMarkdown,
};

/** `Visibility`: content for agents is only in the Markdown of the page, content for humans only in its HTML. */
const visibility: Component = {
  html: ({ props, children }, context) => (textProp(props, 'for') === 'agents' ? [] : context.children(children)),
  markdown: ({ props, children }, write) => (textProp(props, 'for') === 'humans' ? [] : write.blocks(children)),
};

/** `RequestExample` and `ResponseExample`, shown beside the text on wide screens. */
const example: Component = {
  ...codeGroup,
  html(element, context) {
    const isRequest = element.name === 'RequestExample';
    const label = isRequest ? context.texts.request : context.texts.response;
    const attributes = { className: ['example', isRequest ? 'request-example' : 'response-example'], ariaLabel: label };
    const content = codeGroup.html(element, context);
    const section = h('section', attributes, [h('p', { className: ['example-title'] }, label), content]);
    // The request comes before the response, even if the page has only the response and the request is made from an API description.
    const answer = isRequest ? context.aside.findIndex(isAnswer) : -1;
    context.aside.splice(answer < 0 ? context.aside.length : answer, 0, section);
    return [];
  },
};

const isAnswer = (node: ElementContent): boolean =>
  node.type === 'element' &&
  Array.isArray(node.properties.className) &&
  node.properties.className.includes('response-example');

/** `Panel`, shown in place of the table of contents. */
const panel: Component = {
  html({ children }, context) {
    context.aside.push(h('section', { className: ['panel'] }, context.children(children)));
    return [];
  },
};

/** `Prompt`: text for a language model, shown on demand and copied unchanged. */
const prompt: Component = {
  html(element, context) {
    const { props, children } = element;
    const description = textProp(props, 'description');
    const ownIcon = iconProp(element, 'prompt-icon', context);
    return [
      h('div', { className: ['prompt'], dataCopy: '' }, [
        h('div', { className: ['prompt-head'] }, [
          ownIcon.length > 0 ? ownIcon : icon('sparkles', 'prompt-icon'),
          h('span', description === undefined ? context.texts.prompt : context.inlineMarkdown(description)),
        ]),
        h('details', { className: ['expandable'] }, [
          h('summary', [icon('chevron-right', 'chevron'), h('span', context.texts.showPrompt)]),
          h('pre', { className: ['prompt-text'], tabIndex: 0 }, [h('code', context.markdown(children).trim())]),
        ]),
      ]),
    ];
  },
};

/** A `Snippet` without a file. */
const snippet: Component = { html: ({ children }, context) => context.children(children) };

export const pageComponents: Components = {
  Update: update,
  View: view,
  Visibility: visibility,
  RequestExample: example,
  ResponseExample: example,
  Panel: panel,
  Prompt: prompt,
  Snippet: snippet,
};
