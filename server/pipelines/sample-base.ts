import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { reasonOf } from '../model/reason.ts';
import { EngineCommand } from './engine-command.ts';
import type { PipelineSurroundings } from './pipeline-request.ts';

/** What the sample app's image is built from. */
export const SAMPLE_IMAGE = 'busybox:1.36';
/** What it is built from where that is not to be had: made here, of this machine's own programs. */
const OWN_IMAGE = 'terrarium/sample-base:1';
/** A registry that says neither yes nor no. */
const PULL_LIMIT_MS = 60_000;
const PROGRAMS = ['sh', 'sed', 'mkdir'];
/** Serves a folder as busybox' program of that name does: `httpd -f -p PORT -h DIR`. */
const HTTPD = `#!/bin/node
const { createReadStream } = require('node:fs');
const { createServer } = require('node:http');
const { join, normalize } = require('node:path');
const after = (word) => process.argv[process.argv.indexOf(word) + 1];
const types = { html: 'text/html', txt: 'text/plain' };
createServer(({ url }, response) => {
  const path = normalize(decodeURI(url.replace(/[?#].*/, ''))).replace(/\\/$/, '/index.html');
  const file = createReadStream(join(after('-h'), path));
  file.once('open', () => {
    response.setHeader('Content-Type', types[path.split('.').at(-1)] ?? 'application/octet-stream');
    file.pipe(response);
  });
  file.once('error', () => response.writeHead(404).end());
}).listen(Number(after('-p')));
// Nobody else ends the first process of a container.
process.on('SIGTERM', () => process.exit());
`;

/**
 * Variables that the sample app's pipeline needs here: none where its base image is there or can be pulled, and else the one that
 * names a base that is made here. Says so.
 *
 * @param image the base image
 */
export async function sampleBase(
  { env, signal, say }: Pick<PipelineSurroundings, 'env' | 'signal' | 'say'>,
  image = SAMPLE_IMAGE,
): Promise<Record<string, string>> {
  const engine = await EngineCommand.find({ env, mark: '' });
  if ('absence' in engine) return {};
  try {
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(PULL_LIMIT_MS)]);
    await engine.demandImage(image, inTime, () => say(`pulling ${image}`));
    return {};
  } catch (failure) {
    signal.throwIfAborted();
    const why = `${image} is not on this machine and cannot be pulled (${reasonOf(failure)})`;
    if (process.platform !== 'linux') {
      say(`${why}: fetch it while there is a network (\`terrarium doctor --offline --fetch\`)`);
      return {};
    }
    say(`${why}: the image is built from ${OWN_IMAGE} instead, of this machine's own programs`);
  }
  if (!(await engine.hasImage(OWN_IMAGE, signal))) await makeBase(engine, signal, env);
  return { BASE: OWN_IMAGE };
}

async function makeBase(engine: EngineCommand, signal: AbortSignal, env: PipelineSurroundings['env']): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'terrarium-base-'));
  try {
    const { pack } = await import('tar-stream');
    const archive = pack();
    const written = pipeline(archive, createWriteStream(join(folder, 'base.tar')), { signal });
    for (const [path, content] of await filesOfBase(env)) archive.entry({ name: path.slice(1), mode: 0o755 }, content);
    archive.finalize();
    await written;
    await engine.run(['import', '--change', 'ENV PATH=/bin', join(folder, 'base.tar'), OWN_IMAGE], { signal });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Programs, and the libraries that they are linked with, where the loader looks for them. */
async function filesOfBase(env: PipelineSurroundings['env']): Promise<Map<string, Buffer | string>> {
  const programs = await Promise.all(PROGRAMS.map(async (name) => [name, await programOf(name, env)] as const));
  const files = new Map<string, Buffer | string>([['/bin/httpd', HTTPD]]);
  for (const [name, path] of [...programs, ['node', process.execPath] as const]) {
    files.set(`/bin/${name}`, await readFile(path));
    // What is linked with nothing makes it end with an error.
    const { stdout } = await promisify(execFile)('ldd', [path]).catch(() => ({ stdout: '' }));
    for (const [, library = ''] of stdout.matchAll(/(\/\S+) \(0x/g)) files.set(library, await readFile(library));
  }
  return files;
}

async function programOf(name: string, env: PipelineSurroundings['env']): Promise<string> {
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    const path = await realpath(join(folder, name)).catch(() => undefined);
    if (path) return path;
  }
  throw new Error(`'${name}' is not on the PATH, and the sample's base image needs it`);
}
