import type { ChildProcess } from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import { INHERITANCE, type Origin, type OutboundRoutes } from '../process/protocol.ts';
import type { TraceHeaders } from './trace-headers.ts';

/**
 * The context that a lambda passes to its worker threads and Node processes: the rules apply there, and they end with
 * the lambda's process.
 */
export interface PropagatedContext {
  origin: Origin;
  routes: OutboundRoutes;
  executionId?: string | undefined;
  trace?: TraceHeaders | undefined;
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

type Environment = Record<string, string | undefined>;

/**
 * Passes the origin to everything that is started from here and, if it runs on Node, loads this bundle there first.
 * Other programs cannot be reached: if their arguments name the CRM, or if everything is to be blocked, `note` receives a line that says so. `onStart` is
 * called before each start, and again with a process that has started and can outlive the call.
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

  const withOrigin = (env: Environment): Environment => {
    onStart();
    // As for the lambda itself: the port of a debugger, if a variable asks for one, does not publish its id.
    const preload = `--inspect-publish-uid=stderr --require="${childFile.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
    return {
      ...env,
      NODE_OPTIONS: env.NODE_OPTIONS?.includes(preload)
        ? env.NODE_OPTIONS
        : `${env.NODE_OPTIONS ?? ''} ${preload}`.trim(),
      [INHERITANCE]: JSON.stringify(describe()),
    };
  };
  const unreachedPrograms = new Set<string>();
  const look = (commandParts: unknown[]): void => {
    const { routes } = describe();
    if (commandParts.some((part) => part === process.execPath || NODE_COMMAND.test(String(part)))) return;
    const program = basename(String(commandParts[0]));
    if (blocksEverything(routes) && !unreachedPrograms.has(program)) {
      unreachedPrograms.add(program);
      note(
        `the program ${program} was started: its calls are neither recorded nor blocked, because it does not run on Node.js`,
      );
    }
    if (!routes.crm || !routes.catchesCrm) return;
    const names = routes.crm.hosts.map(({ hostname }) => hostname);
    if (!commandParts.some((part) => names.some((name) => String(part).includes(name)))) return;
    note(
      `a program was started that names the CRM's host (${String(commandParts[0])}): calls of programs other than Node.js cannot be caught`,
    );
  };

  const processes = require('node:child_process') as typeof import('node:child_process');
  // As: not among Node's types, but what spawn, exec, execFile and fork come down to.
  const prototype = processes.ChildProcess.prototype as unknown as {
    spawn(options: { file: string; args?: string[]; envPairs?: string[] }): unknown;
  };
  const ownSpawn = prototype.spawn;
  prototype.spawn = function (this: ChildProcess, options) {
    look([...(options.args ?? [options.file])]);
    const env = Object.fromEntries((options.envPairs ?? []).map(pairIn));
    const envPairs = Object.entries(withOrigin(env)).map(([name, value]) => `${name}=${value}`);
    const failure = Reflect.apply(ownSpawn, this, [{ ...options, envPairs }]);
    onStart(this);
    return failure;
  };
  for (const name of ['execSync', 'execFileSync', 'spawnSync'] as const) {
    const wrapped = new Proxy(processes[name] as (...args: unknown[]) => unknown, {
      apply: (start, self, args: unknown[]) => {
        look(args.slice(0, 2).flat());
        const at = args.findIndex(
          (arg, index) => index > 0 && typeof arg === 'object' && arg !== null && !Array.isArray(arg),
        );
        // As: what is there is an object of options.
        const options = (at < 0 ? {} : args[at]) as { env?: Environment };
        const knownArgs = at < 0 ? args.filter((arg) => arg !== undefined) : args.slice(0, at);
        return Reflect.apply(start, self, [...knownArgs, { ...options, env: withOrigin(options.env ?? process.env) }]);
      },
    });
    Object.assign(processes, { [name]: wrapped });
  }
  syncBuiltinESMExports();
}

/** Node as a program, or in the command of a shell. */
const NODE_COMMAND = /(^|[\s;&|/])node(\s|$)/;

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
