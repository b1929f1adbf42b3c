import type { ChildProcess } from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import { INHERITANCE, type Origin, type OutboundRoutes } from '../process/protocol.ts';
import { type Environment, programProxy } from './program-variables.ts';
import type { TraceHeaders } from './trace-headers.ts';

/** The context that a lambda passes to its threads and Node processes, so that the rules apply there and they end with its process. */
export interface PropagatedContext {
  origin: Origin;
  routes: OutboundRoutes;
  clockAheadMs: number;
  executionId?: string | undefined;
  trace?: TraceHeaders | undefined;
  /** The names of the variables that lead programs to the proxy. */
  proxyVariables?: string[];
}

const DATA_KEY = 'terrarium:outbound';

const threads = () => require('node:worker_threads') as typeof import('node:worker_threads');

/** The data that this thread or process has received; undefined in the process that the emulator started. */
export function propagatedContext(): PropagatedContext | undefined {
  const { isMainThread, getEnvironmentData } = threads();
  // As: both were written by `handDown`.
  if (!isMainThread) return getEnvironmentData(DATA_KEY) as unknown as PropagatedContext | undefined;
  const text = process.env[INHERITANCE];
  return text === undefined ? undefined : (JSON.parse(text) as PropagatedContext);
}

/**
 * Passes the origin to everything that is started from here and, if it runs on Node, loads this bundle there first. Other programs get the variables
 * of a proxy (D-217). Not all of them use it: if their arguments name the CRM, or if everything is to be blocked, `note` receives a line that says so.
 * `onStart` is called before each start, and again with a process that has started and can outlive the call.
 */
