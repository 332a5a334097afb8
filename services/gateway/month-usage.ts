import type { UsageMonth } from '#shared/contracts/http/usage.ts';
import { usageKey } from '#shared/contracts/read-model-keys.ts';
import { type SomeUsageFigures, usageFigureNames } from '#shared/contracts/usage-figures.ts';
import { firstKeptDay } from '#shared/read-model/first-kept-day.ts';
import { askBus } from './ask-bus.ts';
import type { GatewayContext } from './context.ts';

/** What an organization used in a month (`2026-03`): each day's figures of all logs, and their sums. */
export async function monthUsage(
  { bus, clock }: Pick<GatewayContext, 'bus' | 'clock'>,
  organization: string,
  month: string,
): Promise<UsageMonth> {
  const { usageExports, usageContent, usageAccess } = bus.documents;
  const key = usageKey(organization, month);
  const hasAllLinks = `${month}-01` >= firstKeptDay(clock.now());
  const documents = await Promise.all([
    askBus(usageExports.get(key)),
    askBus(usageContent.get(key)),
    ...(hasAllLinks ? [askBus(usageAccess.get(key))] : []),
  ]);
  const days = new Map<string, SomeUsageFigures>();
  const total: SomeUsageFigures = {};
  for (const name of usageFigureNames) if (name !== 'linksSigned' || hasAllLinks) total[name] = 0;
  for (const stored of documents) {
    for (const [day, figures] of Object.entries(stored?.document.days ?? {})) {
      days.set(day, { ...days.get(day), ...figures });
      for (const name of usageFigureNames) {
        if (figures[name] !== undefined) total[name] = (total[name] ?? 0) + figures[name];
      }
    }
  }
  return {
    month,
    total,
    days: [...days]
      .filter(([, figures]) => Object.keys(figures).length > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([day, figures]) => ({ day: `${month}-${day}`, figures })),
  };
}
