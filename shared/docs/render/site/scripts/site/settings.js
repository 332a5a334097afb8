// Validates config.js, because people edit that file. All problems are reported in one console message.
/** @typedef {import('../../page-globals.ts').SiteConfig} SiteConfig */
/** @param {any} [found] @returns {SiteConfig} */
function usableConfig(found) {
  /** @type {string[]} */
  var wrong = [];
  /** @param {any} value */
  function isObject(value) {
    return value && typeof value === 'object' && !Array.isArray(value);
  }
  var given = isObject(found) ? found : {};
  if (given !== found) wrong.push('The file is missing or has a syntax error.');
  var wanted = isObject(given.features) ? given.features : {};
  if (given.features !== undefined && wanted !== given.features) wrong.push('features must be an object.');
  /** @param {string} name @param {RegExp} form @param {string} expected */
  function text(name, form, expected) {
    var value = given[name];
    if (value === undefined || value === '') return '';
    if (typeof value === 'string' && form.test(value)) return value.replace(/\/+$/, '');
    wrong.push(name + ' must be ' + expected + '.');
    return '';
  }
  /** @param {'assistant' | 'analytics' | 'playground'} name */
  function flag(name) {
    var value = wanted[name];
    if (value !== undefined && typeof value !== 'boolean') wrong.push('features.' + name + ' must be true or false.');
    return value === true;
  }
  /** @param {any} value @returns {SiteConfig['analytics']} */
  function services(value) {
    if (value === undefined) return {};
    if (isObject(value) && Object.values(value).every(isObject)) return value;
    wrong.push('analytics must be an object with an object for each service.');
    return {};
  }
  var address = /^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/;
  var config = {
    deployment: given.deployment,
    features: {
      search: wanted.search || 'off',
      assistant: flag('assistant'),
      analytics: flag('analytics'),
      playground: flag('playground'),
    },
    siteUrl: text('siteUrl', address, 'an address such as "https://docs.example.com"'),
    serverUrl: text('serverUrl', address, 'an address such as "https://bindery.example.com"'),
    assistantKey: text(
      'assistantKey',
      /^svc_dsc_[0-9A-Za-z]{36}$/,
      'an assistant key (svc_dsc_…); an admin key is secret and must not be here',
    ),
    analytics: services(given.analytics),
    domain: text('domain', /^[a-z0-9-]{1,63}$/, 'the name of the site on the platform'),
  };
  var features = config.features;
  Object.keys(wanted).forEach(function (name) {
    if (!Object.prototype.hasOwnProperty.call(features, name)) wrong.push('There is no feature "' + name + '".');
  });
  Object.keys(given).forEach(function (name) {
    if (!Object.prototype.hasOwnProperty.call(config, name)) wrong.push('There is no setting "' + name + '".');
  });
  if (['server', 'bundle', 'off'].indexOf(features.search) < 0) {
    wrong.push('features.search must be "server", "bundle" or "off".');
    features.search = 'off';
  }
  var lacking = ['serverUrl', 'assistantKey', 'domain'].filter(function (name) {
    return !config[/** @type {'domain'} */ (name)];
  });
  if (lacking.length > 0 && (features.search === 'server' || features.assistant)) {
    wrong.push(
      'Without ' +
        lacking.join(' and ') +
        ' the assistant is off, and search uses the index in the folder of the site.',
    );
    features.assistant = false;
    if (features.search === 'server') features.search = 'bundle';
  }
  if (wrong.length > 0) console.warn('_bindery/config.js: ' + wrong.join(' '));
  return config;
}
