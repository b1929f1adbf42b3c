// Stores the compiled code of the lambda child's bundles, beside them. V8 compiles functions when they are first called, so a process
// loads and calls a lambda that uses what many lambdas use.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const TIMEOUT_MS = 120_000;

/** TypeScript with a default value loads both parsers. The rest of the outcome is sent after the callback. */
const SOURCE = `import { request } from 'node:https';
type Callback = (error: unknown, value?: string) => void;
export const run = (event: string, context = '{}', callback: Callback): void => {
  request({ method: 'POST', host: 'crm.example.com', path: '/servlet/servlet.WebToLead' }, (response) =>
    response.resume().on('end', () => {
      callback(undefined, event);
      setTimeout(() => process.exit(), 100);
    }),
  ).end('oid=1');
};`;

/** Runs before the bundle, and writes what V8 has compiled of each file at the end, followed by its sum. */
const recorderOf = (compiledFiles) => `const { writeFileSync } = require('node:fs');
const { basename } = require('node:path');
const vm = require('node:vm');
const { Script } = vm;
const compiledFiles = ${JSON.stringify(compiledFiles)};
const scripts = new Map();
vm.Script = class extends Script {
  constructor(source, options) {
    super(source, options);
    scripts.set(compiledFiles[basename(options.filename)], this);
  }
};
process.on('exit', () => {
  for (const [file, script] of scripts) {
    const code = script.createCachedData();
    const sum = Buffer.alloc(4);
    sum.writeUInt32LE(sumOf(code));
    writeFileSync(file, Buffer.concat([code, sum]));
  }
});

${sumOf}
`;

/**
 * A sum that differs when the code is incomplete. A power failure leaves parts of zeros, so one number in every 128 bytes is enough,
 * and each process reads few of them.
 */
export function sumOf(code) {
  let sum = code.length;
  for (let at = 0; at + 4 <= code.length; at += 128) sum = (sum + code.readUInt32LE(at)) >>> 0;
  return sum;
}

/**
 * @param {string} childFile the child's bundle
 * @param {Record<string, string>} compiledFiles the file for the compiled code of each loader, by its name
 */
export async function compileChild(childFile, compiledFiles) {
  // Compiled code that is loaded would be stored again as it is.
  for (const file of Object.values(compiledFiles)) rmSync(file, { force: true });
  const folder = mkdtempSync(join(tmpdir(), 'terrarium-compile-'));
  const crm = createServer((request, response) => request.resume().on('end', () => response.end('ok')));
  try {
    await once(crm.listen(0, '127.0.0.1'), 'listening');
    await runLambda({ childFile, folder, compiledFiles, mock: { host: '127.0.0.1', port: crm.address().port } });
  } finally {
    crm.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runLambda({ childFile, folder, compiledFiles, mock }) {
  const [file, recorder] = [join(folder, 'index.ts'), join(folder, 'recorder.cjs')];
  writeFileSync(file, SOURCE);
  writeFileSync(recorder, recorderOf(compiledFiles));
  const { PATH, SystemRoot } = process.env;
  const env = { ...(PATH && { PATH }), ...(SystemRoot && { SystemRoot }) };
  const child = spawn(process.execPath, ['--require', recorder, childFile], {
    stdio: ['ignore', 'ignore', 'pipe', 'overlapped', 'overlapped'],
    env,
    detached: process.platform !== 'win32',
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  const [, , , control, calls] = child.stdio;
  calls.on('error', () => {}); // the end of the process says more
  let output = '';
  for (const stream of [child.stderr, control])
    stream.on('data', (chunk) => {
      output += chunk;
    });
  const crm = { hosts: [{ hostname: 'crm.example.com' }], formPaths: [] };
  const outbound = { crm, mock, catchesCrm: true, blocksOutside: false };
  const lists = { namedForms: [], ownHosts: [], ownAddresses: [mock], portRoutes: [], rules: [] };
  const load = { env, home: folder, folder, file, exportName: 'run', resultLimitBytes: 1024, clockAheadMs: 0 };
  const members = { context: '{"headers":{}', lambda: '"lambdaId":"","lambdaName":""', place: { httpAware: false } };
  const origin = { owner: {}, platform: '', process: 1 };
  writeFrame(calls, 1, { ...load, origin, isDebugged: false, outbound: { ...outbound, ...lists } });
  // The first answer is that the lambda is loaded.
  control.once('data', () =>
    writeFrame(calls, 2, { number: 1, closed: 0, timeoutMs: TIMEOUT_MS, executionId: '', ...members }),
  );
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`the lambda that compiles the child's code did not end: ${output}`);
}

/** As `writeFrame` of server/runtimes/lambdas/process/frames.ts, which this script cannot import. */
function writeFrame(stream, type, head) {
  const text = Buffer.from(JSON.stringify(head));
  const prefix = Buffer.alloc(13);
  prefix.writeUInt32BE(0x54524d31, 0);
  prefix.writeUInt8(type, 4);
  prefix.writeUInt32BE(text.length, 5);
  stream.write(Buffer.concat([prefix, text]));
}
