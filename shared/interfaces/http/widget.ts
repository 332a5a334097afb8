import { z } from 'zod';

/** Names of the colours that the widget has, as CSS variables. */
export const widgetColors = [
  ...['bg', 'surface', 'raised', 'sunken', 'line', 'line-strong', 'text', 'strong', 'muted', 'bad', 'good'],
  ...['accent', 'accent-text', 'accent-hover', 'on-accent'],
] as const;

const colorsSchema = z.record(z.enum(widgetColors), z.string());

/** The settings of a site that its widget has too. */
export const widgetSettingsSchema = z
  .object({
    site: z.string().optional(),
    colors: z.object({ light: colorsSchema, dark: colorsSchema }).optional(),
  })
  .meta({ title: 'WidgetSettings' });
