import { expect, test } from 'vitest';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { siteInBrowser } from './site-folder.ts';

const content = (id: string) => `
<section id="${id}">
<h2>Heading</h2>
<p>Text with a <a href="/">link</a></p>
<ul><li>Item</li></ul>
</section>
`;

const files = {
  'index.mdx': `---\ntitle: Prose\n---\n${content('inside')}
<div className="not-prose">
${content('outside')}
<h2 id="large" className="text-3xl mt-8">With classes</h2>
<div className="prose">
${content('again')}
<div className="not-prose">
${content('inner')}
</div>
</div>
<Note>
${content('callout')}
</Note>
<Card title="Card">
${content('card')}
</Card>
<table id="plain"><thead><tr><th>Head</th></tr></thead><tbody><tr><td>Cell with <code>code</code></td></tr></tbody></table>
</div>

<div className="prose prose-gray">
<div className="not-prose">
<div className="prose">
${content('third')}
</div>
</div>
</div>

<a id="alone" className="not-prose" href="/">A link</a>
`,
};

const look = (selector: string) => `(() => {
  const of = (name) => getComputedStyle(document.querySelector('${selector} ' + name));
  return [of('h2').fontSize, of('p').marginTop, of('p a').textDecorationLine, of('ul').listStyleType];
})()`;

describeWithServers(['chromium'], 'not-prose in a browser', () => {
  const site = siteInBrowser(files);

  test('switches the typography off, prose switches it on again, and classes have their effect', async () => {
    const page = await site.open('index.html');
    expect(await page.evaluate(look('#inside'))).toEqual(['24px', '20px', 'underline', 'disc']);
    expect(await page.evaluate(look('#outside'))).toEqual(['16px', '0px', 'none', 'none']);
    for (const id of ['#again', '#third'])
      expect(await page.evaluate(look(id))).toEqual(['24px', '20px', 'underline', 'disc']);
    expect(await page.evaluate(look('#inner'))).toEqual(['16px', '0px', 'none', 'none']);
    for (const id of ['#callout', '#card'])
      expect(await page.evaluate(look(id))).toEqual(['24px', expect.any(String), 'underline', 'disc']);
    const cell = (name: string) => `getComputedStyle(document.querySelector('#plain ${name}'))`;
    expect(await page.evaluate(`[${cell('th')}.borderBottomWidth, ${cell('td')}.paddingBlockEnd]`)).toEqual([
      '0px',
      '1px',
    ]);
    expect(await page.evaluate(`${cell('code')}.boxShadow`)).toBe('none');
    const large =
      "(({ fontSize, marginTop }) => [fontSize, marginTop])(getComputedStyle(document.querySelector('#large')))";
    expect(await page.evaluate(large)).toEqual(['30px', '32px']);
    expect(await page.evaluate("getComputedStyle(document.querySelector('#alone')).textDecorationLine")).toBe('none');
    expect(site.problems).toEqual([]);
    await site.keepPicture(page, 'not-prose');
  });
});
