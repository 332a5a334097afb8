/** What an organization has bought. Static export needs `enterprise`. In code always "organization plan": an export has a plan, too. */
export const organizationPlans = ['free', 'pro', 'enterprise'] as const;

export type OrganizationPlan = (typeof organizationPlans)[number];
