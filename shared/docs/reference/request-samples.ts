import { csharpHttpclient } from '@scalar/snippetz/plugins/csharp/httpclient';
import { goNative } from '@scalar/snippetz/plugins/go/native';
import { javaUnirest } from '@scalar/snippetz/plugins/java/unirest';
import { jsFetch } from '@scalar/snippetz/plugins/js/fetch';
import { phpCurl } from '@scalar/snippetz/plugins/php/curl';
import { pythonRequests } from '@scalar/snippetz/plugins/python/requests';
import { rubyNative } from '@scalar/snippetz/plugins/ruby/native';
import { shellCurl } from '@scalar/snippetz/plugins/shell/curl';
import {
  bytesAsText,
  commandBody,
  cookieHeader,
  type Har,
  harOf,
  literally,
  pythonBody,
  type SampleRequest,
  textsIn,
} from './sample-har.ts';
import type { SharedCode } from '#shared/docs/render/evaluate/static-tree.ts';
import { RecentValues } from '#shared/docs/render/recent-values.ts';
import { jsonText, phpText, type Quoting, rubyText, scriptText, shellText, TextMarks } from './sample-literals.ts';

export type CodeSample = { language: string; title: string; code: string; shared?: SharedCode };

type Language = {
  names: string[];
  title: string;
  language: string;
  generate: typeof shellCurl.generate;
  quoting?: Quoting;
  /** The library encodes the query by itself. */
  encodesQuery?: true;
  /** What the library cannot write: the same in a form that it can. */
  prepared?: (request: Har, marks: TextMarks) => Har;
  /** What makes a whole program of the code, in which marks are still marks. */
  finished?: (code: string) => string;
};

const python: Language = {
  names: ['python', 'py'],
  title: 'Python',
  language: 'python',
  generate: pythonRequests.generate,
  quoting: { escape: jsonText, places: [] },
  encodesQuery: true,
  prepared: pythonBody,
  finished: (code) => {
    // Bytes between quotes could not have all characters.
    const withText = code.replace(/^( {4}data=)b("(?:[^"\\\n]|\\.)*")/m, '$1$2.encode()');
    return `import requests\n\nresponse = ${withText}\n\nprint(response.text)`;
  },
};

/** In the order in which they are shown. */
const languages: Language[] = [
  {
    names: ['curl', 'bash', 'shell', 'sh'],
    title: 'cURL',
    language: 'bash',
    generate: shellCurl.generate,
    quoting: { escape: shellText, places: [] },
    prepared: commandBody,
    finished: literally,
  },
  python,
  {
    names: ['javascript', 'js', 'node', 'typescript'],
    title: 'JavaScript',
    language: 'javascript',
    generate: jsFetch.generate,
    quoting: { escape: scriptText, places: ['part'] },
    prepared: cookieHeader,
  },
  {
    names: ['php'],
    title: 'PHP',
    language: 'php',
    generate: phpCurl.generate,
    quoting: {
      escape: phpText,
      places: ['header', 'cookie', 'field', 'part', 'body'],
      encodes: ['cookie', 'field'],
    },
    // Its address stands where variables are filled in.
    finished: (code) => code.replace(/^.*$/m, (line) => line.replaceAll(/\$(?!ch = )/g, '\\$')),
  },
  { names: ['go', 'golang'], title: 'Go', language: 'go', generate: goNative.generate },
  { names: ['java'], title: 'Java', language: 'java', generate: javaUnirest.generate },
  {
    names: ['ruby', 'rb'],
    title: 'Ruby',
    language: 'ruby',
    generate: rubyNative.generate,
    quoting: { escape: rubyText, places: ['body'] },
    // Otherwise what is in `#{}` would run, and backslashes would be gone.
    finished: (code) => code.replace(/^request\.body = <<~JSON$/m, "request.body = <<~'JSON'"),
  },
  {
    names: ['csharp', 'c#', 'dotnet'],
    title: 'C#',
    language: 'csharp',
    generate: csharpHttpclient.generate,
    quoting: { escape: jsonText, places: ['header', 'cookie', 'field'] },
    prepared: bytesAsText,
  },
];

/** Requests of an interface often differ in their path alone: then their code does, too. */
const recentSamples = new RecentValues<CodeSample[]>(500_000);

/** The request in the named languages, or in all eight. A language that is not known is left out. The same request gives the same code. */
export function requestSamples(request: SampleRequest, wanted?: readonly string[]): CodeSample[] {
  const found = withoutPath(request);
  if (found === undefined) return samplesOf(request, wanted);
  const { mark, path, marked } = found;
  return recentSamples
    .get(JSON.stringify([marked, wanted]), () => samplesOf(marked, wanted))
    .map(({ code, ...sample }) => ({
      ...sample,
      code: code.replaceAll(mark, path),
      shared: { code, mark, text: path },
    }));
}

/** One that no language and no library writes in another way than it is. */
const plainPath = /^https?:\/\/[a-z0-9.-]+(?::\d+)?((?:\/(?=[^/]*[^./])(?:[\w.~-]|\{[\w.-]{1,100}\})+)+\/?)$/;
const longestPath = 200;
/** Python has a longer address in a line of its own. */
const shortAddress = 40;

/** A request with a mark for its path that the library treats as it would treat the path. */
function withoutPath(request: SampleRequest): { marked: SampleRequest; mark: string; path: string } | undefined {
  const { url } = request;
  const path = plainPath.exec(url)?.[1];
  if (path === undefined || path.length > longestPath) return undefined;
  const host = url.slice(0, -path.length);
  const texts = textsIn({ ...request, url: host });
  const hasBraces = path.includes('{');
  for (let name = 'zq'; name.length < shortAddress; name += 'q') {
    const mark = hasBraces ? `/{${name}}` : `/${name}`;
    const isLong = (address: string): boolean => address.length > shortAddress;
    if (isLong(host + mark) && !isLong(url)) return undefined;
    if (isLong(host + mark) === isLong(url) && !texts.some((text) => text.includes(name)))
      return { marked: { ...request, url: host + mark }, mark, path };
  }
  return undefined;
}

function samplesOf(request: SampleRequest, wanted: readonly string[] | undefined): CodeSample[] {
  const chosen =
    wanted === undefined
      ? languages
      : [...new Set(wanted.flatMap((name) => languages.find(({ names }) => names.includes(name.toLowerCase())) ?? []))];
  const marks = new TextMarks(textsIn(request));
  const braces = new Set(
    [request.url, ...request.query.flat()].flatMap((text) => [...text.matchAll(inBraces)].map(([, name = '']) => name)),
  );
  return chosen.flatMap((each) => {
    try {
      const { title, language, generate, prepared, finished, quoting = noQuoting } = each;
      const har = harOf(request, quoting, each.encodesQuery === true, marks);
      const written = generate(prepared ? prepared(har, marks) : har);
      const readable = written.replaceAll(/%7B([\w.-]{1,100})%7D/gi, (encoded, name: string) =>
        braces.has(name) ? `{${name}}` : encoded,
      );
      const code = marks.filled(finished ? finished(readable) : readable, quoting);
      return [{ language, title, code: code.trim() }];
    } catch {
      // The library does not take every address that an author can write.
      return [];
    }
  });
}

const inBraces = /\{([\w.-]{1,100})\}/g;
const noQuoting: Quoting = { escape: (text) => text, places: [] };
