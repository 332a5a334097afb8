import { z } from 'zod';
import { domainName } from '#shared/contracts/identifiers.ts';
import { widgetColors, widgetSettingsSchema } from '#shared/interfaces/http/widget.ts';
import { publicRoute } from '../public-route.ts';
import { docsOfDomain } from './docs-of-domain.ts';

/** The look of a site, for the widget: pages that have it need to name nothing but the domain and a key. */
export const widgetSettingsRoute = publicRoute(
  {
    id: 'readWidgetSettings',
    method: 'GET',
    path: '/discovery/v1/widget/:domain',
    summary: 'Returns the address and the colours of a documentation site, for the widget.',
    key: 'assistant',
    params: z.object({ domain: domainName }),
    crossOrigin: true,
    answer: widgetSettingsSchema,
  },
  async (context, request) => {
    const { address, painted } = await docsOfDomain(context, request, []).outline();
    request.reply.header('cache-control', 'private, max-age=300');
    if (painted === undefined) return { ...(address && { site: address }) };
    const { paletteOf } = await import('#shared/docs/render/site/palette.ts');
    const { light, dark } = paletteOf(painted);
    return { ...(address && { site: address }), colors: { light: ofWidget(light), dark: ofWidget(dark) } };
  },
);

const ofWidget = (palette: Readonly<Record<string, string>>) =>
  Object.fromEntries(widgetColors.map((name) => [name, palette[name] ?? ''])) as Record<
    (typeof widgetColors)[number],
    string
  >;
