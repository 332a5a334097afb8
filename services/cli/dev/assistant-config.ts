/** The end of `_bindery/config.js`: it switches the assistant on, at the address under which the page was opened. */
export const assistantConfig = `
Object.assign(window.binderyConfig, { serverUrl: location.origin, assistantKey: 'svc_dsc_${'0'.repeat(36)}' });
window.binderyConfig.features.assistant = true;
`;
