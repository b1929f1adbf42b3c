import { execFile } from 'node:child_process';
import { access, readFile } from 'node:fs/promises';
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
import { fetchElectron } from './fetch-electron.ts';
import type { PlatformClient } from './platform-client.ts';
import type { Terminal } from './terminal.ts';
import { type WindowChoice, windowSurroundings } from './window-surroundings.ts';

/** A registry that is slow, or says nothing at all. */
const FETCH_LIMIT_MS = 10 * 60_000;
const READER = 'gitlab-ci-local';

/** Something that has to be on this machine before the network goes. */
export interface OfflineNeed {
  name: string;
  isHere: boolean;
  /** How it is, and what to do when it is not there. */
  message: string;
  /** Fetches it while there is a network; absent where it is there, or has to come by another way. Throws why it could not. */
  fetch?(): Promise<unknown>;
}

export interface OfflineSurroundings {
  config: Config;
  terminal: Terminal;
  asked: WindowChoice;
  /** The platform that runs, if one does: its containers have images. */
  client: PlatformClient | undefined;
}

/** All that a demo without a network needs beside this package itself. */
export async function offlineNeeds(around: OfflineSurroundings): Promise<OfflineNeed[]> {
  const found = await Promise.all([
    imagesNeeded(around),
    readerNeeded(),
    electronNeeded(around),
    modulesNeeded(around.config),
  ]);
  return found.flat();
}

async function imagesNeeded({ terminal, client }: OfflineSurroundings): Promise<OfflineNeed[]> {
  const engine = await EngineCommand.find({ env: terminal.env, mark: '' });
  const name = 'images';
  if ('absence' in engine)
    return [{ name, isHere: false, message: `no container engine answers its command (${engine.absence}): start one` }];
  const images = [...new Set([SAMPLE_IMAGE, ...(await imagesOfContainers(client))])];
  return Promise.all(
    images.map(async (image): Promise<OfflineNeed> => {
      const isHere = await engine.run(['image', 'inspect', '--format', '{{.Id}}', image]).then(
        () => true,
        () => false,
      );
      if (isHere) return { name, isHere, message: `${image} is on this machine` };
      const instead =
        image === SAMPLE_IMAGE && process.platform === 'linux'
          ? "the sample's image is then built of this machine's own programs"
          : 'what is built or run from it fails';
      const fetch = () => engine.run(['pull', '--quiet', image], { signal: AbortSignal.timeout(FETCH_LIMIT_MS) });
      return { name, isHere, message: `${image} is not on this machine: ${instead}`, fetch };
    }),
  );
}

const containersSchema = z.array(z.looseObject({ properties: z.looseObject({ image: z.string().optional() }) }));

async function imagesOfContainers(client: PlatformClient | undefined): Promise<string[]> {
  const records = await client?.json('GET', '/meta/root/containers?expand=true', containersSchema);
  return (records ?? []).flatMap(({ properties: { image } }) => image ?? []);
}

async function readerNeeded(): Promise<OfflineNeed> {
  const name = 'pipelines';
  try {
    const { version } = createRequire(import.meta.url)(`${READER}/package.json`);
    return { name, isHere: true, message: `${READER} ${version}` };
  } catch {
    const wanted = `${READER}@${manifest.peerDependencies[READER]}`;
    const message = `${READER} is not installed (npm install --save-dev ${wanted})`;
    const home = dirname(packageFile('.'));
    // Of another place only whoever made it knows how to put packages there.
    if (basename(home) !== 'node_modules') return { name, isHere: false, message };
    const fetch = () => npm(['install', '--save-dev', wanted], dirname(home));
    return { name, isHere: false, message, fetch };
  }
}

async function electronNeeded({ terminal, asked }: OfflineSurroundings): Promise<OfflineNeed> {
  const name = 'Electron';
  const surroundings = windowSurroundings(terminal, asked);
  const { electron } = surroundings;
  if ('path' in electron) return { name, isHere: true, message: electron.path };
  const window = chooseWindow(surroundings);
  if (window.kind === 'headless') return { name, isHere: true, message: `not needed. ${window.line ?? 'No window.'}` };
  const message = `${electron.missing}: the window opens in a browser`;
  const { fetchInto } = electron;
  if (fetchInto === undefined) return { name, isHere: false, message };
  const fetch = () =>
    fetchElectron(fetchInto, {
      env: terminal.env,
      signal: new AbortController().signal,
      onProgress: () => undefined,
    });
  return { name, isHere: false, message, fetch };
}

/** Packages that every lambda can load; those of a lambda's own are in its archive. */
async function modulesNeeded({ lambdas: { modules } }: Config): Promise<OfflineNeed> {
  const name = 'packages';
  if (modules === undefined)
    return { name, isHere: true, message: 'none are named for all lambdas (--lambdas-modules): each brings its own' };
  const isThere = (file: string) =>
    access(join(modules, file)).then(
      () => true,
      () => false,
    );
  if (!(await isThere('package.json'))) {
    const isHere = await isThere('node_modules');
    return { name, isHere, message: isHere ? join(modules, 'node_modules') : `${modules} has no node_modules` };
  }
  const listed = z
    .looseObject({ dependencies: z.record(z.string(), z.string()).default({}) })
    .parse(JSON.parse(await readFile(join(modules, 'package.json'), 'utf8')));
  const names = Object.keys(listed.dependencies);
  const present = await Promise.all(names.map((one) => isThere(join('node_modules', one))));
  const missing = names.filter((_, index) => !present[index]);
  if (missing.length === 0) return { name, isHere: true, message: `${names.length} in ${modules}` };
  const message = `${missing.join(', ')} of ${modules} ${missing.length === 1 ? 'is' : 'are'} not installed (npm install there)`;
  return { name, isHere: false, message, fetch: () => npm(['install'], modules) };
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
