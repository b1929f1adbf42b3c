import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../../server/testing/free-port.ts';
import { SUCCESS_TEXT } from './handler.ts';

/** A program that a developer might take instead. */
interface Peer {
  name: string;
  /** With exact versions. */
  packages: Record<string, string>;
  /** The contents of the files that it serves, by file name. */
  files: Record<string, string>;
  /** Arguments for Node; the first is a file below `node_modules`, or one of `files`. */
  args(port: number): string[];
}

/** Name of the folder in the user's cache with the installed packages. */
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'terrarium-bench');
const START_LIMIT_MS = 60_000;

export const FUNCTION_PEERS: readonly Peer[] = [
  {
    name: 'miniflare 4',
    packages: { miniflare: '4.20260426.0' },
    files: {
      'worker.mjs': `export default { async fetch(request) {
        return request.method === 'GET' ? new Response('${SUCCESS_TEXT}') : Response.json(await request.json());
      } };`,
      'serve.mjs': `import { Miniflare } from 'miniflare';
        const port = Number(process.argv[2]);
        const worker = new Miniflare({ host: '127.0.0.1', port, modules: true, scriptPath: 'worker.mjs' });
        await worker.ready;`,
    },
    args: (port) => ['serve.mjs', String(port)],
  },
  {
    name: 'functions-framework 5',
    packages: { '@google-cloud/functions-framework': '5.0.5' },
    files: {
      'index.js': `exports.run = (request, response) =>
        request.method === 'GET' ? response.send('${SUCCESS_TEXT}') : response.json(request.body);`,
    },
    args: (port) => [
      'node_modules/@google-cloud/functions-framework/build/src/main.js',
      '--target=run',
      `--port=${port}`,
      '--host=127.0.0.1',
    ],
  },
];

export const STORE_PEERS: readonly Peer[] = [
  {
    name: 'azurite 3 (table)',
    packages: { azurite: '3.35.0' },
    files: {},
    args: (port) => [
      'node_modules/azurite/dist/src/table/main.js',
      '--silent',
      '--skipApiVersionCheck',
      '--location=data',
      '--tableHost=127.0.0.1',
      `--tablePort=${port}`,
    ],
  },
  {
    name: 'json-server 0.17',
    packages: { 'json-server': '0.17.4' },
    files: {},
    args: (port) => [
      'node_modules/json-server/lib/cli/bin.js',
      '--quiet',
      '--host=127.0.0.1',
      `--port=${port}`,
      'data.json',
    ],
  },
];

/** A peer that answers. */
export interface Serving {
  name: string;
  port: number;
  child: ChildProcess;
}

/** Installs a peer with npm if it is missing, calls `prepare` with its folder, and starts it. Throws if it does not start. */
export async function startPeer(peer: Peer, prepare: (folder: string) => void = () => {}): Promise<Serving> {
  const folder = join(CACHE, peer.name.replace(/\W+/g, '-'));
  await install(peer, folder);
  for (const [name, text] of Object.entries(peer.files)) writeFileSync(join(folder, name), text);
  prepare(folder);
  const port = await freePort();
  const child = spawn(process.execPath, peer.args(port), {
    cwd: folder,
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  let complaints = '';
  child.stderr.on('data', (text) => {
    complaints = (complaints + text).slice(-2_000);
  });
  for (const untilMs = Date.now() + START_LIMIT_MS; !(await listens(port)); await wait(50)) {
    if (child.exitCode !== null || Date.now() > untilMs) {
      endPeer({ name: peer.name, port, child });
      throw new Error(`${peer.name} did not start: ${complaints.trim() || 'it said nothing'}`);
    }
  }
  return { name: peer.name, port, child };
}

/** Ends a peer with all its child processes. */
export function endPeer({ child }: Serving): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It is gone already.
  }
}

async function install({ name, packages }: Peer, folder: string): Promise<void> {
  const manifest = JSON.stringify({ private: true, dependencies: packages });
  const stamp = join(folder, `installed-${Object.values(packages).join('-')}`);
  if (existsSync(stamp)) return;
  console.error(`installing ${name} into ${folder} ...`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), manifest);
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  const npm = spawn('npm', ['install', ...flags], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(npm, 'exit');
  if (code !== 0) throw new Error(`${name} could not be installed: npm ended with ${code}`);
  writeFileSync(stamp, '');
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
