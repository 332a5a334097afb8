import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { docsFromMint } from './docs-from-mint.ts';
import type { JsonObject } from './json-values.ts';
import { checkPictures, readSettings } from './read-settings.ts';
import { siteSettingsSchema } from './site-model.ts';

function read(config: JsonObject) {
  const diagnostics: Diagnostic[] = [];
  const settings = readSettings(config, 'docs.json', (found) => diagnostics.push(found));
  return { settings: siteSettingsSchema.parse(settings), codes: diagnostics.map(({ code }) => code), diagnostics };
}
const minimal = { theme: 'mint', name: 'Acme', colors: { primary: '#112233' } };

describe('settings of docs.json', () => {
  it('require only four keys', () => {
    const { settings, codes } = read({ ...minimal, navigation: {} });
    expect(codes).toEqual([]);
    expect(settings).toMatchObject({
      name: 'Acme',
      appearance: { default: 'system', strict: false },
      iconLibrary: 'fontawesome',
      notFound: { redirect: true },
    });
    expect(Object.keys(settings)).not.toContain('banner');
  });

  it('without a name are refused, and without theme or colour reported', () => {
    expect(() => read({ theme: 'mint' })).toThrow('docs.json has no "name"');
    expect(read({ name: 'A' })).toMatchObject({
      settings: { theme: 'mint', colors: { primary: '#16A34A' } },
      codes: ['missing-setting', 'missing-setting'],
    });
  });

  it('of a background that are neither a colour nor a decoration are reported', () => {
    const background = { color: { light: 'white', dark: '#222831' }, decoration: 'stripes' };
    const { diagnostics } = read({ name: 'A', theme: 'mint', colors: { primary: '#112233' }, background });
    expect(diagnostics.map(({ code, message }) => [code, message.split(/[ ;]/)[0]])).toEqual([
      ['bad-setting', '"background.decoration"'],
      ['bad-setting', '"background.color.light"'],
    ]);
  });

  it('with other types, and unknown themes, are reported', () => {
    const { settings, diagnostics } = read({ name: 'A', theme: 'nope', colors: '#112233', navbar: [], seo: null });
    expect(settings.colors.primary).toBe('#16A34A');
    expect(diagnostics.map(({ code, message }) => [code, message.split(/[ ;]/)[0]])).toEqual([
      ['bad-setting', '"theme"'],
      ['bad-setting', '"colors"'],
      ['bad-setting', '"navbar"'],
      ['missing-setting', 'docs.json'],
    ]);
  });

  it('accept one value, or a light and a dark one', () => {
    expect(read({ ...minimal, logo: '/l.svg', favicon: { light: '/f.svg' } }).settings).toMatchObject({
      logo: { light: '/l.svg', dark: '/l.svg' },
      favicon: { light: '/f.svg', dark: '/f.svg' },
    });
  });

  it('exclude unsafe links, unknown values, and unknown keys', () => {
    const { settings, codes } = read({
      ...minimal,
      logo: { light: '/l.svg', href: 'javascript:alert(1)' },
      navbar: {
        links: [
          { label: 'x', href: 'data:text/html,x' },
          { type: 'github', href: 'https://github.com/a/b' },
        ],
        primary: { type: 'button', href: 'javascript:x' },
      },
      footer: { socials: { x: 'https://x.com/a', website: 'javascript:x' } },
      icons: { library: 'wingdings' },
      colors: { primary: '#112233', light: 'red;}' },
      surprise: true,
    });
    expect(settings.logo).toEqual({ light: '/l.svg', dark: '/l.svg' });
    expect(settings.navbar).toEqual({ links: [{ label: 'GitHub', href: 'https://github.com/a/b', type: 'github' }] });
    expect(settings.footer.socials).toEqual({ x: 'https://x.com/a' });
    expect(settings.iconLibrary).toBe('fontawesome');
    expect(codes.sort()).toEqual([
      'bad-link',
      'bad-link',
      'bad-link',
      'bad-link',
      'bad-setting',
      'bad-setting',
      'unknown-setting',
    ]);
  });

  it('that are misspelt, and hosts without https, are named with what was probably meant', () => {
    const { diagnostics } = read({
      ...minimal,
      colours: {},
      navbar: {
        links: [
          { label: 'Blog', href: 'blog.acme.com/news' },
          { label: 'Page', href: 'guides/node.js' },
        ],
      },
    });
    expect(diagnostics.map(({ message }) => message)).toEqual([
      '"colours" is not a known setting, so it has no effect; did you mean "colors"?',
      '"navbar.links.href" is "blog.acme.com/news", which is a path of this site. Write "https://blog.acme.com/news" if it is a host.',
    ]);
  });

  it('that name pictures that are not there are reported', () => {
    const { settings } = read({
      ...minimal,
      logo: { light: './images/light.svg', dark: './images/dark.svg' },
      favicon: { light: '/images/light.svg', dark: 'https://acme.com/favicon.ico' },
    });
    const found: Diagnostic[] = [];
    const isFile = (path: string) => path === 'images/light.svg';
    checkPictures(settings, 'docs.json', isFile, (one) => found.push(one));
    expect(found).toEqual([
      {
        severity: 'warning',
        code: 'missing-file',
        file: 'docs.json',
        message: '"logo" names the file "./images/dark.svg", which is not in the project. Add it, or correct its path.',
      },
    ]);
  });

  it('have variables, instructions and a page for missing addresses', () => {
    const { settings } = read({
      ...minimal,
      variables: { v: 2, 'no good': 'x' },
      markdown: { instructions: 'Be kind.' },
      errors: { 404: { redirect: false, title: 'Gone' } },
    });
    expect(settings).toMatchObject({
      variables: { v: '2' },
      markdownInstructions: ['Be kind.'],
      notFound: { redirect: false, title: 'Gone' },
    });
  });
});

