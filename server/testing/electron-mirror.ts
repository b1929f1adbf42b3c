// Electron's own package with its own installer, and a mirror on loopback with a replacement of the binary.
import { createHash } from 'node:crypto';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import electron from '../../node_modules/electron/package.json' with { type: 'json' };
import { closeWithin, listenAt } from '../api/server/listening.ts';
import { packageFile } from '../system/package-file.ts';

const FILES = ['package.json', 'install.js', 'checksums.json', 'index.js'];
const DEPENDENCIES = ['@electron/get', '@electron-internal/extract-zip'];

/** Installs Electron's package without its binary into a folder's `node_modules`; resolves to the folder of the package. */
export async function makeElectronPackage(project: string): Promise<string> {
  const folder = join(project, 'node_modules', 'electron');
  await mkdir(folder, { recursive: true });
  for (const name of FILES) await cp(packageFile(`node_modules/electron/${name}`), join(folder, name));
  for (const name of DEPENDENCIES) {
    await mkdir(join(folder, '..', name, '..'), { recursive: true });
    await symlink(packageFile(`node_modules/${name}`), join(folder, '..', name));
  }
  return folder;
}

/** The behavior of a mirror for requests of the binary. */
export type MirrorBehavior = 'well' | 'slow' | 'changed' | 'cut' | 'without';

export interface ElectronMirror {
  behavior: MirrorBehavior;
  /** Number of requests for the binary. */
  requestCount: number;
  /** Environment for an installer that uses the mirror, with a separate cache. */
  env(folder: string): Record<string, string>;
  stop(): Promise<void>;
}

/** @param script replacement of the binary: a shell script */
export async function startElectronMirror(script: string): Promise<ElectronMirror> {
  const zip = new ZipFile();
  zip.addBuffer(Buffer.from(`#!/bin/sh\n${script}\n`), 'electron', { mode: 0o100755 });
  zip.addBuffer(Buffer.from(electron.version), 'version');
  zip.end();
  const bytes = await buffer(zip.outputStream);
  const name = `electron-v${electron.version}-${process.platform}-${process.arch}.zip`;
  const server = createServer(({ url = '' }, response) => {
    if (url.endsWith('/SHASUMS256.txt')) {
      response.end(`${createHash('sha256').update(bytes).digest('hex')} *${name}\n`);
    } else if (url === `/v${electron.version}/${name}` && mirror.behavior !== 'without') {
      mirror.requestCount += 1;
      sendBinary(mirror.behavior, response, bytes);
    } else response.writeHead(404).end();
  });
  const { port } = await listenAt(server, { host: '127.0.0.1', port: 0 });
  const mirror: ElectronMirror = {
    behavior: 'well',
    requestCount: 0,
    env: (folder) => ({
      ELECTRON_MIRROR: `http://127.0.0.1:${port}/`,
      electron_use_remote_checksums: '1',
      electron_config_cache: join(folder, 'cache'),
    }),
    stop: () => closeWithin(server, 0),
  };
  return mirror;
}

function sendBinary(behavior: MirrorBehavior, response: ServerResponse, bytes: Buffer): void {
  response.setHeader('Content-Length', bytes.length);
  const half = Math.ceil(bytes.length / 2);
  if (behavior === 'changed') response.end(Buffer.from(bytes).fill(0, half));
  else if (behavior === 'slow') response.write(bytes.subarray(0, half));
  else if (behavior === 'cut') response.write(bytes.subarray(0, half), () => response.destroy());
  else response.end(bytes);
}
