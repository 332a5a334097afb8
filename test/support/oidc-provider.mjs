// An OpenID Connect provider for tests in a separate process: oidc-provider by panva (MIT), with the accounts below.
//
//   node oidc-provider.mjs '{"clients": […]}'     its configuration; says {"issuer": "http://127.0.0.1:…"} on a line when it listens
//
// With "resources": true clients register themselves, and get access tokens as JWTs for the resource that they name, with the groups of their account.
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const accounts = {
  ada: { email: 'ada@acme.test', email_verified: true, groups: ['writers', 'staff'] },
  bob: { email: 'bob@elsewhere.test', email_verified: true, groups: [] },
  // Userinfo has another address than the verified one in the ID token.
  mia: {
    id_token: { email: 'mia@elsewhere.test', email_verified: true },
    userinfo: { email: 'ceo@acme.test' },
    groups: [],
  },
  // Userinfo describes another account.
  zoe: { email: 'zoe@acme.test', email_verified: true, groups: [] },
  olga: { email: 'olga@acme.test', email_verified: true, groups: ['platform'] },
  // An address that was not verified may belong to anybody.
  ned: { email: 'ada@acme.test', email_verified: false, groups: ['staff'] },
  eve: { email: 'eve@acme.test', email_verified: false, groups: [] },
  // A name that means another actor.
  operator: { groups: ['staff'] },
  ...Object.fromEntries(
    [80, 400].map((many) => [`in${many}`, { groups: Array.from({ length: many }, (_, at) => `a-group-of-${at}`) }]),
  ),
};

const { resources = false, ...configuration } = JSON.parse(process.argv[2]);
const forResources = {
  features: {
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_context, resource) => ({
        ...{ scope: 'openid email profile', audience: resource, accessTokenFormat: 'jwt', accessTokenTTL: 600 },
      }),
      useGrantedResource: () => true,
    },
  },
  extraTokenClaims: (_context, { accountId }) => ({ groups: accounts[accountId]?.groups }),
};

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    // Many providers put claims into the ID token as well.
    conformIdTokenClaims: false,
    ...configuration,
    ...(resources && forResources),
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['groups'] },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: (use) => ({ sub: id, ...accounts[id], ...accounts[id]?.[use] }),
    }),
    pkce: { required: () => true },
    cookies: { keys: ['of-tests'] },
  });
  provider.use(async (context, next) => {
    await next();
    if (context.path === '/me' && context.body?.sub === 'zoe') context.body = { ...context.body, sub: 'ada' };
  });
  server.on('request', provider.callback());
  process.stdout.write(`${JSON.stringify({ issuer })}\n`);
});
process.once('disconnect', () => process.exit());
