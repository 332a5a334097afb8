import { expect, test } from 'vitest';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { findBarriers } from '../support/find-barriers.ts';
import { siteInBrowser } from './site-folder.ts';

const pet = "{ $ref: '#/components/schemas/Pet' }";
const specification = `openapi: 3.1.0
servers: [{ url: 'https://api.example.com/v1', description: Production }, { url: 'https://test.example.com' }]
security: [{ token: [] }]
tags: [{ name: pets, x-group: Your pets }]
paths:
  /owners/{ownerId}/pets:
    post:
      tags: [pets]
      summary: Add a pet
      description: Adds a pet to those that an owner has.
      parameters:
        - { name: ownerId, in: path, required: true, description: Whose pet it is., schema: { type: string, format: uuid } }
        - { name: notify, in: query, deprecated: true, schema: { type: boolean, default: false } }
      requestBody: { required: true, content: { application/json: { schema: ${pet} } } }
      responses:
        201: { description: Added, headers: { X-Rate: { schema: { type: integer } } }, content: { application/json: { schema: ${pet} } } }
        400: { description: Wrong, content: { application/json: { schema: { type: object, required: [message], properties: { message: { type: string } } } } } }
      callbacks: { added: { '{$request.body#/url}': { post: { requestBody: { content: { application/json: { schema: ${pet} } } }, responses: { 204: { description: Heard } } } } } }
components:
  securitySchemes: { token: { type: http, scheme: bearer } }
  schemas:
    Pet:
      type: object
      required: [name, home]
      properties:
        name: { type: string, description: Its name., minLength: 1, maxLength: 100 }
        kind: { type: string, enum: [cat, dog], default: cat }
        home: { type: object, required: [city], properties: { city: { type: string }, rooms: { type: integer, minimum: 1 } } }
        parents: { type: array, items: ${pet} }
        food: { oneOf: [{ title: Dry, type: object, properties: { grams: { type: integer } } }, { title: Fresh, type: object, properties: { of: { type: string } } }] }
`;

const events = `asyncapi: 3.0.0
info: { title: Events, version: 1.0.0 }
servers: { live: { host: live.example.com, protocol: wss } }
channels: { pets: { address: 'pets/{ownerId}', parameters: { ownerId: { description: Whose. } }, messages: { added: { title: A pet was added, payload: { type: object, required: [id], properties: { id: { type: string } } } } } } }
operations: { tell: { action: send, channel: { $ref: '#/channels/pets' } } }
`;

const settings = { name: 'Test', theme: 'mint', colors: { primary: '#0f766e' } };
const files = {
  'docs.json': JSON.stringify({
    ...settings,
    navigation: {
      groups: [
        { group: 'Guide', pages: ['index'] },
        { group: 'API', openapi: 'pets.yaml' },
        { group: 'Events', asyncapi: 'events.yaml' },
      ],
    },
  }),
  'index.mdx': 'Hello',
  'pets.yaml': specification,
  'events.yaml': events,
};

const modes = [1440, 390].flatMap((width) => (['light', 'dark'] as const).map((scheme) => [width, scheme] as const));

describeWithServers(['chromium'], 'reference pages in a browser', () => {
  const site = siteInBrowser(files);

  test.each(modes)(
    'at %d px, %s: required fields are marked, nothing is wider than the page',
    async (width, scheme) => {
      const options = { viewport: { width, height: 900 }, colorScheme: scheme };
      const page = await site.open('api-reference/pets/add-a-pet.html', options);
      for (const id of ['param-ownerId', 'body-name', 'body-home']) {
        const field = page.locator(`[id="${id}"]`);
        expect([id, await field.locator('> .field-head .field-required').isVisible()]).toEqual([id, true]);
      }
      expect(await page.locator('.method-post').textContent()).toBe('POST');
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect(await findBarriers(page)).toEqual([]);
      await site.keepPicture(page, `reference-${width}-${scheme}`);
      const channel = await site.open('api-reference/pets.html', options);
      expect(await channel.locator('.field-required').last().isVisible()).toBe(true);
      expect(await findBarriers(channel)).toEqual([]);
      await site.keepPicture(channel, `channel-${width}-${scheme}`);
      expect(site.problems).toEqual([]);
    },
  );

  test('nested fields open, and samples change their language', async () => {
    const page = await site.open('api-reference/pets/add-a-pet.html', { viewport: { width: 1440, height: 900 } });
    const city = page.locator('[id="body-home-city"]');
    expect(await city.isVisible()).toBe(false);
    await page.locator('[id="body-home"] summary').click();
    expect(await city.isVisible()).toBe(true);

    const request = page.locator('.request-example');
    const shown = request.locator('.tab-panel:visible');
    expect(await shown.textContent()).toContain('curl');
    await request.getByRole('tab', { name: 'Python' }).click();
    expect(await shown.textContent()).toContain('import requests');
    expect(await shown.count()).toBe(1);
    await request.getByRole('tab', { name: 'Python' }).press('ArrowRight');
    expect(await shown.textContent()).toContain('fetch(');
    expect(site.problems).toEqual([]);
  });

  test('an address of a nested field opens its parents', async () => {
    const page = await site.open('api-reference/pets/add-a-pet.html#response-400-message');
    expect(await page.locator('[id="response-400-message"]').isVisible()).toBe(true);
  });

  test('a page stays at its top: only what a reader opens becomes its address', async () => {
    const page = await site.open('api-reference/pets/add-a-pet.html');
    const hash = (): Promise<string> => page.evaluate('location.hash');
    // Browsers fire this event for elements that are open initially, and the page opens elements for printing.
    await page.evaluate(`new Promise((done) => {
        const wrong = document.getElementById('response-400');
        wrong.addEventListener('toggle', done, { once: true });
        wrong.open = true;
      })`);
    expect(await hash()).toBe('');
    await page.locator('[id="response-201"] > summary').click();
    expect(await hash()).toBe('');
    await page.locator('[id="response-201"] > summary').press('Enter');
    expect(await hash()).toBe('#response-201');
  });

  test('without scripts everything is readable', async () => {
    const page = await site.open('api-reference/pets/add-a-pet.html', { javaScriptEnabled: false });
    const text = (await page.locator('main').textContent()) ?? '';
    for (const part of ['import requests', 'rooms', 'grams', 'Heard', 'X-Rate']) expect(text).toContain(part);
    expect(await page.locator('.request-example .code-block').count()).toBe(8);
    expect(await page.locator('.request-example .code-block').last().isVisible()).toBe(true);
  });
});
