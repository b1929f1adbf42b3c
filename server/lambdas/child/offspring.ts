import { syncBuiltinESMExports } from 'node:module';
import { INHERITANCE, type Origin, type OutboundRoutes } from '../protocol.ts';
import type { TraceHeaders } from './trace-headers.ts';

/** What a worker thread or a Node process that a lambda starts is told, so that the rules hold in it, too, and it ends with the lambda's. */
export interface Inheritance {
  origin: Origin;
  routes: OutboundRoutes;
  /** The invocation that started it. */
  executionId?: string | undefined;
  /** That its calls belong to. */
  trace?: TraceHeaders | undefined;
}

/** To worker threads: a value of their environment data. */
const DATA_KEY = 'terrarium:outbound';

const threads = () => require('node:worker_threads') as typeof import('node:worker_threads');

/** What this thread or process has inherited; undefined in the one that the emulator itself has started. */
export function inheritance(): Inheritance | undefined {
  const { isMainThread, getEnvironmentData } = threads();
  // As: both were written by `handDown`.
  if (!isMainThread) return getEnvironmentData(DATA_KEY) as unknown as Inheritance | undefined;
  const text = process.env[INHERITANCE];
  return text === undefined ? undefined : (JSON.parse(text) as Inheritance);
}

type Environment = Record<string, string | undefined>;

/**
 * Has everything that is started from here carry its origin and, if it runs on Node, load this bundle first. What else is started
 * cannot be reached: where its arguments name the CRM, `note` is given a line that says so. `onStart` is called before each start.
 */
export function handDown(
  childFile: string,
  describe: () => Inheritance,
  note: (text: string) => void,
  onStart: () => void = () => {},
): void {
  const wt = threads();
  wt.Worker = new Proxy(wt.Worker, {
    construct: (own, [file, options], newTarget) => {
      onStart();
      restoreHeapFlag();
      wt.setEnvironmentData(DATA_KEY, describe() as never);
      const execArgv = [...(options?.execArgv ?? []), '--require', childFile];
      return Reflect.construct(own, [file, { ...options, execArgv }], newTarget);
    },
  });

  const given = (env: Environment): Environment => {
    onStart();
    const preload = `--require="${childFile.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
    return {
      ...env,
      NODE_OPTIONS: env.NODE_OPTIONS?.includes(preload)
        ? env.NODE_OPTIONS
        : `${env.NODE_OPTIONS ?? ''} ${preload}`.trim(),
      [INHERITANCE]: JSON.stringify(describe()),
    };
  };
  const look = (words: unknown[]): void => {
    const { routes } = describe();
    const isNode = words.some((word) => word === process.execPath || word === 'node');
    if (!routes.crm || !routes.catchesCrm || isNode) return;
    if (!words.some((word) => String(word).includes(routes.crm?.hostname ?? ''))) return;
    note(
      `a program was started that names the CRM's host (${String(words[0])}): calls of other programs than Node cannot be caught`,
    );
  };

  const processes = require('node:child_process') as typeof import('node:child_process');
  // As: not among Node's types, but what spawn, exec, execFile and fork come down to.
  const prototype = processes.ChildProcess.prototype as unknown as {
    spawn(options: { file: string; args?: string[]; envPairs?: string[] }): unknown;
  };
  const ownSpawn = prototype.spawn;
  prototype.spawn = function (options) {
    look([...(options.args ?? [options.file])]);
    const env = Object.fromEntries((options.envPairs ?? []).map(pairIn));
    const envPairs = Object.entries(given(env)).map(([name, value]) => `${name}=${value}`);
    return Reflect.apply(ownSpawn, this, [{ ...options, envPairs }]);
  };
  for (const name of ['execSync', 'execFileSync', 'spawnSync'] as const) {
    const wrapped = new Proxy(processes[name] as (...args: unknown[]) => unknown, {
      apply: (own, self, args: unknown[]) => {
        look(args.slice(0, 2).flat());
        const at = args.findIndex(
          (arg, index) => index > 0 && typeof arg === 'object' && arg !== null && !Array.isArray(arg),
        );
        // As: what is there is an object of options.
        const options = (at < 0 ? {} : args[at]) as { env?: Environment };
        const known = at < 0 ? args.filter((arg) => arg !== undefined) : args.slice(0, at);
        return Reflect.apply(own, self, [...known, { ...options, env: given(options.env ?? process.env) }]);
      },
    });
    Object.assign(processes, { [name]: wrapped });
  }
  syncBuiltinESMExports();
}

/** Threads have heaps of their own, whose limit is that flag's when they begin; `scripts/build-child.mjs` says why it was taken away. */
function restoreHeapFlag(): void {
  const flag = process.execArgv.find((arg) => arg.startsWith('--max-old-space-size='));
  if (flag !== undefined) (require('node:v8') as typeof import('node:v8')).setFlagsFromString(flag);
}

function pairIn(pair: string): [name: string, value: string] {
  const at = pair.indexOf('=', 1);
  return [pair.slice(0, at), pair.slice(at + 1)];
}
