// A reverse proxy that takes a prefix off, keeps the host and lets websockets through, as
// the dashboard's document shows for nginx.
import http from 'node:http';
import net from 'node:net';

/** @returns {Promise<{base: string, close: () => void}>} base has the prefix */
export async function prefixProxy(server, prefix) {
  const port = server.ports.httpPort;
  const sockets = new Set();
  const proxy = http.createServer((req, res) => {
    if (!req.url.startsWith(prefix + '/')) {
      res.writeHead(404).end();
      return;
    }
    const up = http.request({ host: '127.0.0.1', port, method: req.method, path: req.url.slice(prefix.length), headers: req.headers }, (r) => {
      res.writeHead(r.statusCode, r.rawHeaders);
      r.pipe(res);
    });
    up.on('error', () => res.destroy());
    req.pipe(up);
  });
  proxy.on('upgrade', (req, socket) => {
    const up = net.connect(port, '127.0.0.1', () => {
      const lines = [`${req.method} ${req.url.slice(prefix.length)} HTTP/1.1`];
      for (let i = 0; i < req.rawHeaders.length; i += 2) lines.push(req.rawHeaders[i] + ': ' + req.rawHeaders[i + 1]);
      up.write(lines.join('\r\n') + '\r\n\r\n');
      up.pipe(socket);
      socket.pipe(up);
    });
    for (const s of [up, socket]) {
      sockets.add(s);
      s.on('error', () => {}).on('close', () => {
        up.destroy();
        socket.destroy();
      });
    }
  });
  await new Promise((r) => proxy.listen(0, '127.0.0.1', r));
  return {
    base: `http://127.0.0.1:${proxy.address().port}${prefix}`,
    close: () => {
      sockets.forEach((s) => s.destroy());
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}
