import { z } from 'zod';

const lightDark = z.object({ light: z.string(), dark: z.string() });

/**
 * `docs.json` (or `mint.json`, brought to the same shape) without its navigation: what pages and the site's files show.
 * Everything optional that a project left out is absent, not null. Unknown keys are dropped with a diagnostic.
 */
export const siteSettingsSchema = z.object({
  name: z.string(),
  description: z.string().optional(),
  theme: z.string(),
  colors: z.object({ primary: z.string(), light: z.string().optional(), dark: z.string().optional() }),
  logo: lightDark.extend({ href: z.string().optional() }).optional(),
  favicon: lightDark.optional(),
  appearance: z.object({ default: z.enum(['system', 'light', 'dark']), strict: z.boolean() }),
  iconLibrary: z.enum(['fontawesome', 'lucide', 'tabler']),
  fonts: z.json().optional(),
  background: z.json().optional(),
  styling: z.object({
    eyebrows: z.enum(['section', 'breadcrumbs']),
    latex: z.boolean().optional(),
    codeblocks: z.json().optional(),
  }),
  navbar: z.object({
    links: z.array(
      z.object({ label: z.string(), href: z.string(), icon: z.string().optional(), type: z.string().optional() }),
    ),
    primary: z.object({ label: z.string(), href: z.string(), type: z.string().optional() }).optional(),
  }),
  footer: z.object({
    socials: z.record(z.string(), z.string()),
    links: z.array(
      z.object({ header: z.string().optional(), items: z.array(z.object({ label: z.string(), href: z.string() })) }),
    ),
  }),
  banner: z
    .object({ content: z.string(), dismissible: z.boolean(), type: z.string().optional(), color: lightDark.optional() })
    .optional(),
  variables: z.record(z.string(), z.string()),
  seo: z.object({
    indexing: z.enum(['navigable', 'all']),
    metatags: z.record(z.string(), z.string()),
    organization: z.json().optional(),
  }),
  searchPrompt: z.string().optional(),
  notFound: z.object({ redirect: z.boolean(), title: z.string().optional(), description: z.string().optional() }),
  timestamp: z.boolean(),
  contextual: z.json().optional(),
  api: z.json().optional(),
  integrations: z.json().optional(),
  markdownInstructions: z.array(z.string()),
});

export type SiteSettings = z.infer<typeof siteSettingsSchema>;
