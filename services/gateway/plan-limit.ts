import { z } from 'zod';
import { type OrganizationPlan, organizationPlans } from '#shared/contracts/organization-plan.ts';

export type PlanLimit = Readonly<Record<OrganizationPlan, number>>;

/** A limit as text: `60`, or by plan `pro=60,enterprise=600`; plans that are not named get the default. */
export const planLimit = (byDefault: number) =>
  z
    .string()
    .default(String(byDefault))
    .transform((text, context): PlanLimit => {
      const limits = Object.fromEntries(organizationPlans.map((plan) => [plan, byDefault])) as Record<
        OrganizationPlan,
        number
      >;
      for (const part of text.split(',').map((piece) => piece.trim())) {
        const match = /^(?:(free|pro|enterprise)=)?([0-9]{1,9})$/.exec(part);
        if (match === null) {
          context.addIssue({ code: 'custom', message: `"${part}" is no number and no <plan>=<number>` });
          return z.NEVER;
        }
        const [, plan, number] = match;
        for (const each of plan === undefined ? organizationPlans : [plan as OrganizationPlan])
          limits[each] = Number(number);
      }
      return limits;
    });
