// Visits are counted if config.js names a service.
if (config.features.analytics && Object.keys(config.analytics).length > 0 && /^https?:/.test(location.protocol))
  load('analytics.js').catch(() => {});
