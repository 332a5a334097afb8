import { h } from 'hastscript';
import { icon } from '#shared/docs/render/content/icon.ts';
import { toText } from '#shared/docs/render/content/finish-content.ts';
import { markdownOf } from '#shared/docs/render/markdown/page-markdown.ts';
import { type Component, iconProp, textProp, textsProp } from './component.ts';
import { codeGroup } from './tabs.ts';

/** `Update`: an entry of a changelog, with an address and an item in the page's feed. */
export const update: Component = ({ props, children }, context) => {
  const label = textProp(props, 'label') ?? 'Update';
  const id = textProp(props, 'id');
  const anchor = id === undefined ? context.anchors.claim(label) : context.anchors.claimWritten(id);
  const description = textProp(props, 'description');
  const tags = textsProp(props, 'tags');
  const feed = props.get('rss');
  context.toc.push({ anchor, title: label, depth: 2 });
  const content = context.children(children);
  const fed = feed instanceof Map ? { title: textProp(feed, 'title'), text: textProp(feed, 'description') } : undefined;
  context.feedItems.push({
    anchor,
    title: fed?.title ?? label,
    text: (fed?.text ?? [description ?? '', toText(content)].join('\n').trim()).slice(0, 5000),
    tags,
  });
  return [
    h('section', { className: ['update'], id: anchor, ...(tags.length > 0 && { dataTags: tags.join(',') }) }, [
      h('div', { className: ['update-head'] }, [
        h('h2', { className: ['update-label'], dataNoToc: '' }, [h('a', { href: `#${anchor}` }, label)]),
        ...(description === undefined
          ? []
          : [h('p', { className: ['update-description'] }, context.inlineMarkdown(description))]),
        ...(tags.length === 0
          ? []
          : [
              h(
                'p',
                { className: ['update-tags'] },
                tags.map((tag) => h('span', { className: ['badge'], dataColor: 'gray' }, tag)),
              ),
            ]),
      ]),
      h('div', { className: ['update-content'] }, content),
    ]),
  ];
};

/** `View`: one of several versions of the page's content, which the reader chooses between. */
export const view: Component = ({ props, children }, context) => {
  const title = textProp(props, 'title') ?? 'View';
  return [
    h('section', { className: ['view'], dataView: title }, [
      h('p', { className: ['view-title'] }, [...iconProp(props, 'view-icon', context), { type: 'text', value: title }]),
      ...context.children(children),
    ]),
  ];
};

/** `Visibility`: what is for agents is in the Markdown of the page only. */
export const visibility: Component = ({ props, children }, context) =>
  textProp(props, 'for') === 'agents' ? [] : context.children(children);

/** `RequestExample` and `ResponseExample` stand beside the text where there is room. */
export const example: Component = (element, context) => {
  const isRequest = element.name === 'RequestExample';
  const content = codeGroup(element, context);
  context.aside.push(
    h(
      'section',
      {
        className: ['example', isRequest ? 'request-example' : 'response-example'],
        ariaLabel: isRequest ? 'Request' : 'Response',
      },
      [h('p', { className: ['example-title'] }, isRequest ? 'Request' : 'Response'), ...content],
    ),
  );
  return [];
};

/** `Panel` takes the place of the table of contents. */
export const panel: Component = ({ children }, context) => {
  context.aside.push(h('section', { className: ['panel'] }, context.children(children)));
  return [];
};

/** `Prompt`: text to be given to a model; shown on demand, copied as it is. */
export const prompt: Component = ({ props, children }, context) => {
  const description = textProp(props, 'description');
  const sign = iconProp(props, 'prompt-icon', context);
  return [
    h('div', { className: ['prompt'], dataCopy: '' }, [
      h('div', { className: ['prompt-head'] }, [
        ...(sign.length > 0 ? sign : icon('sparkles', 'prompt-icon')),
        h(
          'span',
          description === undefined ? [{ type: 'text', value: 'Prompt' }] : context.inlineMarkdown(description),
        ),
      ]),
      h('details', { className: ['expandable'] }, [
        h('summary', [...icon('chevron-right', 'chevron'), h('span', 'Show prompt')]),
        h('pre', { className: ['prompt-text'], tabIndex: 0 }, [h('code', markdownOf(children).trim())]),
      ]),
    ]),
  ];
};

export const snippetWithoutFile: Component = ({ children }, context) => context.children(children);

export const image: Component = (element, context) => context.children([{ ...element, name: 'img' }]);
