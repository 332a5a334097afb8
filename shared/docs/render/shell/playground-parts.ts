import type { PlaygroundSettings } from '#shared/docs/reference/playground-settings.ts';
import type { PlaygroundForm } from '#shared/docs/render/site/playground-form.ts';
import { icon } from '../content/icon.ts';
import { writeContent } from '../content/write-content.ts';
import { html, SafeHtml, scriptJson } from '../html.ts';
import type { Language } from '../interface-texts/language.ts';

/** Parts of an operation's line that are shown only to readers with scripts. */
export type PlaygroundParts = {
  button: SafeHtml;
  /** Form of the dialog that the button opens, as a block of data. Browsers do not run it, so the content security policy does not apply. */
  form: SafeHtml | undefined;
  isInteractive: boolean;
};

const icons = {
  play: writeContent([icon('play', '')]).html,
  copy: writeContent([icon('copy', '')]).html,
};

/** Makes the parts of the playground. The button stays hidden without scripts, and if `config.js` switches requests off. */
export function playgroundParts(
  form: PlaygroundForm,
  settings: PlaygroundSettings,
  { texts, textsName = 'en' }: Pick<Language, 'texts' | 'textsName'>,
): PlaygroundParts {
  if (settings.display === 'simple') {
    const server = form.servers.find(({ url }) => /^https?:/i.test(url))?.url.replace(/\/$/, '') ?? '';
    const button = html`<button type="button" class="endpoint-button copy-endpoint" data-copy="${server + form.path}" aria-label="${texts.scripts.copy}" hidden>${icons.copy}</button>`;
    return { button, form: undefined, isInteractive: false };
  }
  const shown = settings.prefill === true ? { ...form, prefill: true } : form;
  return {
    button: html`<button type="button" class="endpoint-button try-operation" aria-haspopup="dialog" hidden>${icons.play}${texts.playground.tryIt}</button>`,
    form: html`<script type="application/json" class="playground-form" hidden data-texts="${textsName}">${new SafeHtml(scriptJson(shown))}</script>`,
    isInteractive: true,
  };
}
