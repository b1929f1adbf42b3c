import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';

/** The data of the thread that is the proxy. */
export interface ProxyOrder {
  /** The port of the thread, or -1 if it cannot start; 0 until then. */
  port: Int32Array;
  password: string;
  /** The file for the certificates that programs are to trust. */
  caFile: string;
}

/** The user name of a program that was started outside of invocations. */
export const NO_EXECUTION = '-';

/** The member of a thread's data that makes it a proxy. */
const PROXY_ORDER = 'terrarium:program-proxy';

/** The order that this thread has; undefined unless it is a proxy. */
export function orderedProxy(): ProxyOrder | undefined {
  const { workerData } = require('node:worker_threads') as typeof import('node:worker_threads');
  // As: threads of lambdas have any data; `programProxy` writes this member.
  return (workerData as { [PROXY_ORDER]?: ProxyOrder } | null | undefined)?.[PROXY_ORDER];
}

const PROXY_NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];
const SYSTEM_NAMES =
  process.platform === 'win32' ? PROXY_NAMES : [...PROXY_NAMES, ...PROXY_NAMES.map((name) => name.toLowerCase())];
/** They make exceptions from a proxy that the program does not use here. */
const EXCEPTION_NAMES = ['NO_PROXY', 'no_proxy'];
const CA_NAMES = [
  'SSL_CERT_FILE',
  'CURL_CA_BUNDLE',
  'REQUESTS_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'AWS_CA_BUNDLE',
  'PIP_CERT',
  'CARGO_HTTP_CAINFO',
  'DENO_CERT',
];
/** Starting a thread takes a fraction of it, unless the machine is busy. */
const START_TIMEOUT_MS = 10_000;

export type Environment = Record<string, string | undefined>;

/**
 * Returns a function that returns the variables with which a program uses the proxy, which starts with the first program. It returns none if
 * the program's environment names a proxy already, or if the proxy cannot start.
 */
export function programProxy(
  childFile: string,
  startThread: (file: string, options: { workerData: object }) => Worker,
) {
  let order: ProxyOrder | undefined;
  /** Waits for the port: the program starts next, perhaps by `execSync`. */
  const start = (): ProxyOrder => {
    // Here, not at the top: few lambdas start programs.
    const { randomBytes } = require('node:crypto') as typeof import('node:crypto');
    const { tmpdir } = require('node:os') as typeof import('node:os');
    const password = randomBytes(16).toString('hex');
    const newOrder = {
      port: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
      password,
      caFile: join(tmpdir(), `terrarium-proxy-${process.pid}-${password.slice(0, 8)}.pem`),
    };
    const thread = startThread(childFile, { workerData: { [PROXY_ORDER]: newOrder } });
    // Without a listener, a fault of the proxy would end the lambda.
    thread.on('error', () => {});
    thread.on('exit', () => {
      order = undefined;
    });
    thread.unref();
    Atomics.wait(newOrder.port, 0, 0, START_TIMEOUT_MS);
    return newOrder;
  };
  return (env: Environment, executionId = NO_EXECUTION): Record<string, string> => {
    if (PROXY_NAMES.some((name) => env[name] !== undefined || env[name.toLowerCase()] !== undefined)) return {};
    order ??= start();
    const { port, password, caFile } = order;
    if (!(Atomics.load(port, 0) > 0)) return {};
    const address = `http://${executionId}:${password}@127.0.0.1:${port[0]}`;
    return {
      ...Object.fromEntries(CA_NAMES.filter((name) => env[name] === undefined).map((name) => [name, caFile])),
      ...Object.fromEntries(EXCEPTION_NAMES.filter((name) => env[name] !== undefined).map((name) => [name, ''])),
      ...Object.fromEntries(SYSTEM_NAMES.map((name) => [name, address])),
    };
  };
}