export function propagateToChildren(
  childFile: string,
  describe: () => PropagatedContext,
  note: (text: string) => void,
  onStart: (child?: ChildProcess) => void = () => {},
): void {
  const wt = threads();
  wt.Worker = new Proxy(wt.Worker, {
    construct: (OriginalWorker, [file, options], newTarget) => {
      onStart();
      restoreHeapFlags();
      wt.setEnvironmentData(DATA_KEY, describe() as never);
      const execArgv = [...(options?.execArgv ?? []), '--require', childFile];
      return Reflect.construct(OriginalWorker, [file, { ...options, execArgv }], newTarget);
    },
  });

  const { Worker } = wt;
  const variablesFor = programProxy(childFile, (file, options) => new Worker(file, options));
  const notedPrograms = new Set<string>();
  const noteUnruled = ({ text, program, isCompound }: Command, isProxied: boolean): void => {
    const { routes } = describe();
    const isCertain = isProxied && USES_PROXY.test(program) && !isCompound && !IGNORES_PROXY.test(text);
    if (notedPrograms.has(program) || isCertain) return;
    if (!blocksEverything(routes) && !crmNames(routes).some((name) => text.includes(name))) return;
    notedPrograms.add(program);
    const condition = isProxied ? ', unless it uses the variable HTTP_PROXY' : '';
    note(
      `a program was started whose calls are not recorded and follow no outbound rule${condition}: ${text.slice(0, LONGEST_COMMAND)}`,
    );
  };
  /** The variables that lead a program to the proxy; none for Node. */
  const proxyVariables = (commandParts: string[], env: Environment): Record<string, string> => {
    const command = commandIn(commandParts);
    if (commandParts[0] === process.execPath || (NODE.test(command.program) && !command.isCompound)) return {};
    const variables = BROWSER.test(command.program) ? {} : variablesFor(env, describe().executionId);
    noteUnruled(command, Object.keys(variables).length > 0);
    return variables;
  };
  const withOrigin = (env: Environment, commandParts: string[]): Environment => {
    onStart();
    // As for the lambda itself: the port of a debugger, if a variable asks for one, does not publish its id.
    const preload = `--inspect-publish-uid=stderr --require="${childFile.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
    const variables = proxyVariables(commandParts, env);
    return {
      ...env,
      ...variables,
      NODE_OPTIONS: env.NODE_OPTIONS?.includes(preload)
        ? env.NODE_OPTIONS
        : `${env.NODE_OPTIONS ?? ''} ${preload}`.trim(),
      [INHERITANCE]: JSON.stringify({ ...describe(), proxyVariables: Object.keys(variables) }),
    };
  };

  const processes = require('node:child_process') as typeof import('node:child_process');
  // As: not among Node's types, but what spawn, exec, execFile and fork come down to.
  const prototype = processes.ChildProcess.prototype as unknown as {
    spawn(options: { file: string; args?: string[]; envPairs?: string[] }): unknown;
  };
  const ownSpawn = prototype.spawn;
  prototype.spawn = function (this: ChildProcess, options) {
    const env = Object.fromEntries((options.envPairs ?? []).map(pairIn));
    const commandParts = [options.file, ...(options.args ?? []).slice(1)];
    const envPairs = Object.entries(withOrigin(env, commandParts)).map(([name, value]) => `${name}=${value}`);
    const failure = Reflect.apply(ownSpawn, this, [{ ...options, envPairs }]);
    onStart(this);
    return failure;
  };
  for (const name of ['execSync', 'execFileSync', 'spawnSync'] as const) {
    const wrapped = new Proxy(processes[name] as (...args: unknown[]) => unknown, {
      apply: (start, self, args: unknown[]) => {
        const at = args.findIndex(
          (arg, index) => index > 0 && typeof arg === 'object' && arg !== null && !Array.isArray(arg),
        );
        // As: what is there is an object of options.
        const options = (at < 0 ? {} : args[at]) as { env?: Environment };
        const knownArgs = at < 0 ? args.filter((arg) => arg !== undefined) : args.slice(0, at);
        const env = withOrigin(options.env ?? process.env, knownArgs.flat().map(String));
        return Reflect.apply(start, self, [...knownArgs, { ...options, env }]);
      },
    });
    Object.assign(processes, { [name]: wrapped });
  }
  syncBuiltinESMExports();
}

const SHELL = /(^|[\\/])(sh|bash|cmd\.exe)$/i;
const NODE = /^node(\.exe)?$/i;
/** Programs that use the proxy, unless their arguments prevent it. */
const USES_PROXY = /^(curl|wget|git|pip3?)$/;
/** Options and addresses with which they do not, such as those of SSH. */
const IGNORES_PROXY = /\s--no-?proxy\b|\b(ssh|git):\/\/|\s[\w.-]+@[\w.-]+:/;
/** They trust no certificates of variables, so the proxy would make each of their calls fail. */
const BROWSER = /chrom|firefox|msedge|webkit/i;
const LONGEST_COMMAND = 200;

interface Command {
  text: string;
  /** The name of its first program. */
  program: string;
  /** A shell runs it, and it may start more than one program. */
  isCompound: boolean;
}

/** @param parts a program and its arguments, or only a text for a shell */
function commandIn(parts: string[]): Command {
  const isForShell = parts.length === 1 || SHELL.test(parts[0] ?? '');
  const text = ((isForShell ? parts.at(-1) : parts.join(' ')) ?? '').trim();
  const program = isForShell ? text.split(/\s/)[0] : parts[0];
  return { text, program: basename(program ?? ''), isCompound: isForShell && /[;&|`$(]/.test(text) };
}

function crmNames({ crm, catchesCrm }: OutboundRoutes): string[] {
  return catchesCrm && crm ? crm.hosts.map(({ hostname }) => hostname) : [];
}

function blocksEverything({ blocksOutside, rules }: OutboundRoutes): boolean {
  return blocksOutside || rules.some(({ enabled, host, action }) => enabled && host === '*' && action === 'block');
}

/** Threads have their own heaps, limited by those flags at their start; `scripts/build-child.mjs` explains why the flags were removed. */
function restoreHeapFlags(): void {
  const { setFlagsFromString } = require('node:v8') as typeof import('node:v8');
  for (const flag of process.execArgv) if (/^--max-(old|semi)-space-size=/.test(flag)) setFlagsFromString(flag);
}

function pairIn(pair: string): [name: string, value: string] {
  const at = pair.indexOf('=', 1);
  return [pair.slice(0, at), pair.slice(at + 1)];
}
