// A classic script before the style sheet. The theme has to stand before the first paint,
// or a dark page flashes white; and what the first view shows is asked for now, while the
// browser still loads and reads the modules. It is a file because the page's policy allows
// no inline script. What it began is taken over by lib/api.js and lib/live.js.
(function () {
  var root = document.documentElement;
  try {
    var theme = localStorage.getItem('fingerpost.theme');
    if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
  } catch (e) {
    // Storage may be forbidden; the system's theme is used then.
  }

  var begun = globalThis.begun = { whoami: null, socket: null, heard: [] };
  // A socket that would be refused is not opened: a browser complains of it on its console.
  // The server wrote into the page whether this one would be.
  if ('reads' in root.dataset) {
    var at = new URL('../ws', document.baseURI);
    at.protocol = at.protocol.replace('http', 'ws');
    var socket = begun.socket = new WebSocket(at.href, ['namesrv.v1']);
    socket.onopen = function () { socket.send(JSON.stringify({ op: 'subscribe', id: 'all', snapshot: true })); };
    socket.onmessage = function (e) { begun.heard.push(e.data); };
  }
  begun.whoami = fetch(new URL('../api/v1/whoami', document.baseURI), { headers: { Accept: 'application/json' }, credentials: 'same-origin' });
  begun.whoami.catch(function () {
    // The modules ask again, and say what is wrong.
  });
})();