describe('mint.json', () => {
  it('becomes the same settings', () => {
    const docs = docsFromMint({
      name: 'Keep',
      colors: { primary: '#112233' },
      modeToggle: { default: 'dark', isHidden: true },
      topbarLinks: [{ name: 'App', url: 'https://a.example' }],
      topbarCtaButton: { type: 'github', url: 'https://github.com/a/b' },
      footerSocials: [{ type: 'x', url: 'https://x.com/a' }],
      api: { baseUrl: 'https://api.example' },
      navigation: [],
    });
    expect(read(docs)).toMatchObject({
      codes: [],
      settings: {
        appearance: { default: 'dark', strict: true },
        navbar: { links: [{ label: 'App', href: 'https://a.example' }], primary: { label: 'GitHub' } },
        footer: { socials: { x: 'https://x.com/a' } },
        api: { mdx: { server: 'https://api.example' } },
      },
    });
  });

  it('gives each tab and anchor the groups of its folder', () => {
    const { navigation } = docsFromMint({
      navigation: [
        { group: 'A', pages: ['a'] },
        { group: 'B', pages: [{ group: 'C', pages: ['api/b'] }] },
        { group: 'D', pages: ['help/d'] },
      ],
      tabs: [{ name: 'API', url: 'api' }],
      anchors: [
        { name: 'Help', url: '/help', icon: 'x' },
        { name: 'Forum', url: 'https://f.example' },
      ],
      primaryTab: { name: 'Guides' },
    });
    expect(navigation).toEqual({
      tabs: [
        { tab: 'Guides', groups: [{ group: 'A', pages: ['a'] }] },
        { tab: 'API', hidden: false, groups: [{ group: 'B', pages: [{ group: 'C', pages: ['api/b'] }] }] },
      ],
      global: {
        anchors: [
          { anchor: 'Help', icon: 'x', hidden: false, groups: [{ group: 'D', pages: ['help/d'] }] },
          { anchor: 'Forum', hidden: false, href: 'https://f.example' },
        ],
      },
    });
  });
});
