import { csharpHttpclient } from '@scalar/snippetz/plugins/csharp/httpclient';
import { goNative } from '@scalar/snippetz/plugins/go/native';
import { javaUnirest } from '@scalar/snippetz/plugins/java/unirest';
import { jsFetch } from '@scalar/snippetz/plugins/js/fetch';
import { phpCurl } from '@scalar/snippetz/plugins/php/curl';
import { pythonRequests } from '@scalar/snippetz/plugins/python/requests';
import { rubyNative } from '@scalar/snippetz/plugins/ruby/native';
import { shellCurl } from '@scalar/snippetz/plugins/shell/curl';

/** A request to show. Names in braces stay in its address. */
export type SampleRequest = {
  method: string;
  /** With everything but the query. */
  url: string;
  query: [string, string][];
  headers: [string, string][];
  cookies: [string, string][];
  /** `fields`: of a form. */
  body: { mimeType: string; text: string; fields?: [string, string][] } | undefined;
};

export type CodeSample = { language: string; title: string; code: string };

type Language = {
  names: string[];
  title: string;
  language: string;
  generate: typeof shellCurl.generate;
  /** The library writes the query of the address as it is. */
  writesQuery?: true;
  /** What makes a whole program of the code. */
  around?: [before: string, after: string];
};

/** In the order in which they are shown. */
const languages: Language[] = [
  {
    names: ['curl', 'bash', 'shell', 'sh'],
    title: 'cURL',
    language: 'bash',
    generate: shellCurl.generate,
    writesQuery: true,
  },
  {
    names: ['python', 'py'],
    title: 'Python',
    language: 'python',
    generate: pythonRequests.generate,
    around: ['import requests\n\nresponse = ', '\n\nprint(response.text)'],
  },
  {
    names: ['javascript', 'js', 'node', 'typescript'],
    title: 'JavaScript',
    language: 'javascript',
    generate: jsFetch.generate,
    writesQuery: true,
  },
  { names: ['php'], title: 'PHP', language: 'php', generate: phpCurl.generate, writesQuery: true },
  { names: ['go', 'golang'], title: 'Go', language: 'go', generate: goNative.generate },
  { names: ['java'], title: 'Java', language: 'java', generate: javaUnirest.generate },
  { names: ['ruby', 'rb'], title: 'Ruby', language: 'ruby', generate: rubyNative.generate },
  {
    names: ['csharp', 'c#', 'dotnet'],
    title: 'C#',
    language: 'csharp',
    generate: csharpHttpclient.generate,
    writesQuery: true,
  },
];

/** Longer ones are cut by no library, and nobody reads them eight times. */
const maxBody = 3_000;

/** The request in the named languages, or in all eight. A language that is not known is left out. The same request gives the same code. */
export function requestSamples(request: SampleRequest, wanted?: readonly string[]): CodeSample[] {
  const chosen =
    wanted === undefined
      ? languages
      : [...new Set(wanted.flatMap((name) => languages.find(({ names }) => names.includes(name.toLowerCase())) ?? []))];
  const har = harOf(request);
  const encoded = harOf({ ...request, query: request.query.map(([name, value]) => [name, encodeURIComponent(value)]) });
  return chosen.flatMap(({ title, language, generate, writesQuery, around = ['', ''] }) => {
    try {
      const written = around[0] + generate(writesQuery ? encoded : har) + around[1];
      const code = written.replaceAll(/%7B([\w.-]{1,100})%7D/gi, '{$1}');
      return [{ language, title, code: code.trim() }];
    } catch {
      // The library does not take every address that an author can write.
      return [];
    }
  });
}

type Har = NonNullable<Parameters<Language['generate']>[0]>;

function harOf({ method, url, query, headers, cookies, body }: SampleRequest): Har {
  const pairs = (list: readonly [string, string][]) => list.map(([name, value]) => ({ name, value }));
  const text = body === undefined || body.text.length <= maxBody ? body?.text : '{}';
  return {
    method,
    url,
    httpVersion: 'HTTP/1.1',
    queryString: pairs(query),
    headers: pairs([...headers, ...(body === undefined ? [] : [['Content-Type', body.mimeType] as [string, string]])]),
    cookies: pairs(cookies),
    headersSize: -1,
    bodySize: -1,
    ...(body !== undefined && {
      postData: {
        mimeType: body.mimeType,
        ...(body.fields === undefined ? { text: text ?? '' } : { params: pairs(body.fields) }),
      },
    }),
  } as Har;
}
