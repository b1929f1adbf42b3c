import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { UserError } from '../config.ts';
import type { Config } from '../config-schema.ts';
import { readConfig } from '../config-sources.ts';
import { findInstance, type InstanceRecord } from './instance-file.ts';
import { addInstanceOption, namedFolder } from './instance-name.ts';
import { type KeyPair, PlatformClient } from './platform-client.ts';
import { printAnswer } from './print-answer.ts';
import { printLines, type Terminal } from './terminal.ts';

const EXIT_CODES = `
Exit codes: 0 done; 1 the answer is no, or the platform does not answer; 2 something to put right in what was asked.`;

/** Gives a command the options that say which running platform is meant, and `--json`. */
export function addPlatformOptions(
  command: Command,
  json = 'print JSON on standard output, and nothing else',
): Command {
  return addInstanceOption(command.option('--data <DIR>', 'data folder of the platform that is meant (TERRARIUM_DATA)'))
    .option('--base-url <URL>', 'its address, for one that runs elsewhere (TERRARIUM_BASE_URL)')
    .option('--key <KEY>', 'API key; unless given, that of the data folder (TERRARIUM_API_KEY)')
    .option('--secret <TEXT>', 'its secret (TERRARIUM_API_SECRET)')
    .option('--json', json)
    .addHelpText('after', EXIT_CODES);
}

/** What a command has found: as JSON, and as people read it. */
export interface Found {
  answer: unknown;
  lines: Iterable<string>;
}

/** Makes a command one that asks a running platform something, and prints what it has found there. */
export function askPlatform<Words extends string[]>(
  command: Command,
  terminal: Terminal,
  find: (client: PlatformClient, ...words: Words) => Promise<Found>,
): void {
  addPlatformOptions(command).action(async (...words: Words) => {
    const { answer, lines } = await find(await connect(command, terminal), ...words);
    printAnswer(command, terminal, answer, () => printLines(lines, terminal));
  });
}

type Surroundings = Pick<Terminal, 'env' | 'folder'>;

/** The value of an option that takes one. */
export function textOption(command: Command, name: string): string | undefined {
  const value: unknown = command.getOptionValue(name);
  return typeof value === 'string' ? value : undefined;
}

/** The options of these names that are given, as a query. */
export function queryOf(command: Command, names: readonly string[]): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of names) {
    const value = textOption(command, name);
    if (value !== undefined) query.set(name, value);
  }
  return query;
}

/**
 * Configuration of the data folder that the options, the environment or terrarium.json name.
 *
 * @throws UserError
 */
export function localConfig(command: Command, { env, folder }: Surroundings): Config {
  const data = namedFolder(command) ?? textOption(command, 'data');
  return readConfig({ flags: data === undefined ? {} : { data }, env, folder }).config;
}

/** The platform that a command is about: by its address, or by its data folder. */
export type Target =
  | { kind: 'address'; client: PlatformClient }
  | { kind: 'folder'; dataDir: string; running: { client: PlatformClient; instance: InstanceRecord } | undefined };

/**
 * Finds the platform that the options mean, or else the environment.
 *
 * @throws UserError for options that cannot be used
 */
export async function findTarget(command: Command, surroundings: Surroundings): Promise<Target> {
  const flags = pairOf(textOption(command, 'key'), textOption(command, 'secret'), '--key and --secret');
  const { TERRARIUM_BASE_URL, TERRARIUM_API_KEY, TERRARIUM_API_SECRET } = surroundings.env;
  const ofEnvironment = () => pairOf(TERRARIUM_API_KEY, TERRARIUM_API_SECRET, 'TERRARIUM_API_KEY and _SECRET');
  const isLocal = textOption(command, 'data') !== undefined || textOption(command, 'instance') !== undefined;
  const address = textOption(command, 'baseUrl') ?? (isLocal ? undefined : TERRARIUM_BASE_URL || undefined);
  if (address !== undefined) {
    if (isLocal) throw new UserError('--base-url goes with neither --data nor --instance: give one of them');
    const client = new PlatformClient(checkedUrl(address), () => flags ?? ofEnvironment());
    return { kind: 'address', client };
  }
  const config = localConfig(command, surroundings);
  const instance = await findInstance(config.data);
  if (!instance) return { kind: 'folder', dataDir: config.data, running: undefined };
  const keyPair = () => flags ?? pairInFolder(config.data) ?? configuredPair(config) ?? ofEnvironment();
  const client = new PlatformClient(instance.baseUrl, keyPair);
  return { kind: 'folder', dataDir: config.data, running: { client, instance } };
}

/**
 * A client for the platform that the options mean.
 *
 * @throws UserError when none runs there
 */
export async function connect(command: Command, surroundings: Surroundings): Promise<PlatformClient> {
  const target = await findTarget(command, surroundings);
  if (target.kind === 'address') return target.client;
  if (target.running) return target.running.client;
  throw new UserError(
    `no platform runs on ${target.dataDir}: start one with \`terrarium start\`, or say which one is meant with --instance, --data or --base-url`,
  );
}

function checkedUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text.replace(/\/+$/, '');
  throw new UserError(`"${text}" is no http or https address: --base-url or TERRARIUM_BASE_URL has to be one`);
}

function pairOf(key: string | undefined, secret: string | undefined, names: string): KeyPair | undefined {
  if (key && secret) return { key, secret };
  if (key || secret) throw new UserError(`${names} go together: give both or none`);
  return undefined;
}

const pairSchema = z.object({ key: z.string(), secret: z.string() });

/** The pair that the platform made for its owner (D-175). */
function pairInFolder(dataDir: string): KeyPair | undefined {
  try {
    return pairSchema.parse(JSON.parse(readFileSync(join(dataDir, 'root-api-key.json'), 'utf8')));
  } catch {
    return undefined;
  }
}

function configuredPair({ rootApiKey, rootApiSecret }: Config): KeyPair | undefined {
  return rootApiKey && rootApiSecret ? { key: rootApiKey, secret: rootApiSecret } : undefined;
}
