import { readFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';
import { describe, expect, test } from 'vitest';

const scripts = ['words', 'engine', 'marking']
  .map((name) => readFileSync(new URL(`scripts/search/${name}.js`, import.meta.url), 'utf8'))
  .join('\n');

type Section = [anchor: string, heading: string, text: string];
type TestPage = { path: string; title: string; sections: Section[]; keywords?: string; boost?: number };

const pages: TestPage[] = [
  {
    path: 'guides/redirects',
    title: 'Redirects',
    sections: [
      ['', '', 'Send readers from an old address to a new one.'],
      ['limits', 'Limits', 'A site may have a thousand of them. The retrievalPageSize is not limited.'],
    ],
  },
  {
    path: 'guides/deploy',
    title: 'Deploy',
    sections: [
      ['', '', 'Deploying takes a minute. Redirects take effect at once.'],
      ['keys', 'API keys', 'Create an API key. Café owners need two.'],
    ],
  },
  {
    path: 'zh/start',
    title: '快速开始',
    sections: [
      ['', '', '在本指南中配置重定向，并部署文档站点。'],
      ['b', '键', '创建密钥。'],
    ],
  },
  { path: 'ja/start', title: 'はじめに', sections: [['', '', 'ドキュメントを公開する方法を説明します。']] },
  { path: 'th/start', title: 'เริ่มต้น', sections: [['', '', 'คู่มือการติดตั้งระบบค้นหา']] },
  { path: 'misc', title: 'Other', sections: [['', '', 'Nothing of interest.']], keywords: 'POST /v1/jobs' },
];

/** Addresses of the sections that a query finds, best first. */
function find(query: string, language = 'en', searched = pages): string[] {
  const context = createContext({ Intl });
  runInContext(scripts, context);
  context['index'] = {
    pages: searched.map(({ path, title, keywords, boost }) => [path, title, '', 0, 0, keywords, boost]),
  };
  context['parts'] = [searched.slice(0, 2), searched.slice(2)].map((part) => part.map(({ sections }) => sections));
  context['query'] = query;
  context['language'] = language;
  const found: unknown = runInContext(
    `var engine = searchEngine(index); engine.add(0, parts[0]); engine.add(parts[0].length, parts[1]);
     JSON.stringify(engine.find(query, language).matches.map((match) => [match.page, engine.section(match)[0]]))`,
    context,
  );
  return (JSON.parse(String(found)) as [number, string][]).map(([page, anchor]) => `${searched[page]?.path}#${anchor}`);
}

/** A text with the words of a query in brackets. */
function marked(text: string, query: string): string {
  const context = createContext({ Intl, text, query });
  const ranges = JSON.parse(
    String(runInContext(`${scripts}; JSON.stringify(rangesOf(text, wordsOf(query)))`, context)),
  ) as [number, number][];
  return ranges.reduceRight(
    (made, [from, to]) => `${made.slice(0, from)}[${made.slice(from, to)}]${made.slice(to)}`,
    text,
  );
}

const snippet = (text: string, query: string): string =>
  String(runInContext(`${scripts}; snippet(text, wordsOf(query))`, createContext({ Intl, text, query })));

describe('the search in the bundle', () => {
  test('a title counts more than a text, and inflected forms match', () => {
    expect(find('redirect')[0]).toBe('guides/redirects#');
    expect(find('deployment')[0]).toMatch(/^guides\/deploy#/);
  });

  test('a section is found by its heading', () => {
    expect(find('api keys')[0]).toBe('guides/deploy#keys');
  });

  test.each([
    ['redir', 'guides/redirects#'],
    ['crea', 'guides/deploy#keys'],
  ])('a prefix matches while a word is typed: %s', (query, first) => {
    expect(find(query)[0]).toBe(first);
  });

  test.each([
    ['redirets', 'guides/redirects#'],
    ['dploy', 'guides/deploy#'],
    ['thosuand', 'guides/redirects#limits'],
  ])('an unknown word matches similar ones: %s', (query, first) => {
    expect(find(query)[0]).toBe(first);
  });

  test('accents and case are ignored, and names are found by their parts', () => {
    expect(find('CAFE owner')[0]).toBe('guides/deploy#keys');
    expect(find('page size')[0]).toBe('guides/redirects#limits');
    expect(find('ｃａｆé')[0]).toBe('guides/deploy#keys');
  });

  test.each([
    ['重定向', 'zh', 'zh/start#'],
    ['部署站点', 'zh', 'zh/start#'],
    ['密钥', 'zh', 'zh/start#b'],
    ['公開方法', 'ja', 'ja/start#'],
    ['ドキュメント', 'ja', 'ja/start#'],
    ['ค้นหา', 'th', 'th/start#'],
    ['ติดตั้งระบบ', 'th', 'th/start#'],
  ])('languages without spaces: %s', (query, language, first) => {
    expect(find(query, language)[0]).toBe(first);
  });

  test('keywords find a page, and its boost moves it', () => {
    expect(find('POST /v1/jobs')[0]).toBe('misc#');
    const twins = ['a', 'b'].map((path): TestPage => ({ path, title: 'Twin', sections: [['', '', 'same']] }));
    expect(find('twin', 'en', twins)).toEqual(['a#', 'b#']);
    const boosted = twins.map((page) => (page.path === 'b' ? { ...page, boost: 2 } : page));
    expect(find('twin', 'en', boosted)).toEqual(['b#', 'a#']);
  });

  test('stop words count only alone', () => {
    expect(find('how do I use the redirects')[0]).toBe('guides/redirects#');
    expect(find('of')).toContain('misc#');
  });

  test.each(['', '  ', '.*+?^${}()|[]\\', '<img src=x onerror=alert(1)>', 'a'.repeat(10_000), '\ud800', '__proto__'])(
    'any query is answered: %j',
    (query) => {
      expect(Array.isArray(find(query))).toBe(true);
    },
  );
});

describe('marking', () => {
  test.each([
    ['Redirects take effect', 'redirect', '[Redirects] take effect'],
    ['retrievalPageSize', 'page', 'retrieval[Page]Size'],
    ['page and homepage', 'page', '[page] and homepage'],
    ['Le café crème', 'cafe', 'Le [café] crème'],
    ['在本指南中配置重定向', '重定向', '在本指南中配置[重定向]'],
    ['İstanbul’da café', 'cafe', 'İstanbul’da [café]'],
    ['unfinished words', 'unfin', '[unfin]ished words'],
    ['nothing here', 'else', 'nothing here'],
  ])('%s ← %s', (text, query, expected) => {
    expect(marked(text, query)).toBe(expected);
  });

  test('a long text is cut around the words, between words', () => {
    const text = `${'before '.repeat(60)}the needle is here ${'after '.repeat(60)}`;
    const shown = snippet(text, 'needle');
    expect(shown).toMatch(/^… .*the needle is here .* …$/);
    expect(shown.length).toBeLessThan(170);
    expect(snippet('short', 'needle')).toBe('short');
    // The list of results shows one line of a section.
    expect(snippet(`${'straw '.repeat(16)}needle and hay`, 'needle')).toMatch(/^… (?:straw ){1,6}needle and hay$/);
  });
});
