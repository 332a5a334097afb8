import { type Agent, type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { sha256Of } from '#shared/runtime/canonical-json.ts';

export type HostAnswer = { status: number; headers: IncomingHttpHeaders; body: Buffer; text: string };

export type AskOptions = { headers?: Record<string, string>; method?: string; agent?: Agent; body?: string };

/** A request to the server at `url` for a host of this name. */
export async function askHost(
  url: string,
  host: string,
  path = '/',
  { headers = {}, method = 'GET', agent, body }: AskOptions = {},
): Promise<HostAnswer> {
  const { hostname, port } = new URL(url);
  const asked = request({
    host: hostname,
    port,
    path,
    method,
    setHost: false,
    headers: { host, ...headers },
    ...(agent !== undefined && { agent }),
  }).end(body);
  return new Promise((resolve, reject) => {
    asked.once('error', reject);
    asked.once('response', (answer) => {
      const { statusCode: status = 0, headers: answered } = answer;
      buffer(answer).then((body) => resolve({ status, headers: answered, body, text: body.toString() }), reject);
    });
  });
}

/** Sends text as it is, and returns everything that the server answers until it closes the connection. */
export async function sendRaw(url: string, sent: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(sent);
  return await text(socket);
}

/** A page of an example bundle with its files, as a browser loads it. Rejects when the host does not answer. */
export async function visitExample(
  url: string,
  name: string,
  agent?: Agent,
): Promise<{ version: string; requests: number; failed: string[]; mixed: string[] }> {
  const options = agent === undefined ? {} : { agent };
  const page = await askHost(url, name, '/', options);
  const version = /Version (\S+)<\/p>/.exec(page.text)?.[1] ?? '';
  const addresses = [...page.text.matchAll(/(?:src|href)="(\/_bindery\/@[^"]+)"/g)].map(([, address = '']) => address);
  const failed = page.status === 200 && version !== '' && addresses.length === 3 ? [] : [`${page.status} for ${name}`];
  const mixed: string[] = [];
  for (const address of addresses) {
    const file = await askHost(url, name, address, options);
    if (file.status !== 200) failed.push(`${file.status} for ${address} of ${version} at ${name}`);
    else if (!file.text.includes(version)) mixed.push(`${address} of ${version} has ${file.text.slice(0, 60)}`);
    // Style sheets are under the token of their version, and other files under their digest.
    const digest = /@([0-9a-f]{16})\/.*(?<!\.css)$/.exec(address)?.[1];
    if (digest !== undefined && file.status === 200 && !sha256Of(file.body).startsWith(digest))
      mixed.push(`${address} has other bytes than its address says`);
  }
  return { version, requests: 1 + addresses.length, failed, mixed };
}

/** The same, with the problems alone. */
export async function visitHost(url: string, host: string, agent?: Agent): Promise<string[]> {
  const { failed, mixed } = await visitExample(url, host, agent);
  return [...failed, ...mixed];
}
