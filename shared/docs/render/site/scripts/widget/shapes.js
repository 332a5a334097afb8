// Makes icons of elements. Markup as a text would need a policy on pages with Trusted Types.
/** @param {string} markup of our own: an `svg` element with shapes in it @returns {Element} */
function shapesOf(markup) {
  /** @type {Element} */
  var whole;
  (markup.match(/<[a-z]+[^>]*>/g) || []).forEach(function (tag) {
    var shape = document.createElementNS('http://www.w3.org/2000/svg', /[a-z]+/.exec(tag)[0]);
    (tag.match(/[\w-]+="[^"]*"/g) || []).forEach(function (attribute) {
      var at = attribute.indexOf('=');
      shape.setAttribute(attribute.slice(0, at), attribute.slice(at + 2, -1));
    });
    if (whole) whole.append(shape);
    else whole = shape;
  });
  return whole;
}
