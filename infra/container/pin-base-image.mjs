// Pins the base image in infra/Dockerfile, the only file that names it, to the digest that its tag has today.
//
//   node infra/container/pin-base-image.mjs [tag]      default: the current tag, such as 24.21.0-trixie-slim
//
// It queries the registry through `docker buildx`, so it needs Docker and a network. Plain JavaScript without dependencies.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const dockerfile = process.env.BINDERY_DOCKERFILE || join(import.meta.dirname, '../Dockerfile');
const pinned = /^ARG NODE_IMAGE=(?<name>[^\s:@]+):(?<tag>[^\s:@]+)@sha256:[0-9a-f]{64}$/m;
/** Platforms that an image index must contain. The digest of a single image would restrict builds to one platform. */
const neededPlatforms = ['linux/amd64', 'linux/arm64'];

try {
  const text = readFileSync(dockerfile, 'utf8');
  const { name, tag } = pinned.exec(text)?.groups ?? {};
  if (name === undefined) throw new Error(`${dockerfile} has no line "ARG NODE_IMAGE=<name>:<tag>@sha256:<digest>".`);
  const image = `${name}:${process.argv[2] || tag}`;
  const digest = digestOf(image);
  writeFileSync(dockerfile, text.replace(pinned, `ARG NODE_IMAGE=${image}@${digest}`));
  process.stdout.write(`The base image is ${image}@${digest}.\n`);
} catch (error) {
  process.stderr.write(`The base image was not changed: ${error.message}\n`);
  process.exitCode = 1;
}

/** @param {string} image */
function digestOf(image) {
  const args = ['buildx', 'imagetools', 'inspect', image, '--format', '{{json .Manifest}}'];
  const { digest, manifests } = JSON.parse(execFileSync('docker', args, { encoding: 'utf8' }));
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`the registry gave no digest for ${image}.`);
  const platforms = new Set((manifests ?? []).map(({ platform }) => `${platform?.os}/${platform?.architecture}`));
  const missing = neededPlatforms.filter((needed) => !platforms.has(needed));
  if (missing.length > 0) throw new Error(`${image} has no image for ${missing.join(' and ')}.`);
  return digest;
}
