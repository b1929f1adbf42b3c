// The installed package, used from its start to its end as on a developer's machine, with no container engine: on each system and version
// of Node.js that continuous integration has (.github/workflows/ci.yml), and under Wine (scripts/try-windows.mjs).
// Usage: node scripts/system-journey.mjs FOLDER, where FOLDER has terrarium-emulator (and vitest) in its node_modules. It prints a line for
// each step. A step that fails ends the journey with exit code 1.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { createRequire } from 'node:module';
import { delimiter, dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const folder = resolve(process.argv[2] ?? '.');
const require = createRequire(join(folder, 'package.json'));
const cli = join(dirname(require.resolve('terrarium-emulator/package.json')), 'entries', 'terrarium.cjs');
const scratch = join(folder, 'a journey with spaces and ü');
const data = join(scratch, 'data');
const readyFile = join(scratch, 'ready.json');
/** Another platform may run on this machine. */
const FREE_PORTS = ['--base-port', '0', '--gateway-port', '0'];
/** A test suite may be slow to start, and so is everything else on a machine that is emulated. */
const LIMIT_MS = 120_000;

/** Output of the program that ran last, which each failing step prints. */
let lastOutput = '';
let outputs = 0;

/** Starts Node with its output in a file: not every system lets the output of a program be a pipe. */
function startNode(args, env = {}) {
  const file = join(scratch, `output-${++outputs}.txt`);
  const output = openSync(file, 'w');
  const child = spawn(process.execPath, args, {
    cwd: scratch,
    env: { ...process.env, ...env },
    stdio: ['ignore', output, output],
    windowsHide: true,
  });
  closeSync(output);
  lastOutput = file;
  const ended = new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve));
  return { child, ended, text: () => readFileSync(file, 'utf8') };
}

/** Runs Node to its end and returns its output; fails unless it exits with 0. */
async function runNode(args, env) {
  const { child, ended, text } = startNode(args, env);
  const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  const code = await ended;
  clearTimeout(limit);
  assert.equal(code, 0, `${args.join(' ')} ended with ${code}`);
  return text();
}

async function until(description, isSo) {
  const end = Date.now() + LIMIT_MS;
  while (!isSo()) {
    assert.ok(Date.now() < end, `${description}: not within ${LIMIT_MS / 1000} s`);
    await delay(100);
  }
}

/** The running platform, its addresses and the credentials of its root account. */
let platform;
async function startPlatform() {
  rmSync(readyFile, { force: true });
  const args = ['start', '--data', data, '--ready-file', readyFile, '--containers-engine', 'none'];
  const started = startNode([cli, ...args, ...FREE_PORTS], { TERRARIUM_HEADLESS: 'true' });
  await Promise.race([
    until('the platform is ready', () => existsSync(readyFile)),
    started.ended.then((code) => assert.fail(`the platform ended with ${code}`)),
  ]);
  const { key, secret } = JSON.parse(readFileSync(join(data, 'root-api-key.json'), 'utf8'));
  platform = { ...started, ...JSON.parse(readFileSync(readyFile, 'utf8')), basic: `Basic ${btoa(`${key}:${secret}`)}` };
}

/** Each request has its own connection: Wine does not keep idle ones. */
function sendRequest(method, url, { body, authorization = platform?.basic, type = 'application/json' } = {}) {
  let resolve;
  let reject;
  const promise = new Promise((...callbacks) => ([resolve, reject] = callbacks));
  const headers = { Authorization: authorization, 'Content-Type': type, Connection: 'close' };
  const outgoing = request(url, { method, headers, agent: false, timeout: LIMIT_MS }, (response) => {
    const chunks = [];
    response.on('data', (chunk) => chunks.push(chunk));
    response.once('error', reject).once('end', () => {
      const text = Buffer.concat(chunks).toString();
      const isJson = response.headers['content-type']?.includes('json');
      if (response.statusCode < 300) resolve(isJson ? JSON.parse(text) : text);
      else reject(new Error(`${method} ${url}: ${response.statusCode} ${text}`));
    });
  });
  outgoing.once('error', reject).once('timeout', () => outgoing.destroy(new Error(`${method} ${url}: no response`)));
  outgoing.end(typeof body === 'object' ? JSON.stringify(body) : body);
  return promise;
}

const lambda = async () => {
  const all = await sendRequest('GET', `${platform.metaUrl}/demo/lambdas?expand=true`);
  return all.find(({ name }) => name === 'contact-form');
};
const FORM = {
  payload: {
    firstName: 'Ada',
    lastName: 'Lovelace',
    company: 'Engines',
    phone: '+44 20 0000 0000',
    email: 'ada@example.com',
  },
};
const DESCRIPTION = 'kept over a crash';

