import type { Nodes } from 'mdast';
import { type JsonObject, objectOf, textOf } from '#shared/docs/project/json-values.ts';
import { credentialOf, lineOf, type SecurityScheme } from './open-slice.ts';
import { addressList, code, paragraph, text } from './reference-nodes.ts';

const maxAlternatives = 10;
const maxScopes = 100;

/**
 * The header or parameter of a credential, as `Authorization: Bearer <token>`. If another scheme of the operation reads the same, its placeholder is
 * the name of the scheme.
 */
export function credentialText({ name, scheme }: SecurityScheme, alternatives: readonly SecurityScheme[][]): string {
  const textOf = (each: JsonObject) => {
    const { field, value } = credentialOf(each);
    return value === undefined ? field : `${field}: ${value}`;
  };
  const own = textOf(scheme);
  const isName = /^[\w.-]{1,60}$/.test(name);
  const isShared = alternatives.flat().some((other) => other.name !== name && textOf(other.scheme) === own);
  return isName && isShared ? own.replace(/<[^<>]*>$/, () => `<${name}>`) : own;
}

/** Lists the combinations of credentials that a request may have: `One of: A + B, C`. `orNone` is the entry for a request that needs none. */
export function waysIn(label: string, alternatives: readonly SecurityScheme[][], orNone: string | undefined): Nodes {
  const ways = alternatives
    .slice(0, maxAlternatives)
    .map((schemes) =>
      schemes
        .slice(0, maxAlternatives)
        .flatMap((scheme, at) => [...(at === 0 ? [] : [text(' + ')]), code(credentialText(scheme, alternatives))]),
    );
  const none = orNone === undefined ? [] : [text(`, ${orNone}`)];
  const more = [...(alternatives.length > maxAlternatives ? [text(', …')] : []), ...none];
  return paragraph(text(`${label} `), ...ways.flatMap((way, at) => (at === 0 ? way : [text(', '), ...way])), ...more);
}

const flowsOf = ({ flows }: JsonObject): JsonObject[] => Object.values(objectOf(flows)).map(objectOf);

/** Addresses that issue tokens, labelled with their keys in the description. */
export function flowAddresses(scheme: JsonObject): Nodes[] {
  const keys = ['authorizationUrl', 'tokenUrl', 'openIdConnectUrl'];
  const lines = [scheme, ...flowsOf(scheme)].flatMap((part) =>
    keys.flatMap((key) => {
      const address = textOf(part[key]);
      return address === undefined ? [] : [`${key}: ${address.slice(0, 300)}`];
    }),
  );
  return [...new Set(lines)].slice(0, maxAlternatives).map((line) => paragraph(code(line)));
}

/** Scopes in one line, each with its description if the scheme gives one. */
export function scopeNodes(scheme: JsonObject, scopes: readonly string[]): Nodes[] {
  const known = Object.assign(
    Object.create(null),
    ...flowsOf(scheme).map((flow) => objectOf(flow['scopes'])),
  ) as JsonObject;
  const shown = scopes.slice(0, maxScopes).map((scope) => ({ scope, meaning: lineOf(known[scope]) }));
  if (shown.length === 0) return [];
  if (shown.every(({ meaning }) => meaning === undefined || meaning === ''))
    return [paragraph(...shown.flatMap(({ scope }, at) => [text(at === 0 ? '' : ', '), code(scope)]))];
  return [addressList(shown.map(({ scope, meaning }) => ({ url: scope, description: meaning })))];
}
