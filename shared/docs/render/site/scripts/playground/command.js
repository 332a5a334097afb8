// The request as a command for a terminal.
/** @param {string} text */
function inShell(text) {
  return "'" + text.replace(/'/g, "'\\''") + "'";
}
/** @param {BuiltRequest} request */
function curlCommand(request) {
  var lines = ['curl ' + inShell(request.url)];
  if (request.method === 'HEAD') lines.push('--head');
  else if (request.method !== 'GET' || hasBody(request)) lines.push('--request ' + request.method);
  if (/[[\]{}]/.test(request.url)) lines.push('--globoff');
  request.headers.concat(request.hidden.headers).forEach(function (header) {
    lines.push('--header ' + inShell(header[0] + ': ' + header[1]));
  });
  (request.parts || []).forEach(function (part) {
    lines.push(partOption(part));
  });
  if (request.file) lines.push('--data-binary ' + inShell('@' + request.file.name));
  if (request.text !== undefined) lines.push('--data-raw ' + inShell(request.text));
  return lines.join(' \\\n  ');
}
/** @param {Part} part */
function partOption(part) {
  /** @param {string} text */
  function quoted(text) {
    return '"' + text.replace(/["\\]/g, '\\$&') + '"';
  }
  if (part.file) {
    var type = part.file.type || 'application/octet-stream';
    return '--form ' + inShell(part.name + '=@' + quoted(part.file.name) + ';type=' + type);
  }
  if (!part.mimeType) return '--form-string ' + inShell(part.name + '=' + part.text);
  return '--form ' + inShell(part.name + '=' + quoted(part.text) + ';type=' + part.mimeType);
}
