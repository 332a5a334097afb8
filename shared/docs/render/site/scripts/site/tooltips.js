// A tooltip opens to the side with enough space, because overflow of the content's box is hidden.
all('.tooltip').forEach(function (tooltip) {
  var tip = tooltip.querySelector('.tooltip-content');
  var box = tooltip.closest('.content-box, .page-aside');
  if (!tip || !box) return;
  function place() {
    tooltip.classList.remove('below');
    tooltip.style.removeProperty('--shift');
    var frame = box.getBoundingClientRect();
    var header = document.querySelector('.navbar');
    var top = Math.max(frame.top, header ? header.getBoundingClientRect().bottom : 0);
    var bubble = tip.getBoundingClientRect();
    if (bubble.top < top) tooltip.classList.add('below');
    var shift = Math.max(0, frame.left - bubble.left) - Math.max(0, bubble.right - frame.right);
    if (shift !== 0) tooltip.style.setProperty('--shift', shift + 'px');
  }
  tooltip.addEventListener('pointerenter', place);
  tooltip.addEventListener('focusin', place);
});
