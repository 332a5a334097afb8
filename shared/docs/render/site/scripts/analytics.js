/** @typedef {Record<string, string>} ServiceSettings */
/** @typedef {{ url: string, title: string, referrer: string, id: string }} Visit */
/** @typedef {{ to: string, body: string, type: string }} Beacon */
var jsonType = 'application/json';
/** This type needs no CORS preflight, and the services parse it as JSON. */
var plainType = 'text/plain';
var formType = 'application/x-www-form-urlencoded';

/** The request to each service, by the documentation of its API. @type {Record<string, (settings: ServiceSettings, visit: Visit) => Beacon>} */
var beacons = {
  amplitude: (settings, visit) => ({
    to: 'https://api2.amplitude.com/2/httpapi',
    type: jsonType,
    body: JSON.stringify({
      api_key: settings.apiKey,
      events: [
        {
          event_type: 'Page Viewed',
          device_id: visit.id,
          event_properties: { url: visit.url, title: visit.title, referrer: visit.referrer },
        },
      ],
    }),
  }),
  ga4: (settings, visit) => ({
    to:
      'https://www.google-analytics.com/g/collect?' +
      new URLSearchParams({
        v: '2',
        tid: settings.measurementId,
        // Two numbers with a dot, the format of Google's client ids.
        cid: parseInt(visit.id.slice(0, 8), 16) + '.' + parseInt(visit.id.slice(8, 16), 16),
        sid: String(parseInt(visit.id.slice(16, 24), 16)),
        sct: '1',
        seg: '1',
        en: 'page_view',
        dl: visit.url,
        dt: visit.title,
        dr: visit.referrer,
        ul: navigator.language,
        sr: screen.width + 'x' + screen.height,
      }),
    type: plainType,
    body: '',
  }),
  matomo: (settings, visit) => ({
    to: addressOf(settings.url) + '/matomo.php',
    type: formType,
    body: String(
      new URLSearchParams({
        idsite: settings.siteId,
        rec: '1',
        apiv: '1',
        send_image: '0',
        rand: visit.id,
        url: visit.url,
        action_name: visit.title,
        urlref: visit.referrer,
      }),
    ),
  }),
  mixpanel: (settings, visit) => ({
    to: 'https://api-js.mixpanel.com/track?ip=0',
    type: formType,
    body: String(
      new URLSearchParams({
        data: JSON.stringify([
          {
            event: '$mp_web_page_view',
            properties: {
              token: settings.projectToken,
              distinct_id: visit.id,
              $insert_id: visit.id,
              time: Math.floor(Date.now() / 1000),
              current_page_title: visit.title,
              $current_url: visit.url,
              $referrer: visit.referrer,
            },
          },
        ]),
      }),
    ),
  }),
  plausible: (settings, visit) => ({
    to: addressOf(settings.server || 'plausible.io') + '/api/event',
    type: plainType,
    body: JSON.stringify({
      name: 'pageview',
      domain: settings.domain,
      url: visit.url,
      referrer: visit.referrer || null,
    }),
  }),
  posthog: (settings, visit) => ({
    to: addressOf(settings.apiHost || 'us.i.posthog.com') + '/i/v0/e/',
    type: jsonType,
    body: JSON.stringify({
      api_key: settings.apiKey,
      event: '$pageview',
      distinct_id: visit.id,
      properties: {
        $current_url: visit.url,
        $referrer: visit.referrer || '$direct',
        title: visit.title,
        $process_person_profile: false,
      },
    }),
  }),
  segment: (settings, visit) => ({
    to: 'https://api.segment.io/v1/page',
    type: plainType,
    body: JSON.stringify({
      writeKey: settings.key,
      anonymousId: visit.id,
      messageId: visit.id,
      name: visit.title,
      properties: { url: visit.url, path: location.pathname, title: visit.title, referrer: visit.referrer },
    }),
  }),
  umami: (settings, visit) => ({
    to: addressOf(settings.url) + '/api/send',
    type: jsonType,
    body: JSON.stringify({
      type: 'event',
      payload: {
        website: settings.websiteId,
        hostname: location.hostname,
        url: visit.url,
        title: visit.title,
        referrer: visit.referrer,
        language: navigator.language,
        screen: screen.width + 'x' + screen.height,
      },
    }),
  }),
};

/** Address of a server with or without https in front. Throws if it is invalid. @param {string} server */
function addressOf(server) {
  if (!/^[^\s?#@]+$/.test(server)) throw new TypeError();
  var address = new URL(/^https?:\/\//.test(server) ? server : 'https://' + server);
  return address.origin + address.pathname.replace(/\/+$/, '');
}

/** Address of the page, without parameters that may identify a reader. */
function visitedUrl() {
  var url = new URL(location.href);
  var kept = Array.from(url.searchParams).filter((parameter) => /^(utm_[a-z]+|ref|source)$/.test(parameter[0]));
  var query = String(new URLSearchParams(kept));
  return url.origin + url.pathname + (query && '?' + query);
}

/** Address of the referring page, without parameters that may identify a reader. Empty for pages of this site. */
function cameFrom() {
  try {
    var from = new URL(document.referrer);
    return from.origin === location.origin ? '' : from.protocol + '//' + from.host + from.pathname;
  } catch (_) {
    return '';
  }
}

/** @returns {Visit} */
function newVisit() {
  return {
    url: visitedUrl(),
    title: document.title,
    referrer: cameFrom(),
    // The identifier covers one view of one page: a reader of two pages counts as two visitors in services that need an identifier.
    id: Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(''),
  };
}

function countVisit() {
  var visit = newVisit();
  Object.entries(window.binderyConfig.analytics).forEach(function (entry) {
    var name = entry[0];
    if (name === 'consent') return;
    /** @type {Beacon} */
    var beacon;
    try {
      beacon = (Object.prototype.hasOwnProperty.call(beacons, name) && beacons[name])(entry[1], visit);
    } catch (_) {
      console.warn('_bindery/config.js: analytics.' + name + ' cannot be used.');
      return;
    }
    // A failure, such as a blocked request, is ignored, because it does not concern the reader.
    fetch(beacon.to, {
      method: 'POST',
      headers: { 'content-type': beacon.type },
      body: beacon.body,
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      keepalive: true,
    }).catch(function () {});
  });
}
/** Readers who object to tracking are not counted. If consent is configured, only readers who gave it are counted. */
function mayCount() {
  var reader = /** @type {{ doNotTrack?: string, globalPrivacyControl?: boolean }} */ (navigator);
  if (reader.doNotTrack === '1' || reader.globalPrivacyControl) return false;
  var consent = window.binderyConfig.analytics.consent;
  if (!consent) return true;
  if (document.cookie.split('; ').indexOf(consent.key + '=' + consent.value) >= 0) return true;
  try {
    return localStorage.getItem(consent.key) === consent.value;
  } catch (_) {
    return false;
  }
}
if (mayCount()) {
  // A prerendered page has no reader yet.
  if (/** @type {{ prerendering?: boolean }} */ (document).prerendering)
    document.addEventListener('prerenderingchange', countVisit, { once: true });
  else countVisit();
}
