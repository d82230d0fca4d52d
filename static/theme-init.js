// A classic script before the style sheets: the theme has to stand before the first
// paint, or a dark page flashes white. It is a file because the page's policy allows
// no inline script.
(function () {
  var root = document.documentElement;
  try {
    var theme = localStorage.getItem('fingerpost.theme');
    if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
  } catch (e) {
    // Storage may be forbidden; the system's theme is used then.
  }
})();
