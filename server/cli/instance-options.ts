import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { findByName } from '../api/client/find-lambda.ts';
import type { KeyPair } from '../api/client/route-client.ts';
import { SHELL_COMMAND } from '../model/shell-command.ts';
import type { TypeWord } from '../model/type-words.ts';
import { UserError } from '../platform/config.ts';
import type { Config } from '../platform/config-schema.ts';
import { type CommandSpec, type Context, defineCommand, type Found, json, text, type ValuesOf } from './command.ts';
import { configOf, folderOptions, selectionOf } from './config-options.ts';
import { ExitWith, NO } from './describe-failure.ts';
import { findInstance, type InstanceRecord, requireReadableLock } from './instance-file.ts';
import { PlatformClient } from './platform-client.ts';
import type { Terminal } from './terminal.ts';

export const platformOptions = {
  ...folderOptions,
  baseUrl: text('--base-url <URL>', 'address of the platform, if it runs elsewhere (TERRARIUM_BASE_URL)'),
  key: text('--key <KEY>', 'API key (default: the key in the data folder; TERRARIUM_API_KEY)'),
  secret: text('--secret <TEXT>', 'secret of the API key (TERRARIUM_API_SECRET)'),
  json: json(),
};

/** Finds the id of a resource that a user names. @param argument the forms of names, for the error */
export function findResource(
  client: PlatformClient,
  collections: readonly TypeWord[],
  named: string,
  argument: string,
): Promise<string> {
  return findByName(
    client,
    collections,
    named,
    (reason, isAmbiguous) => new UserError(isAmbiguous ? reason : `${reason}. Give the ${argument}.`),
  );
}

/** A command without arguments that asks the platform, and has no other options. */
export const platformCommand = (name: string, description: string, ask: (client: PlatformClient) => Promise<Found>) =>
  defineCommand({ name, description, options: platformOptions, ask });

/** The command that runs if a group of commands is called without one. */
export const defaultCommand = (...parameters: Parameters<typeof platformCommand>): CommandSpec => ({
  ...platformCommand(...parameters),
  isDefault: true,
});

/** A command that asks the platform about one thing, which its argument names. */
export const commandOn = (
  argument: readonly [name: string, description: string],
  name: string,
  description: string,
  ask: (client: PlatformClient, named: string, context: Pick<Context, 'terminal'>) => Promise<Found>,
) =>
  defineCommand({
    name,
    description,
    arguments: [argument],
    options: platformOptions,
    ask: (client, context, named = '') => ask(client, named, context),
  });

/** A command that deletes all records of a kind. */
export const clearCommand = (description: string, clear: (client: PlatformClient) => Promise<{ deleted: number }>) =>
  platformCommand('clear', description, async (client) => {
    const answer = await clear(client);
    return { answer, lines: [`${answer.deleted} deleted`] };
  });

type Selection = Partial<ValuesOf<typeof platformOptions>>;
type CommandContext = Pick<Terminal, 'env' | 'folder'>;

/** The options that are set, of those that are query parameters. */
export function queryOf(options: Readonly<Record<string, unknown>>, parameters: object): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of Object.keys(parameters)) if (options[name] !== undefined) query.set(name, String(options[name]));
  return query;
}

/** Time that one request waits; the server's maximum. */
const WAIT_S = 60;

/** The newest item, after a wait for the first one. @param missing for the error, such as `no lead` */
export async function awaitNewest<T>(
  list: (query: URLSearchParams) => Promise<T[]>,
  { query, timeoutS, terminal }: { query: URLSearchParams; timeoutS: number; terminal: Pick<Terminal, 'nowMs'> },
  missing: string,
): Promise<T> {
  const untilMs = terminal.nowMs() + timeoutS * 1000;
  for (;;) {
    const leftS = Math.max(0, Math.ceil((untilMs - terminal.nowMs()) / 1000));
    query.set('waitS', String(Math.min(leftS, WAIT_S)));
    const newest = (await list(query)).at(-1);
    if (newest !== undefined) return newest;
    if (leftS === 0) throw new ExitWith(NO, `${missing} came within ${timeoutS} s`);
  }
}

/** The configuration of the data folder that options, environment or terrarium.json select. Throws UserError. */
export function localConfig(options: Selection, context: CommandContext): Config {
  return configOf(selectionOf(options), context).config;
}

/** The platform that a command uses. */
export interface Target {
  /** Undefined if no platform runs on the data folder. */
  client: PlatformClient | undefined;
  /** The data folder that selects it; undefined if an address does. */
  dataDir?: string;
  instance?: InstanceRecord;
}

/** Finds the platform that the options, or else the environment, select. Throws UserError for invalid options. */
export async function findTarget(options: Selection, context: CommandContext): Promise<Target> {
  const flags = pairOf(options.key, options.secret, '--key and --secret');
  const { TERRARIUM_BASE_URL, TERRARIUM_API_KEY, TERRARIUM_API_SECRET } = context.env;
  const ofEnvironment = () => pairOf(TERRARIUM_API_KEY, TERRARIUM_API_SECRET, 'TERRARIUM_API_KEY and _SECRET');
  const isLocal = options.data !== undefined || options.instance !== undefined;
  const address = options.baseUrl ?? (isLocal ? undefined : TERRARIUM_BASE_URL || undefined);
  if (address !== undefined) {
    if (isLocal) throw new UserError('--base-url cannot be combined with --data or --instance. Use only one of them.');
    return { client: new PlatformClient(checkedUrl(address), () => flags ?? ofEnvironment()) };
  }
  const config = localConfig(options, context);
  const { data: dataDir } = config;
  const instance = await findInstance(dataDir);
  if (!instance) {
    await requireReadableLock(dataDir);
    return { client: undefined, dataDir };
  }
  const configured = pairOf(config.rootApiKey, config.rootApiSecret, 'rootApiKey and rootApiSecret');
  const keyPair = () => flags ?? pairInFolder(dataDir) ?? configured ?? ofEnvironment();
  return { client: new PlatformClient(instance.baseUrl, keyPair), dataDir, instance };
}

/** A client for the platform that the options select. Throws UserError when none runs there. */
export async function connect(options: Selection, context: CommandContext): Promise<PlatformClient> {
  const { client, dataDir } = await findTarget(options, context);
  if (client) return client;
  throw new UserError(
    `no platform is running on ${dataDir}. Start one with \`${SHELL_COMMAND} start\`, or select another one with --instance, --data or --base-url.`,
  );
}

function checkedUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text.replace(/\/+$/, '');
  throw new UserError(`"${text}" is not an http or https address. Set --base-url or TERRARIUM_BASE_URL to one.`);
}

function pairOf(key: string | undefined, secret: string | undefined, names: string): KeyPair | undefined {
  if (key && secret) return { key, secret };
  if (key || secret) throw new UserError(`${names} must be set together. Set both or neither.`);
  return undefined;
}

const pairSchema = z.object({ key: z.string(), secret: z.string() });

/** The key pair that the platform generated for its owner (D-175). */
function pairInFolder(dataDir: string): KeyPair | undefined {
  try {
    return pairSchema.parse(JSON.parse(readFileSync(join(dataDir, 'root-api-key.json'), 'utf8')));
  } catch {
    return undefined;
  }
}
