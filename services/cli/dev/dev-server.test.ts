import { describe, expect, test } from 'vitest';
import { withLiveScript } from './browser-scripts.ts';
import { devServer, isAllowed, isOfOtherSite } from './dev-server.ts';

const own = ['localhost', '127.0.0.1', '[::1]'];

describe('the host name of a request', () => {
  test.each(['localhost:3000', 'LOCALHOST', '127.0.0.1:3001', '[::1]:3000'])('%s is allowed', (host) => {
    expect(isAllowed(host, own)).toBe(true);
  });

  test.each([
    'evil.example:3000',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '192.168.1.7:3000',
    '',
    undefined,
  ])('%s is refused', (host) => {
    expect(isAllowed(host, own)).toBe(false);
  });

  test('may be any address, but no other name, if the server listens on all addresses', () => {
    expect(isAllowed('192.168.1.7:3000', own, true)).toBe(true);
    expect(isAllowed('[fe80::1]:3000', own, true)).toBe(true);
    expect(isAllowed('evil.example', own, true)).toBe(false);
  });
});

test('an address of another machine is refused with a sentence', async () => {
  const site = { answer: () => Promise.reject(new Error('unused')) } as unknown as Parameters<typeof devServer>[0];
  const tabs = { close: () => undefined } as unknown as Parameters<typeof devServer>[1];
  await expect(devServer(site, tabs, { port: 0, host: '192.0.2.1', onError: () => undefined })).rejects.toThrow(
    '192.0.2.1 is not an address of this machine',
  );
});

describe('a request of a page', () => {
  const asked = (site: string, mode: string): boolean =>
    isOfOtherSite({ 'sec-fetch-site': site, 'sec-fetch-mode': mode });

  test('of another site or another port is refused, because it could include the search index as its own script', () => {
    expect(asked('cross-site', 'no-cors')).toBe(true);
    expect(asked('same-site', 'no-cors')).toBe(true);
    expect(asked('cross-site', 'cors')).toBe(true);
  });

  test('of the site itself, a link from another site, and a program are answered', () => {
    expect(asked('same-origin', 'no-cors')).toBe(false);
    expect(asked('none', 'navigate')).toBe(false);
    expect(asked('cross-site', 'navigate')).toBe(false);
    expect(isOfOtherSite({})).toBe(false);
  });
});

describe('the script of open pages', () => {
  const page = { path: 'a/"b"', key: 'k' };
  const tag = '<script src="/_bindery/dev/live.js" data-page="a/&quot;b&quot;" data-key="k"></script>\n';

  test('comes before the scripts that set up the elements of a page', () => {
    const end = '<script src="../_bindery/site.js"></script>\n<script src="../x.js"></script>\n</body>';
    expect(withLiveScript(`<p></p>\n${end}`, page)).toBe(`<p></p>\n${tag}${end}`);
    const german = `<script src="../_bindery/texts/de.js"></script>\n${end}`;
    expect(withLiveScript(`<p></p>\n${german}`, page)).toBe(`<p></p>\n${tag}${german}`);
  });

  test('is at the end of a page without such scripts', () => {
    expect(withLiveScript('<body></body>\n</html>')).toBe(
      '<body><script src="/_bindery/dev/live.js"></script>\n</body>\n</html>',
    );
  });
});
