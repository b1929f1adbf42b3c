import { execFile } from 'node:child_process';
import { mkdtemp, rmdir, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { type Config, IN_MEMORY } from '../config-schema.ts';
import { probeEngine } from '../emulator/engine-probe.ts';
import { isOlderNode } from '../machine/node-version.ts';
import { reasonOf } from '../model/reason.ts';
import { findInstance } from './instance-file.ts';
import { listenFailure } from './listen-failure.ts';

/** One thing that was looked at. */
export interface Check {
  name: string;
  ok: boolean;
  /** Can the platform not start without it? */
  isNeeded: boolean;
  /** How it is, and what to do when it is not well. */
  message: string;
  /** Fetches it while there is a network; absent where it is there, or has to come by another way. Throws why it could not. */
  fetch?(): Promise<unknown>;
}

/** What was found of a thing of that name. */
export function checkOf(name: string, isNeeded: boolean) {
  return (ok: boolean, message: string, fetch?: Check['fetch']): Check => ({
    name,
    ok,
    isNeeded,
    message,
    ...(fetch && { fetch }),
  });
}

/** A world of 100,000 resources with its history and a snapshot under way takes less. */
const SPACE_WANTED_MB = 200;
const PROBE_TIMEOUT_MS = 2_000;

/** Is Node.js new enough? */
export function checkNode(version: string): Check {
  const wanted = manifest.engines.node.replace(/^\D+/, '');
  const ok = !isOlderNode(version, wanted);
  const message = ok ? `Node.js ${version}` : `Node.js ${version} is older than ${wanted}: install a newer one`;
  return checkOf('Node.js', true)(ok, message);
}

/** Are the ports free, and if not, who has them? */
export async function checkPorts(config: Config): Promise<Check[]> {
  const instance = config.data === IN_MEMORY ? undefined : await findInstance(config.data);
  const own = [instance?.baseUrl, instance?.gatewayUrl, instance?.crmUrl].map(
    (url) => url && Number(new URL(url).port),
  );
  const check = async (name: string, flag: string, port: number): Promise<Check> => {
    const said = checkOf(name, true);
    if (port === 0) return said(true, 'any free one will be chosen');
    if (instance && own.includes(port))
      return said(true, `${port} is in use by this platform (process ${instance.pid})`);
    const failure = await listenFailure(config.host, port);
    if (failure === undefined) return said(true, `${port} is free`);
    if (failure.code !== 'EADDRINUSE') return said(false, `${port} on ${config.host}: ${failure.message}`);
    const holder = await holderOf(port);
    return said(
      false,
      `${port} is in use by ${holder}: stop it, or choose another one with ${flag} (0 = any free one)`,
    );
  };
  return Promise.all([
    check('base port', '--base-port', config.basePort),
    check('gateway port', '--gateway-port', config.gatewayPort),
    check('CRM port', '--crm-port', config.crmPort),
  ]);
}

/** Who listens on a port of this machine, as far as the system tells. */
async function holderOf(port: number): Promise<string> {
  const run = promisify(execFile);
  const options = { timeout: PROBE_TIMEOUT_MS };
  const list = await run('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpc'], options).catch(() => undefined);
  const [, pid, command] = /^p(\d+)\nc(.*)$/m.exec(list?.stdout ?? '') ?? [];
  if (pid) return `${command} (process ${pid})`;
  const sockets = await run('ss', ['-Hltnp', `sport = :${port}`], options).catch(() => undefined);
  const [, name, id] = /users:\(\("([^"]*)",pid=(\d+)/.exec(sockets?.stdout ?? '') ?? [];
  return id ? `${name} (process ${id})` : 'another program';
}

/** Can files be written where the world is to be kept? */
export async function checkDataFolder({ data }: Config): Promise<Check> {
  const said = checkOf('data folder', true);
  if (data === IN_MEMORY) return said(true, 'none: the world is in memory');
  try {
    const folder = await existingFolder(data);
    await rmdir(await mkdtemp(join(folder, '.terrarium-doctor-')));
    return said(true, folder === data ? `${data} can be written` : `${data} can be made in ${folder}`);
  } catch (failure) {
    const reason = reasonOf(failure);
    return said(false, `${data} cannot be used (${reason}): make it writable, or choose another one with --data`);
  }
}

/** Is there room for the world to grow? */
export async function checkDiskSpace({ data }: Config): Promise<Check> {
  const said = checkOf('disk space', true);
  if (data === IN_MEMORY) return said(true, 'none needed: the world is in memory');
  try {
    const { bavail, bsize } = await statfs(await existingFolder(data));
    const freeMb = Math.floor((bavail * bsize) / 1024 ** 2);
    const ok = freeMb >= SPACE_WANTED_MB;
    return said(
      ok,
      `${freeMb} MB free${ok ? '' : `, of ${SPACE_WANTED_MB} wanted: make room, or choose another --data`}`,
    );
  } catch (failure) {
    return said(false, `cannot be told: ${reasonOf(failure)}`);
  }
}

/** The folder, or the nearest one above it that exists. */
async function existingFolder(path: string): Promise<string> {
  try {
    if ((await stat(path)).isDirectory()) return path;
    throw new Error(`${path} is no folder`);
  } catch (failure) {
    const isMissing = failure instanceof Error && 'code' in failure && failure.code === 'ENOENT';
    if (!isMissing || dirname(path) === path) throw failure;
    return existingFolder(dirname(path));
  }
}

/** Does a container engine answer? Nothing but containers needs one. */
export async function checkEngine({ containers: { engine } }: Config, env: NodeJS.ProcessEnv): Promise<Check> {
  const said = checkOf('Docker', false);
  if (engine === 'none') return said(true, 'not wanted: the setting containers.engine is none');
  try {
    const { address, name, said: version } = await probeEngine(engine, env);
    return checkOf(name, false)(true, `${address} answers${version ? `, ${version}` : ''}`);
  } catch (failure) {
    return said(false, `${reasonOf(failure)}: containers will not run until it does; all else will`);
  }
}
