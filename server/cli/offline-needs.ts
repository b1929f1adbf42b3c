import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import manifest from '../../package.json' with { type: 'json' };
import type { Config } from '../config-schema.ts';
import { packageFile } from '../package-file.ts';
import { EngineCommand } from '../pipelines/engine-command.ts';
import { SAMPLE_IMAGE } from '../pipelines/sample-base.ts';
import { chooseWindow } from './choose-window.ts';
import { type Check, checkOf } from './doctor-checks.ts';
import { fetchElectron } from './fetch-electron.ts';
import type { PlatformClient } from './platform-client.ts';
import type { Terminal } from './terminal.ts';
import { type WindowChoice, windowSurroundings } from './window-surroundings.ts';

/** A registry that is slow, or says nothing at all. */
const FETCH_LIMIT_MS = 10 * 60_000;
const READER = 'gitlab-ci-local';

export interface OfflineSurroundings {
  config: Config;
  terminal: Terminal;
  asked: WindowChoice;
  /** The platform that runs, if one does: its containers have images. */
  client: PlatformClient | undefined;
}

/** All that a demo without a network needs beside this package itself. */
export async function offlineNeeds(around: OfflineSurroundings): Promise<Check[]> {
  const found = await Promise.all([
    imagesNeeded(around),
    readerNeeded(),
    electronNeeded(around),
    modulesNeeded(around.config),
  ]);
  return found.flat();
}

async function imagesNeeded({ terminal, client }: OfflineSurroundings): Promise<Check[]> {
  const engine = await EngineCommand.find({ env: terminal.env, mark: '' });
  const said = checkOf('images', false);
  if ('absence' in engine)
    return [said(false, `no container engine answers its command (${engine.absence}): start one`)];
  const images = [...new Set([SAMPLE_IMAGE, ...(await imagesOfContainers(client))])];
  return Promise.all(
    images.map(async (image) => {
      if (await engine.hasImage(image)) return said(true, `${image} is on this machine`);
      const instead =
        image === SAMPLE_IMAGE && process.platform === 'linux'
          ? "the sample's image is then built of this machine's own programs"
          : 'what is built or run from it fails';
      const fetch = () => engine.run(['pull', '--quiet', image], { signal: AbortSignal.timeout(FETCH_LIMIT_MS) });
      return said(false, `${image} is not on this machine: ${instead}`, fetch);
    }),
  );
}

const containersSchema = z.array(z.looseObject({ properties: z.looseObject({ image: z.string().optional() }) }));

async function imagesOfContainers(client: PlatformClient | undefined): Promise<string[]> {
  const records = await client?.json('GET', '/meta/root/containers?expand=true', containersSchema);
  return (records ?? []).flatMap(({ properties: { image } }) => image ?? []);
}

async function readerNeeded(): Promise<Check> {
  const said = checkOf('pipelines', false);
  try {
    const { version } = createRequire(import.meta.url)(`${READER}/package.json`);
    return said(true, `${READER} ${version}`);
  } catch {
    const wanted = `${READER}@${manifest.peerDependencies[READER]}`;
    const message = `${READER} is not installed (npm install --save-dev ${wanted})`;
    const home = dirname(packageFile('.'));
    // Of another place only whoever made it knows how to put packages there.
    if (basename(home) !== 'node_modules') return said(false, message);
    return said(false, message, () => npm(['install', '--save-dev', wanted], dirname(home)));
  }
}

async function electronNeeded({ terminal, asked }: OfflineSurroundings): Promise<Check> {
  const said = checkOf('Electron', false);
  const surroundings = windowSurroundings(terminal, asked);
  const { electron } = surroundings;
  if ('path' in electron) return said(true, electron.path);
  const window = chooseWindow(surroundings);
  if (window.kind === 'headless') return said(true, `not needed. ${window.line ?? 'No window.'}`);
  const message = `${electron.missing}: the window opens in a browser`;
  const { fetchInto } = electron;
  if (fetchInto === undefined) return said(false, message);
  const how = { env: terminal.env, signal: new AbortController().signal, onProgress: () => undefined };
  return said(false, message, () => fetchElectron(fetchInto, how));
}

/** Packages that every lambda can load; those of a lambda's own are in its archive. */
async function modulesNeeded({ lambdas: { modules } }: Config): Promise<Check> {
  const said = checkOf('packages', false);
  if (modules === undefined)
    return said(true, 'none are named for all lambdas (--lambdas-modules): each brings its own');
  const isThere = (file: string) => existsSync(join(modules, file));
  if (!isThere('package.json')) {
    const isHere = isThere('node_modules');
    return said(isHere, isHere ? join(modules, 'node_modules') : `${modules} has no node_modules`);
  }
  const listed = z
    .looseObject({ dependencies: z.record(z.string(), z.string()).default({}) })
    .parse(JSON.parse(await readFile(join(modules, 'package.json'), 'utf8')));
  const names = Object.keys(listed.dependencies);
  const missing = names.filter((one) => !isThere(join('node_modules', one)));
  if (missing.length === 0) return said(true, `${names.length} in ${modules}`);
  const message = `${missing.join(', ')} of ${modules} ${missing.length === 1 ? 'is' : 'are'} not installed (npm install there)`;
  return said(false, message, () => npm(['install'], modules));
}

async function npm(args: readonly string[], cwd: string): Promise<void> {
  const program = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const options = { cwd, timeout: FETCH_LIMIT_MS, shell: process.platform === 'win32' };
  await promisify(execFile)(program, [...args, '--no-audit', '--no-fund'], options).catch((failure) => {
    throw new Error(
      String(failure.stderr || failure.message)
        .trim()
        .split('\n')
        .slice(0, 2)
        .join(' '),
    );
  });
}
