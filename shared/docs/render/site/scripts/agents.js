// Entries of a page's menu for agents: they copy the address of the endpoint, or open it in a program.
window.binderyAgents = function (menu, config, copies) {
  // A host of sites that answers questions has an endpoint for agents, and sets itself as the server of its pages.
  var isAsked = config.features.search === 'server' || config.features.assistant;
  if (!isAsked || config.serverUrl.indexOf(location.origin) !== 0) return;
  var url = config.serverUrl + '/mcp';
  var name = config.domain;
  /** @param {Element} entry @param {string} address */
  function opens(entry, address) {
    entry.setAttribute('href', address);
    entry.addEventListener('click', function () {
      menu.open = false;
    });
    entry.parentElement.hidden = false;
  }
  menu.hidden = false;
  /** @type {NodeListOf<HTMLElement>} */
  var entries = menu.querySelectorAll('[data-client]');
  entries.forEach(function (entry) {
    var client = entry.dataset.client;
    if (client === 'address') copies(entry, () => url);
    else if (client === 'command') copies(entry, () => 'npx add-mcp ' + url);
    else if (client === 'cursor')
      opens(
        entry,
        'cursor://anysphere.cursor-deeplink/mcp/install?name=' +
          encodeURIComponent(name) +
          '&config=' +
          encodeURIComponent(btoa(JSON.stringify({ url: url }))),
      );
    else
      opens(entry, 'vscode:mcp/install?' + encodeURIComponent(JSON.stringify({ name: name, type: 'http', url: url })));
  });
};
