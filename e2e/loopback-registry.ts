import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An npm registry on loopback with one package. */
export interface LoopbackRegistry {
  url: string;
  /** The requested paths, such as `/terrarium-emulator`. */
  requestedPaths: string[];
  stop(): Promise<void>;
}

/** @param tarball as `npm pack` writes it; `manifest` is its package.json */
export async function startLoopbackRegistry(
  tarball: string,
  manifest: { name: string; version: string },
): Promise<LoopbackRegistry> {
  const bytes = await readFile(tarball);
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  const requestedPaths: string[] = [];
  const server = createServer((request, response) => {
    const { url = '' } = request;
    requestedPaths.push(url);
    const at = `http://127.0.0.1:${port}/${manifest.name}/-/${manifest.name}.tgz`;
    if (url === `/${manifest.name}`) {
      const version = { ...manifest, dist: { tarball: at, integrity } };
      response.setHeader('Content-Type', 'application/json');
      response.end(
        JSON.stringify({
          name: manifest.name,
          'dist-tags': { latest: manifest.version },
          versions: { [manifest.version]: version },
        }),
      );
    } else if (url === new URL(at).pathname) response.end(bytes);
    else response.writeHead(404).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    requestedPaths,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
