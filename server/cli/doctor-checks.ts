import { mkdtemp, rmdir, stat, statfs } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { codeOf, reasonOf } from '../model/errors.ts';
import { type Config, IN_MEMORY } from '../platform/config-schema.ts';
import { listeners } from '../platform/declarations.ts';
import { identifyEngine } from '../platform/engine-cleaning.ts';
import { INSTALL_READER } from '../runtimes/pipelines/declaration.ts';
import { missingNode, nodeProgram, otherRuntime } from '../system/node-program.ts';
import { runProgram } from '../system/programs.ts';
import { systemTemporary, temporaryVariable } from '../system/temporary.ts';
import { SYSTEM } from '../system/this-system.ts';
import { chooseWindow, type TerminalInfo, type WindowSettings, windowContext } from './choose-window.ts';
import { findInstance, listenFailure } from './instance-file.ts';
import type { Terminal } from './terminal.ts';

export interface Check {
  name: string;
  ok: boolean;
  /** True if the platform cannot start without it. */
  isNeeded: boolean;
  /** The state, and what to do if the check fails. */
  message: string;
  /** Downloads what is missing; absent if nothing is missing or Terrarium cannot download it. Throws the reason for a failure. */
  fetch?(): Promise<unknown>;
}

export function checkOf(name: string, isNeeded: boolean) {
  return (ok: boolean, message: string, fetch?: Check['fetch']): Check => ({
    name,
    ok,
    isNeeded,
    message,
    ...(fetch && { fetch }),
  });
}

/** More than a world of 10,000 resources takes with its history while a snapshot is written. */
const SPACE_WANTED_MB = 200;
const PROBE_TIMEOUT_MS = 2_000;

/** An older Node.js is refused before (entries/check-node.cjs). */
export function checkNode({ PATH = '' }: NodeJS.ProcessEnv): Check {
  const report = checkOf('Node.js', false);
  const runtime = otherRuntime(process.versions);
  if (runtime === undefined) return report(true, `Node.js ${process.versions.node}`);
  const node = nodeProgram(PATH);
  return node === undefined ? report(false, missingNode()) : report(true, `${runtime}; ${node} runs lambdas`);
}

export async function checkPorts(config: Config): Promise<Check[]> {
  const instance = config.data === IN_MEMORY ? undefined : await findInstance(config.data);
  const ownPorts = listeners.map(({ url }) => instance?.[url] && Number(new URL(instance[url]).port));
  const check = async (name: string, flag: string, port: number): Promise<Check> => {
    const report = checkOf(name, true);
    if (port === 0) return report(true, 'a free port is chosen at start');
    if (instance && ownPorts.includes(port))
      return report(true, `${port} is in use by this platform (process ${instance.pid})`);
    const failure = await listenFailure(config.host, port);
    if (failure === undefined) return report(true, `${port} is free`);
    if (failure.code !== 'EADDRINUSE') return report(false, `${port} on ${config.host}: ${failure.message}`);
    const user = await userOf(port);
    return report(
      false,
      `${port} is in use by ${user}: stop it, or choose another port with ${flag} (0 = any free port)`,
    );
  };
  return Promise.all(listeners.map(({ noun, flag, port }) => check(`${noun} port`, flag, config[port])));
}

/** The process that listens on a port, as far as the system tells. */
async function userOf(port: number): Promise<string> {
  const options = { timeout: PROBE_TIMEOUT_MS };
  const list = await runProgram('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpc'], options).catch(
    () => undefined,
  );
  const [, pid, command] = /^p(\d+)\nc(.*)$/m.exec(list?.stdout ?? '') ?? [];
  if (pid) return `${command} (process ${pid})`;
  const sockets = await runProgram('ss', ['-Hltnp', `sport = :${port}`], options).catch(() => undefined);
  const [, name, id] = /users:\(\("([^"]*)",pid=(\d+)/.exec(sockets?.stdout ?? '') ?? [];
  return id ? `${name} (process ${id})` : 'another program';
}

export async function checkDataFolder({ data }: Config): Promise<Check> {
  const report = checkOf('data folder', true);
  if (data === IN_MEMORY) return report(true, 'none: the world is in memory');
  try {
    const folder = await existingFolder(data);
    await tryToWrite(folder);
    return report(true, folder === data ? `${data} can be written` : `${data} can be created in ${folder}`);
  } catch (failure) {
    const reason = reasonOf(failure);
    return report(false, `${data} cannot be used (${reason}): make it writable, or choose another folder with --data`);
  }
}

export async function checkDiskSpace({ data }: Config): Promise<Check> {
  const report = checkOf('disk space', true);
  if (data === IN_MEMORY) return report(true, 'none needed: the world is in memory');
  try {
    const { isEnough, message } = await freeSpace(await existingFolder(data));
    return report(isEnough, isEnough ? message : `${message}, or choose another folder with --data`);
  } catch (failure) {
    return report(false, `cannot be determined: ${reasonOf(failure)}`);
  }
}

