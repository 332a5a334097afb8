import type { ServerName } from './server-paths.ts';

const howToGet: Record<ServerName, string> = {
  'nats-server': '`npm test` fetches it',
  'redis-server': '`npm test` as root installs it; else install the package redis-server',
  chromium: '`npm test` as root installs it; else install the package chromium',
  bsdtar: '`npm test` as root installs it; else install the package libarchive-tools',
  busybox: '`npm test` as root installs it; else install the package busybox',
  jq: '`npm test` as root installs it; else install the package jq',
  python3: 'install the package python3',
  versitygw: '`npm run servers` builds it',
  elasticsearch: '`npm run servers` fetches it',
};

/** A server that a caller needs is neither on PATH nor in the cache; the message says how to get it. */
export class ServerMissing extends Error {
  constructor(name: ServerName) {
    super(`${name} is not here: ${howToGet[name]}`);
    this.name = 'ServerMissing';
  }
}
