import { cardsAndCallouts } from './cards-and-callouts.ts';
import type { Component } from './component.ts';
import { fields } from './fields.ts';
import { figures } from './figures.ts';
import { inlineComponents } from './inline-components.ts';
import { pageComponents } from './page-components.ts';
import { stepsAndAccordions } from './steps-and-accordions.ts';
import { tabsAndCode } from './tabs.ts';

/** All built-in components. A map, so that names of JavaScript's own properties are not found. */
export const componentRegistry: ReadonlyMap<string, Component> = new Map(
  Object.entries({
    ...cardsAndCallouts,
    ...tabsAndCode,
    ...stepsAndAccordions,
    ...fields,
    ...figures,
    ...inlineComponents,
    ...pageComponents,
  }),
);
