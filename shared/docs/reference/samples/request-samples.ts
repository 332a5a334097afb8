import type { SharedCode } from '#shared/docs/render/evaluate/static-tree.ts';
import { RecentValues } from '#shared/docs/render/recent-values.ts';
import { csharpCode, goCode, javaCode } from './compiled-samples.ts';
import { type SampleRequest, type SentRequest, sentRequest } from './sample-request.ts';
import { curlCommand, phpCode, pythonCode, rubyCode, scriptCode } from './script-samples.ts';

export type CodeSample = { language: string; title: string; code: string; shared?: SharedCode };

type Language = {
  names: string[];
  title: string;
  language: string;
  /** Undefined if the language cannot write the request. */
  write: (request: SentRequest) => string | undefined;
};

/** Languages in the order in which they are shown. */
const languages: Language[] = [
  { names: ['curl', 'bash', 'shell', 'sh'], title: 'cURL', language: 'bash', write: curlCommand },
  { names: ['python', 'py'], title: 'Python', language: 'python', write: pythonCode },
  { names: ['javascript', 'js', 'node', 'typescript'], title: 'JavaScript', language: 'javascript', write: scriptCode },
  { names: ['php'], title: 'PHP', language: 'php', write: phpCode },
  { names: ['go', 'golang'], title: 'Go', language: 'go', write: goCode },
  { names: ['java'], title: 'Java', language: 'java', write: javaCode },
  { names: ['ruby', 'rb'], title: 'Ruby', language: 'ruby', write: rubyCode },
  { names: ['csharp', 'c#', 'dotnet'], title: 'C#', language: 'csharp', write: csharpCode },
];

/** Cache: requests of an interface often differ only in their path, and then so does their code. */
const recentSamples = new RecentValues<CodeSample[]>(500_000);

/** The request in the named languages, or in all eight. Unknown languages are ignored. The same request gives the same code. */
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

/** Matches an address whose path needs no escapes in any language. */
const plainPath = /^https?:\/\/[a-z0-9.-]+(?::\d+)?((?:\/(?=[^/]*[^./])(?:[\w.~-]|\{[\w.-]{1,100}\})+)+\/?)$/;
const longestPath = 200;
const longestMark = 20;

/** Replaces the path of a request by a placeholder that every language writes unchanged, as it would the path. */
function withoutPath(request: SampleRequest): { marked: SampleRequest; mark: string; path: string } | undefined {
  const { url } = request;
  const path = plainPath.exec(url)?.[1];
  if (path === undefined || path.length > longestPath) return undefined;
  const host = url.slice(0, -path.length);
  const rest = JSON.stringify({ ...request, url: host });
  for (let name = 'zq'; name.length < longestMark; name += 'q') {
    const mark = path.includes('{') ? `/{${name}}` : `/${name}`;
    if (!rest.includes(name)) return { marked: { ...request, url: host + mark }, mark, path };
  }
  return undefined;
}

function samplesOf(request: SampleRequest, wanted: readonly string[] | undefined): CodeSample[] {
  const chosen =
    wanted === undefined
      ? languages
      : [...new Set(wanted.flatMap((name) => languages.find(({ names }) => names.includes(name.toLowerCase())) ?? []))];
  const sent = sentRequest(request);
  return chosen.flatMap(({ title, language, write }) => {
    const code = write(sent);
    return code === undefined ? [] : [{ language, title, code }];
  });
}
