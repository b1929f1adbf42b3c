import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import type { Config } from '../platform/config-schema.ts';
import { READER } from '../runtimes/pipelines/declaration.ts';
import { JobEngine } from '../runtimes/pipelines/job-engine.ts';
import { SAMPLE_IMAGE } from '../runtimes/pipelines/sample-base.ts';
import { packageFile } from '../system/package-file.ts';
import { runBatch } from '../system/programs.ts';
import { SYSTEM } from '../system/this-system.ts';
import { chooseWindow, type WindowSettings, windowContext } from './choose-window.ts';
import { type Check, checkOf, checkRunner } from './doctor-checks.ts';
import { fetchElectron } from './fetch-electron.ts';
import type { Target } from './instance-options.ts';
import type { Terminal } from './terminal.ts';

const FETCH_LIMIT_MS = 10 * 60_000;

export interface OfflineContext {
  config: Config;
  terminal: Terminal;
  settings: WindowSettings;
  /** Finds the running platform, if any; the images of its containers are checked, too. */
  findPlatform(): Promise<Target>;
}

export async function offlineNeeds(context: OfflineContext): Promise<Check[]> {
  const found = await Promise.all([
    imagesNeeded(context),
    readerNeeded(),
    electronNeeded(context),
    modulesNeeded(context.config),
  ]);
  return found.flat();
}

async function imagesNeeded({ config, terminal, findPlatform }: OfflineContext): Promise<Check[]> {
  const engine = await JobEngine.find(terminal.env, config.containers.engine);
  const report = checkOf('images', false);
  const unknown: Check[] = [];
  const containerImages = await imagesOfContainers(findPlatform).catch((failure: Error) => {
    unknown.push(report(false, `those of containers are not known: ${failure.message}`));
    return [];
  });
  if ('absence' in engine) return [report(false, engine.absence), ...unknown];
  const images = [...new Set([SAMPLE_IMAGE, ...containerImages])];
  const found = await Promise.all(
    images.map(async (image) => {
      if (await engine.hasImage(image)) return report(true, `${image} is on this machine`);
      const instead =
        image === SAMPLE_IMAGE && SYSTEM === 'linux'
          ? "the sample's image is built from programs of this machine instead"
          : 'builds and containers that use it fail';
      const fetch = () => engine.requireImage(image, AbortSignal.timeout(FETCH_LIMIT_MS));
      return report(false, `${image} is not on this machine: ${instead}`, fetch);
    }),
  );
  return [...found, ...unknown];
}

const containersSchema = z.array(z.looseObject({ properties: z.looseObject({ image: z.string().optional() }) }));

async function imagesOfContainers(findPlatform: OfflineContext['findPlatform']): Promise<string[]> {
  const { client } = await findPlatform();
  const records = await client?.json('GET', '/meta/root/containers?expand=true', containersSchema);
  return (records ?? []).flatMap(({ properties: { image } }) => image ?? []);
}

function readerNeeded(): Check {
  const home = dirname(packageFile('.'));
  // Outside of node_modules, npm cannot install next to this package.
  const canInstall = basename(home) === 'node_modules';
  return checkRunner(canInstall ? () => npm(['install', '--save-dev', READER], dirname(home)) : undefined);
}

async function electronNeeded({ terminal, settings }: OfflineContext): Promise<Check> {
  const report = checkOf('Electron', false);
  const context = windowContext(terminal, settings);
  const { electron } = context;
  if ('path' in electron) return report(true, electron.path);
  const window = chooseWindow(context);
  if (window.kind === 'headless') return report(true, `not needed. ${window.line ?? 'No window.'}`);
  const message = `${electron.missing}: the window opens in a browser`;
  const { fetchInto } = electron;
  if (fetchInto === undefined) return report(false, message);
  const how = { env: terminal.env, signal: new AbortController().signal };
  return report(false, message, () => fetchElectron(fetchInto, how));
}

/** Packages that every lambda can load; a lambda's own packages are in its archive. */
async function modulesNeeded({ lambdas: { modules } }: Config): Promise<Check> {
  const report = checkOf('packages', false);
  if (modules === undefined) return report(true, '--lambdas-modules is not set: each lambda contains its own packages');
  const exists = (file: string) => existsSync(join(modules, file));
  if (!exists('package.json')) {
    const hasModules = exists('node_modules');
    return report(hasModules, hasModules ? join(modules, 'node_modules') : `${modules} has no node_modules`);
  }
  const listed = z
    .looseObject({ dependencies: z.record(z.string(), z.string()).default({}) })
    .parse(JSON.parse(await readFile(join(modules, 'package.json'), 'utf8')));
  const names = Object.keys(listed.dependencies);
  const missing = names.filter((packageName) => !exists(join('node_modules', packageName)));
  if (missing.length === 0) return report(true, `${names.length} in ${modules}`);
  const message = `${missing.join(', ')} of ${modules} ${missing.length === 1 ? 'is' : 'are'} not installed (npm install there)`;
  return report(false, message, () => npm(['install'], modules));
}

async function npm(args: readonly string[], cwd: string): Promise<void> {
  await runBatch('npm', [...args, '--no-audit', '--no-fund'], { cwd, timeout: FETCH_LIMIT_MS }).catch((failure) => {
    throw new Error(
      String(failure.stderr || failure.message)
        .trim()
        .split('\n')
        .slice(0, 2)
        .join(' '),
    );
  });
}
