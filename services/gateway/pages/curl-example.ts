import type { Operation } from '../openapi.ts';

const keyVariables: Readonly<Record<string, string>> = {
  adminKey: 'KEY',
  assistantKey: 'ASSISTANT_KEY',
  operatorToken: 'OPERATOR_TOKEN',
};

/**
 * A call of a route for a shell, with the examples of its path and its body; optional parameters are left out. Address and keys come from the
 * variables `BASE`, `KEY`, `ASSISTANT_KEY` and `OPERATOR_TOKEN`, as in all of our documentation. Pure.
 */
export function curlExample(method: string, path: string, operation: Operation): string {
  const { parameters, requestBody, responses, security } = operation;
  const examples = new Map(parameters.map(({ name, in: place, example }) => [`${place} ${name}`, example]));
  const filled = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => {
    const example = examples.get(`path ${name}`);
    return encodeURIComponent(typeof example === 'string' ? example : name);
  });
  const key = Object.keys(security[0] ?? {}).map((name) => keyVariables[name])[0];
  const [type, body] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const [answer] = Object.values(Object.values(responses)[0]?.content ?? {});
  const isStream = answer?.['x-stream'] !== undefined;
  const sends = body?.example === undefined ? '--data-binary @docs.tar.gz' : `-d ${quoted(asJson(body.example))}`;
  return [
    `curl ${isStream ? '-N ' : ''}${method === 'GET' ? '' : `-X ${method} `}"$BASE${filled}"`,
    ...(key === undefined ? [] : [`-H "Authorization: Bearer $${key}"`]),
    ...(type === undefined ? [] : [`-H "Content-Type: ${type}"`, sends]),
  ].join(' \\\n  ');
}

const asJson = (example: unknown): string => (typeof example === 'string' ? example : JSON.stringify(example, null, 2));

/** Text quoted for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
