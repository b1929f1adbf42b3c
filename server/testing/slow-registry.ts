import { createHash, randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { pack } from 'tar-stream';
import { listenAt } from '../api/server/listening.ts';

const BUSYBOX = '/bin/busybox';
/** Content that makes the image slow to load; random, so that no daemon has it cached. */
const BALLAST_BYTES = 4 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
/** The daemon reports progress ten times a second; faster downloads would not be reported. */
const CHUNK_INTERVAL_MS = 10;

/** A registry on a loopback port with one new image. Half of its layer is sent immediately, the rest on demand. */
export interface SlowRegistry {
  /** `127.0.0.1:PORT/terrarium-test/slow:1`; daemons take loopback registries without TLS. */
  image: string;
  /** Resolves when a daemon has received the first half and waits for the rest. */
  waitForHalf(): Promise<unknown>;
  /** Sends the rest. */
  sendRest(): void;
  stop(): void;
}

interface Blob {
  mediaType: string;
  size: number;
  digest: string;
  content: Buffer;
}

const digestOf = (content: Buffer) => `sha256:${createHash('sha256').update(content).digest('hex')}`;
const blobOf = (mediaType: string, content: Buffer): Blob => ({
  mediaType,
  size: content.length,
  digest: digestOf(content),
  content,
});

/** Starts the registry; containers of the image sleep. */
export async function startSlowRegistry(): Promise<SlowRegistry> {
  const layer = blobOf('application/vnd.docker.image.rootfs.diff.tar', await layerContent());
  const settings = {
    architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
    os: 'linux',
    config: { Cmd: ['sleep', '3600'], Env: ['PATH=/bin'] },
    rootfs: { type: 'layers', diff_ids: [layer.digest] },
  };
  const config = blobOf('application/vnd.docker.container.image.v1+json', Buffer.from(JSON.stringify(settings)));
  const listed = ({ mediaType, size, digest }: Blob) => ({ mediaType, size, digest });
  const manifest = blobOf(
    'application/vnd.docker.distribution.manifest.v2+json',
    Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: 'application/vnd.docker.distribution.manifest.v2+json',
        config: listed(config),
        layers: [listed(layer)],
      }),
    ),
  );
  const steps = new EventEmitter();
  const [atHalf, atRest] = [once(steps, 'half'), once(steps, 'rest')];
  const sendSlowly = async (res: ServerResponse) => {
    const middle = Math.floor(layer.size / 2);
    for (let at = 0; at < middle; at += CHUNK_BYTES) {
      res.write(layer.content.subarray(at, Math.min(at + CHUNK_BYTES, middle)));
      await pause(CHUNK_INTERVAL_MS);
    }
    steps.emit('half');
    await atRest;
    res.end(layer.content.subarray(middle));
  };
  const server = createServer((req, res) => {
    const { url = '', method } = req;
    const blob = [layer, config].find(({ digest }) => url.endsWith(`/blobs/${digest}`));
    const found = url.includes('/manifests/') ? manifest : blob;
    if (url === '/v2/') return res.end('{}');
    if (!found) return res.writeHead(404).end();
    res.writeHead(200, {
      'Content-Type': found.mediaType,
      'Content-Length': found.size,
      'Docker-Content-Digest': found.digest,
    });
    if (method === 'HEAD') return res.end();
    if (found === layer) return void sendSlowly(res);
    return res.end(found.content);
  });
  const { port } = await listenAt(server, { host: '127.0.0.1', port: 0 });
  return {
    image: `127.0.0.1:${port}/terrarium-test/slow:1`,
    waitForHalf: () => atHalf,
    sendRest: () => void steps.emit('rest'),
    stop: () => {
      steps.emit('rest');
      server.close();
      server.closeAllConnections();
    },
  };
}

async function layerContent(): Promise<Buffer> {
  const archive = pack();
  archive.entry({ name: 'bin/', type: 'directory', mode: 0o755 });
  archive.entry({ name: 'bin/busybox', mode: 0o755 }, await readFile(BUSYBOX));
  for (const applet of ['sh', 'sleep', 'echo'])
    archive.entry({ name: `bin/${applet}`, type: 'symlink', linkname: 'busybox' });
  archive.entry({ name: 'ballast' }, randomBytes(BALLAST_BYTES));
  archive.finalize();
  return buffer(archive as AsyncIterable<Buffer>); // its type does not declare it
}
