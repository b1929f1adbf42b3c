import { readFile, realpath } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { reasonOf } from '../../model/errors.ts';
import { SHELL_COMMAND } from '../../model/shell-command.ts';
import { runProgram } from '../../system/programs.ts';
import { SYSTEM } from '../../system/this-system.ts';
import { JobEngine } from './job-engine.ts';
import type { PipelineContext } from './pipeline-request.ts';

export const SAMPLE_IMAGE = 'busybox:1.36';
/** The image that is built locally from programs of this machine if the base image is not available. */
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
// The first process of a container ignores signals that it does not handle.
process.on('SIGTERM', () => process.exit());
`;

/**
 * Variables for the sample app's pipeline: none if its base image exists or can be pulled, otherwise the name of a base image that is built
 * here. Prints a message about it.
 * @param image the base image
 */
export async function sampleBase(
  {
    env,
    containerEngine,
    signal,
    reportLine,
  }: Pick<PipelineContext, 'env' | 'containerEngine' | 'signal' | 'reportLine'>,
  image = SAMPLE_IMAGE,
): Promise<Record<string, string>> {
  const engine = await JobEngine.find(env, containerEngine);
  if ('absence' in engine) return {};
  try {
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(PULL_LIMIT_MS)]);
    const failure = await engine
      .requireImage(image, inTime, () => reportLine(`pulling ${image}`))
      .catch((thrown) => (inTime.aborted ? `pulling ${image} takes more than a minute` : reasonOf(thrown)));
    if (failure === undefined) return {};
    signal.throwIfAborted();
    if (SYSTEM !== 'linux') {
      reportLine(`${failure}. Download it while you are online: \`${SHELL_COMMAND} doctor --offline --fetch\``);
      return {};
    }
    reportLine(`${failure}. The image is built from ${OWN_IMAGE} instead, with programs of this machine`);
    if (!(await engine.hasImage(OWN_IMAGE))) await makeBase(engine, env);
    return { BASE: OWN_IMAGE };
  } finally {
    engine.connection.close();
  }
}

async function makeBase(engine: JobEngine, env: PipelineContext['env']): Promise<void> {
  const { pack } = await import('tar-stream');
  const archive = pack();
  for (const [path, content] of await filesOfBase(env)) archive.entry({ name: path.slice(1), mode: 0o755 }, content);
  archive.finalize();
  const [repo, tag] = OWN_IMAGE.split(':');
  await engine.importImage(archive, { repo, tag, changes: ['ENV PATH=/bin'] });
}

/** Programs, and the libraries that they are linked with, where the loader looks for them. */
async function filesOfBase(env: PipelineContext['env']): Promise<Map<string, Buffer | string>> {
  const programs = await Promise.all(PROGRAMS.map(async (name) => [name, await programOf(name, env)] as const));
  const files = new Map<string, Buffer | string>([['/bin/httpd', HTTPD]]);
  for (const [name, path] of [...programs, ['node', process.execPath] as const]) {
    files.set(`/bin/${name}`, await readFile(path));
    // For a statically linked program, this command ends with an error.
    const { stdout } = await runProgram('ldd', [path]).catch(() => ({ stdout: '' }));
    for (const [, library = ''] of stdout.matchAll(/(\/\S+) \(0x/g)) files.set(library, await readFile(library));
  }
  return files;
}

async function programOf(name: string, env: PipelineContext['env']): Promise<string> {
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    const path = await realpath(join(folder, name)).catch(() => undefined);
    if (path) return path;
  }
  throw new Error(`'${name}' is not on the PATH, but the sample's base image requires it`);
}
