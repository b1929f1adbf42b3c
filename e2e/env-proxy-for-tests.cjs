'use strict';
// Gives a Node that does not know NODE_USE_ENV_PROXY what newer ones do by it: fetch and the global agent of node:http use the proxy.
const http = require('node:http');
const { EnvHttpProxyAgent, setGlobalDispatcher } = require('undici');

setGlobalDispatcher(new EnvHttpProxyAgent());
const { hostname, port } = new URL(process.env.HTTP_PROXY);

class ProxyAgent extends http.Agent {
  addRequest(request, options) {
    request.path = `http://${options.host}:${options.port}${request.path}`;
    super.addRequest(request, { ...options, host: hostname, port: Number(port) });
  }
}
http.globalAgent = new ProxyAgent();
