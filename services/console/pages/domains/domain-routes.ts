import { changesPage, differencePage } from './changes-page.ts';
import { contentPage, deleteContent, promoteContent, removeLabel } from './content-page.ts';
import { domainsPage } from './domain-list.ts';
import { deployAgain, domainPage, followDomain, rollBack } from './domain-page.ts';
import { newExportPage, startExport } from './export-page.ts';
import { findingsPage } from './findings-page.ts';
import { closeSite, saveSite, sitePage } from './site-page.ts';

/** Pages about domains: their sites, deployments and contents. */
export const domainRoutes = [
  ...[domainsPage, domainPage, followDomain, deployAgain, rollBack],
  ...[sitePage, saveSite, closeSite],
  ...[contentPage, promoteContent, removeLabel, deleteContent],
  ...[changesPage, differencePage, findingsPage],
  ...[newExportPage, startExport],
];
