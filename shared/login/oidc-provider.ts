import * as client from 'openid-client';
import { boundedFetch } from '#shared/http/bounded-fetch.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { accessTokens } from './access-tokens.ts';
import { type Account, accountOf } from './account.ts';
import type { ProviderSettings } from './provider-settings.ts';

const providerTimeoutSeconds = 10;
/** Limit of an answer of the provider. The largest one, its keys with certificates, has some tens of kilobytes. */
const mostAnswerBytes = 1_000_000;
const longestReason = 500;

/** The secrets of a login in progress. */
export type Attempt = { verifier: string; nonce: string };

/** A login that did not succeed, as the reader sees it. */
export type FailedLogin = { status: 403 | 502; sentence: string };

/** The conversation with an OpenID Connect provider: authorization code flow with PKCE, state and nonce. */
export function oidcProvider(settings: ProviderSettings, logger: Logger) {
  const configured = configurationOf(settings);
  const metadata = async () => (await configured()).serverMetadata();
  return {
    /** The account that an access token for a resource names, or why it opens nothing. Rejects if the provider cannot be reached. */
    accountOfToken: accessTokens(metadata, settings.groupsClaim),

    /** The name of the provider in its tokens and metadata. Rejects if it cannot be reached. */
    issuer: async (): Promise<string> => (await metadata()).issuer,

    newAttempt: (): Attempt => ({ verifier: client.randomPKCECodeVerifier(), nonce: client.randomNonce() }),

    /** The address at which a reader logs in. Rejects if the provider cannot be reached. */
    async loginAddress({ verifier, nonce }: Attempt, redirectUri: string, state: string): Promise<string> {
      const to = client.buildAuthorizationUrl(await configured(), {
        redirect_uri: redirectUri,
        scope: settings.scopes,
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      return to.href;
    },

    /** Completes a login: the account with which the provider redirected to `back`. Rejects if the provider cannot be reached. */
    async accountAt(back: URL, { verifier, nonce }: Attempt, state: string): Promise<Account | FailedLogin> {
      const configuration = await configured();
      try {
        const tokens = await client.authorizationCodeGrant(configuration, back, {
          pkceCodeVerifier: verifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
        });
        const idToken = tokens.claims();
        if (idToken === undefined) throw new Error('the provider returned no ID token');
        const hasEndpoint = configuration.serverMetadata().userinfo_endpoint !== undefined;
        const userInfo = hasEndpoint
          ? await client.fetchUserInfo(configuration, tokens.access_token, idToken.sub)
          : undefined;
        return accountOf(idToken, userInfo, settings.groupsClaim);
      } catch (error) {
        const isRefused = error instanceof client.AuthorizationResponseError;
        logger.warn(`a login did not succeed: ${isRefused ? error.error.slice(0, longestReason) : reasonOf(error)}`);
        return isRefused
          ? { status: 403, sentence: 'The login was refused or cancelled.' }
          : { status: 502, sentence: 'The login did not succeed.' };
      }
    },

    /** The address that logs a reader out at the provider; undefined if it has none, or cannot be reached. */
    async logoutAddress(): Promise<string | undefined> {
      const configuration = await configured().catch(() => undefined);
      const hasEnd = configuration?.serverMetadata().end_session_endpoint !== undefined;
      return configuration !== undefined && hasEnd ? client.buildEndSessionUrl(configuration).href : undefined;
    },

    /** Logs that the provider cannot be reached. */
    onUnreachable: (error: unknown): void =>
      logger.warn(`the login provider ${settings.issuer.host} cannot be reached: ${reasonOf(error)}`),
  };
}

/** The message of an error with those of its causes. Errors of the protocol have their reasons in `cause`. */
function reasonOf(error: unknown): string {
  const reasons = new Set<string>();
  for (let each = error; each instanceof Error && reasons.size < 4; each = each.cause) reasons.add(messageOf(each));
  const [first = messageOf(error), ...causes] = reasons;
  return `${first}${causes.map((cause) => ` (${cause})`).join('')}`.slice(0, longestReason);
}

/** The provider's endpoints and keys, requested on first use, and again after a failure. */
function configurationOf({
  issuer,
  clientId,
  clientSecret,
  clientAuth,
}: ProviderSettings): () => Promise<client.Configuration> {
  const authentication =
    clientSecret === undefined
      ? client.None()
      : clientAuth === 'basic'
        ? client.ClientSecretBasic(clientSecret)
        : client.ClientSecretPost(clientSecret);
  const execute = [client.enableNonRepudiationChecks];
  if (issuer.protocol === 'http:') execute.push(client.allowInsecureRequests);
  const ask = boundedFetch(mostAnswerBytes);
  let found: Promise<client.Configuration> | undefined;
  return () => {
    found ??= client
      .discovery(issuer, clientId, undefined, authentication, {
        ...{ execute, timeout: providerTimeoutSeconds },
        [client.customFetch]: (url, options) => ask(url, options as RequestInit),
      })
      .catch((error: unknown) => {
        found = undefined;
        throw error;
      });
    return found;
  };
}
