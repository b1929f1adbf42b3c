import { isIPv4 } from 'node:net';
import { resolve } from 'node:path';
import type { z } from 'zod';
import { type Config, configSchema, DEFAULT_ROOT_PASSWORD, IN_MEMORY, type StartOptions } from './config-schema.ts';
import { settings, valueAt } from './config-settings.ts';

/** What the person at the command line can put right: a sentence that says what is wrong, where, and what to do. */
export class UserError extends Error {
  override readonly name = 'UserError';
}

/**
 * Validates settings and fills in the defaults.
 *
 * @param given the settings as they came, of any shape
 * @param folder where relative paths begin
 * @param whereIs names the place a setting came from, for messages; takes its key, such as `limits.logLines`
 * @throws UserError with one sentence, on a line of its own, for each setting that is wrong
 */
export function validateConfig(given: unknown, folder: string, whereIs: (key: string) => string): Config {
  // Once in a process: to write a function for it takes several times as long as to read it.
  const result = configSchema.safeParse(given, { jitless: true });
  if (!result.success) {
    const sentences = result.error.issues.flatMap((issue) => complaints(issue, given, whereIs));
    throw new UserError([...new Set(sentences)].join('\n'));
  }
  const config = result.data;
  if (!isLoopbackHost(config.host) && config.rootPassword === DEFAULT_ROOT_PASSWORD) {
    throw new UserError(
      `${whereIs('host')} is '${config.host}', which lets other machines in: give root a password of its own with --root-password or TERRARIUM_ROOT_PASSWORD`,
    );
  }
  if ((config.rootApiKey === undefined) !== (config.rootApiSecret === undefined)) {
    const [there, missing] = config.rootApiKey ? ['rootApiKey', 'rootApiSecret'] : ['rootApiSecret', 'rootApiKey'];
    throw new UserError(`${whereIs(there)} is set but ${missing} is not: a key and its secret go together`);
  }
  const ports = [config.basePort, config.gatewayPort, config.crmPort, config.scmPort].filter((port) => port !== 0);
  if (new Set(ports).size < ports.length) {
    throw new UserError(
      `the ports of base, gateway, CRM and source control have to differ, but are ${ports.join(', ')}: 0 chooses a free one`,
    );
  }
  const absolute = (path: string) => resolve(folder, path);
  return {
    ...config,
    data: config.data === IN_MEMORY ? IN_MEMORY : absolute(config.data),
    seed: config.seed === 'demo' || config.seed === 'empty' ? config.seed : absolute(config.seed),
    readyFile: config.readyFile && absolute(config.readyFile),
    allowedHostPaths: config.allowedHostPaths.map(absolute),
  };
}

/**
 * The settings of an emulator that is started by code, such as a test suite: unless the options say otherwise in memory,
 * on free ports, with no window. Neither environment nor terrarium.json is read.
 *
 * @throws UserError
 */
export function completeOptions(options: StartOptions): Config {
  const given = { headless: true, basePort: 0, gatewayPort: 0, data: IN_MEMORY, ...options };
  return validateConfig(given, process.cwd(), (key) => `option ${key}`);
}

function complaints(issue: z.core.$ZodIssue, given: unknown, whereIs: (key: string) => string): string[] {
  if (issue.code === 'unrecognized_keys') {
    const keys = issue.keys.map((key) => [...issue.path, key].join('.'));
    return keys.map((key) => `${whereIs(key)} is not a setting: \`terrarium config\` lists them all`);
  }
  const setting = settings.find(({ path }) => path.every((part, at) => part === issue.path[at]));
  if (!setting) return [`${whereIs(issue.path.join('.'))} has to be an object of settings`];
  const shown = setting.isSecret ? '' : ` is ${JSON.stringify(valueAt(given, setting.path))};`;
  return [`${whereIs(setting.key)}${shown} ${shown && 'it '}has to be ${setting.expected}`];
}

/** Does whoever listens there hear this machine alone? */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}
