import { type Agent, type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { buffer, text } from 'node:stream/consumers';

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

/** Loads a page of an example bundle from a host of this name with all its files, as a browser does. Returns the problems. */
export async function visitHost(url: string, host: string, agent?: Agent): Promise<string[]> {
  const options = agent === undefined ? {} : { agent };
  const page = await askHost(url, host, '/', options);
  const version = /Version (\S+)<\/p>/.exec(page.text)?.[1];
  if (page.status !== 200 || version === undefined)
    return [`${page.status} for the page of ${host}: ${page.text.slice(0, 100)}`];
  const addresses = [...page.text.matchAll(/(?:src|href)="(\/_bindery\/@[^"]+)"/g)].map(([, address = '']) => address);
  const problems = await Promise.all(
    addresses.map(async (address) => {
      const asset = await askHost(url, host, address, options);
      if (asset.status !== 200) return [`${asset.status} for ${address} of ${version}`];
      return asset.text.includes(version) ? [] : [`${address} of ${version} has ${asset.text.slice(0, 60)}`];
    }),
  );
  return addresses.length === 3 ? problems.flat() : [`${addresses.length} addresses`];
}
