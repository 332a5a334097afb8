import { html } from '#shared/docs/render/html.ts';
import type { Question, View, Visit } from '../page.ts';
import { pageHead } from './pieces.ts';

/** Field of a form that was confirmed. A script adds it when it has asked. */
export const sure = 'sure';

/** The page that asks before a form acts. It sends the form again with the same fields. */
export function confirmation(
  { address, token }: Pick<Visit, 'address' | 'token'>,
  { title, sentence, button }: Question,
  fields: Readonly<Record<string, string>>,
): View {
  const [path = ''] = address.split('?');
  const content = html`${pageHead(title, sentence)}
<form method="post" action="${address}" class="form">${token}${Object.entries({ ...fields, [sure]: 'yes' }).map(
    ([name, value]) => (name === 'token' ? '' : html`<input type="hidden" name="${name}" value="${value}">`),
  )}
<div class="actions"><button class="button primary">${button}</button><a class="button" href="${path.replace(/\/[^/]*$/, '')}">Back</a></div></form>`;
  return { title, content };
}