/** A world in memory keeps the code of its lambdas there; with a data folder, the platform starts without it. */
export async function checkTemporaryFolder({ data }: Config): Promise<Check> {
  const report = checkOf('temporary folder', data === IN_MEMORY);
  const folder = systemTemporary();
  try {
    await tryToWrite(folder);
    const { isEnough, message } = await freeSpace(folder);
    return { ...report(isEnough, `${folder} can be written, ${message}`), isNeeded: false };
  } catch (failure) {
    const needs = 'worlds in memory, pipelines, imports and `start --detach` need it';
    const advice = `set the variable ${temporaryVariable()} to a folder that you can write to`;
    return report(false, `${folder} cannot be used (${reasonOf(failure)}), and ${needs}: ${advice}`);
  }
}

async function tryToWrite(folder: string): Promise<void> {
  await rmdir(await mkdtemp(join(folder, '.terrarium-doctor-')));
}

async function freeSpace(folder: string): Promise<{ isEnough: boolean; message: string }> {
  const { bavail, bsize } = await statfs(folder);
  const freeMb = Math.floor((bavail * bsize) / 1024 ** 2);
  const isEnough = freeMb >= SPACE_WANTED_MB;
  const advice = isEnough ? '' : `, but ${SPACE_WANTED_MB} MB are recommended: free some space`;
  return { isEnough, message: `${freeMb} MB free${advice}` };
}

/** The folder, or the nearest one above it that exists. */
async function existingFolder(path: string): Promise<string> {
  try {
    if ((await stat(path)).isDirectory()) return path;
    throw new Error(`${path} is not a folder`);
  } catch (failure) {
    const isMissing = failure instanceof Error && 'code' in failure && failure.code === 'ENOENT';
    if (!isMissing || dirname(path) === path) throw failure;
    return existingFolder(dirname(path));
  }
}

export async function checkEngine({ containers: { engine } }: Config, env: NodeJS.ProcessEnv): Promise<Check> {
  const report = checkOf('Docker', false);
  if (engine === 'none') return report(true, 'not used: the setting containers.engine is none');
  try {
    const { address, name, version } = await identifyEngine(engine, env);
    return checkOf(name, false)(true, `${address} responds: ${name} ${version}`);
  } catch (failure) {
    const reason = reasonOf(failure).replace(/\.?$/, '.');
    return report(false, `${reason} Only containers and jobs with an image need an engine.`);
  }
}

const ASK_TIMEOUT_MS = 30_000;

interface Program {
  name: string;
  why: string;
  debian?: string;
}

const PROGRAMS: readonly Program[] = [
  { name: 'git', why: 'pipelines check out the repository with it' },
  { name: 'bash', why: 'pipelines run their jobs with it' },
  { name: 'curl', why: "the sample's pipeline calls the platform with it" },
  { name: 'docker', why: "the sample's pipeline builds its image with it", debian: 'docker.io' },
];

/** Programs that only pipelines and the window need, each with the command that installs it. */
export async function checkTools(terminal: TerminalInfo, settings: WindowSettings): Promise<Check[]> {
  const programs = PROGRAMS.map((program) => checkProgram(program, terminal.env));
  return [...(await Promise.all(programs)), checkRunner(), ...checkWindow(terminal, settings)];
}

async function checkProgram({ name, why, debian = name }: Program, env: Terminal['env']): Promise<Check> {
  const report = checkOf(name, false);
  try {
    const { stdout } = await runProgram(name, ['--version'], { env: { ...env }, timeout: ASK_TIMEOUT_MS });
    return report(true, stdout.split('\n', 1)[0]?.trim() ?? '');
  } catch (failure) {
    if (codeOf(failure) === 'ENOENT') return report(false, `not found, and ${why}: ${installLine(name, debian)}`);
    return report(false, `\`${name} --version\` fails, and ${why}: ${reasonOf(failure)}`);
  }
}

export function installLine(name: string, debian: string, system = SYSTEM): string {
  if (name === 'docker' && system === 'darwin') return 'install Docker Desktop, OrbStack or Colima';
  if (name === 'docker' && system === 'win32') return 'install Docker Desktop';
  if (system === 'darwin') return `brew install ${name}`;
  if (system === 'win32') return `pipelines run in WSL; there, run \`sudo apt-get install ${debian}\``;
  return `sudo apt-get install ${debian} (or your package manager)`;
}

export function checkRunner(fetch?: Check['fetch']): Check {
  const report = checkOf('pipelines', false);
  try {
    const manifest = createRequire(import.meta.url)('gitlab-ci-local/package.json');
    return report(true, `gitlab-ci-local ${manifest.version}`);
  } catch {
    return report(false, `gitlab-ci-local is not installed: ${INSTALL_READER}`, fetch);
  }
}

/** Reports if Electron is installed, and how the window would open. */
function checkWindow(terminal: TerminalInfo, settings: WindowSettings): Check[] {
  const context = windowContext(terminal, settings);
  const { electron } = context;
  const electronCheck = checkOf('Electron', false);
  const how = 'fetchInto' in electron ? ': the first start that opens a browser downloads it in the background' : '';
  return [
    'path' in electron
      ? electronCheck(true, electron.path)
      : electronCheck(false, `${electron.missing}${how || ': the window opens in a browser instead'}`),
    checkOf('window', false)(true, chooseWindow(context).line ?? 'No window, as configured.'),
  ];
}