const STEPS = {
  'doctor finds nothing that prevents a start': () => runNode([cli, 'doctor', '--data', data, ...FREE_PORTS]),
  'the platform starts': startPlatform,
  'a token is issued and accepted': async () => {
    const grant = 'grant_type=client_credentials';
    const type = 'application/x-www-form-urlencoded';
    const issued = await sendRequest('POST', `${platform.securityUrl}/root/oauth/issue`, { body: grant, type });
    const self = await sendRequest('GET', `${platform.metaUrl}/users/self`, {
      authorization: `Bearer ${issued.access_token}`,
    });
    assert.equal(self.name, 'root');
  },
  'a lambda runs and its lead arrives': async () => {
    assert.equal(await sendRequest('POST', `${platform.gatewayUrl}/website/lead`, { body: FORM }), 'SUCCESS');
    assert.match(JSON.stringify(await sendRequest('GET', `${platform.baseUrl}/inspect/leads`)), /ada@example\.com/);
  },
  'a change is applied': async () => {
    const { id } = await lambda();
    const body = [{ op: 'add', path: '/description', value: DESCRIPTION }];
    await sendRequest('PATCH', `${platform.metaUrl}/demo/lambdas/${id}`, { body });
  },
  'a crash with half a line in the journal loses nothing': async () => {
    platform.child.kill('SIGKILL');
    await platform.ended;
    appendFileSync(join(data, 'journal.jsonl'), '{"seq":');
    await startPlatform();
    assert.equal((await lambda()).description, DESCRIPTION);
    await sendRequest('POST', `${platform.gatewayUrl}/website/lead`, { body: FORM });
  },
  'the running platform is stopped and leaves nothing open': async () => {
    await runNode([cli, 'stop', '--data', data]);
    assert.equal(await platform.ended, 0);
    assert.ok(!existsSync(join(data, 'instance.json')), 'instance.json is still there');
    await startPlatform();
    await runNode([cli, 'stop', '--data', data]);
    await platform.ended;
  },
  'exec runs npm against a platform': async () => {
    const npm = process.env.JOURNEY_NPM;
    const env = npm === undefined ? {} : { PATH: `${npm}${delimiter}${process.env.PATH}` };
    const text = await runNode([cli, 'exec', '--', 'npm', '-v'], env);
    assert.match(text, /^\d+\.\d+\.\d+/m);
  },
  'the library starts a platform, deploys a lambda and stops': async () => {
    mkdirSync(join(scratch, 'lambda'));
    writeFileSync(
      join(scratch, 'lambda', 'index.js'),
      'exports.run = (event, context, done) => done(null, { ok: true });',
    );
    const { startEmulator } = await import(pathToFileURL(require.resolve('terrarium-emulator')).href);
    const emulator = await startEmulator({ containers: { engine: 'none' } });
    const { url } = await emulator.deploy('/shop/test/echo', { folder: join(scratch, 'lambda'), endpoint: '/echo' });
    assert.deepEqual(await sendRequest('POST', url, { body: {}, authorization: '' }), { ok: true });
    await emulator.stop();
  },
  'the library works in a test of Vitest': async () => {
    writeFileSync(
      join(folder, 'journey.test.mjs'),
      `import { expect, test } from 'vitest';
import { startEmulator } from 'terrarium-emulator';
test('a form becomes a lead', { timeout: ${LIMIT_MS} }, async () => {
  const platform = await startEmulator({ seed: 'demo', containers: { engine: 'none' } });
  await platform.invoke('contact-form', ${JSON.stringify(FORM)});
  expect(await platform.leads.waitFor({ email: 'ada@example.com' })).toBeDefined();
  await platform.stop();
});
`,
    );
    const vitest = join(dirname(require.resolve('vitest/package.json')), 'vitest.mjs');
    await runNode([vitest, 'run', '--root', folder, 'journey.test.mjs']);
  },
};

rmSync(scratch, { recursive: true, force: true });
mkdirSync(scratch);
console.log(`Node.js ${process.versions.node} on ${process.platform}`);
for (const [step, run] of Object.entries(STEPS)) {
  if (step.includes('Vitest') && !existsSync(join(folder, 'node_modules', 'vitest'))) {
    console.log(`skipped  ${step}: vitest is not installed in ${folder}`);
    continue;
  }
  try {
    await run();
    console.log(`ok       ${step}`);
  } catch (error) {
    console.log(`FAILED   ${step}: ${error instanceof Error ? error.message : error}`);
    if (lastOutput !== '') console.log(readFileSync(lastOutput, 'utf8').slice(-3000));
    platform?.child.kill('SIGKILL');
    process.exitCode = 1;
    break;
  }
}
