import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { buildCommand, CliRunner } from '../server/testing/command.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');
/**
 * True if this Node.js has no proxy support for its own requests. Such older versions get a preloaded module that adds
 * it.
 */
const LACKS_ENV_PROXY = !process.allowedNodeEnvironmentFlags.has('--use-env-proxy');

let cli: CliRunner;
let proxy: Server;
/** The requests that the proxy received; it forwards none of them. */
const proxyRequests: string[] = [];
let env: Record<string, string>;

beforeAll(async () => {
  await buildCommand();
  cli = new CliRunner();
  proxy = createServer((request, response) => {
    proxyRequests.push(`${request.method} ${request.url}`);
    response.writeHead(502).end('the proxy knows no such host');
  });
  proxy.on('connect', (request, socket) => {
    proxyRequests.push(`CONNECT ${request.url}`);
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  // A listener on a port has such an address.
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const preload = join(root, 'e2e', 'env-proxy-for-tests.cjs');
  env = {
    NODE_USE_ENV_PROXY: '1',
    HTTP_PROXY: url,
    HTTPS_PROXY: url,
    http_proxy: url,
    https_proxy: url,
    ...(LACKS_ENV_PROXY && { NODE_OPTIONS: `--require "${preload}"` }),
  };
});
beforeEach(() => {
  proxyRequests.splice(0);
});
afterAll(async () => {
  await cli?.close();
  proxy?.close();
});

const node = (code: string) => `'${process.execPath}' --input-type=module -e "${code}"`;

it('is used for other machines: the tests that follow would notice', async () => {
  // Versions differ in whether the proxy tunnels or forwards; this one supports neither.
  const code = "await fetch('http://elsewhere.invalid/').catch(() => undefined)";
  await run('sh', ['-c', node(code)], { env: { PATH: process.env.PATH, ...env } });
  expect(proxyRequests).not.toEqual([]);
});

it('does not stand between the command line and its platform, nor between that and a command under exec', async () => {
  const script = [
    `${CliRunner.command} status`,
    node("console.log('fetched', (await fetch(process.env.TERRARIUM_META_URL + '/health')).status)"),
    'curl -sS -o /dev/null -w "curled %{http_code}\\n" "$TERRARIUM_META_URL/health"',
    'echo "$NO_PROXY" && echo "$no_proxy"',
    // The server forwards requests of the window to its own gateway.
    'curl -sS -u "$TERRARIUM_API_KEY:$TERRARIUM_API_SECRET" -H "Content-Type: application/json" -d \'{"method":"GET","path":"/none"}\' "$TERRARIUM_BASE_URL/inspect/requests"',
  ].join(' && ');
  const more = { NO_PROXY: 'corp.example' };
  const { exitCode, out, err } = await cli.run(['exec', '--', 'sh', '-c', script], { env: { ...env, ...more } });
  expect(err).toBe('');
  expect(exitCode, out).toBe(0);
  expect(out).toContain('fetched 200');
  expect(out).toContain('curled 200');
  const names = 'corp.example,localhost,127.0.0.1,::1,[::1],terrarium.localhost';
  expect(out).toContain(`${names}\n${names}\n`);
  expect(out).toMatch(/"status": ?404/);
  expect(proxyRequests).toEqual([]);
});

it('does not stand between a pipeline and the platform, nor between that and a job', async () => {
  const app = join(cli.folder, 'app');
  await run('git', ['init', '-q', '-b', 'main', app]);
  writeFileSync(
    join(app, '.gitlab-ci.yml'),
    'ask: {script: ["curl -sS -o /dev/null -w \'asked %{http_code}\' $CI_SERVER_URL"]}\n',
  );
  await run('git', ['-C', app, 'add', '--all']);
  await run('git', ['-C', app, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', 'commit', '-qm', 'Begin']);
  const args = [
    'exec',
    '--',
    'sh',
    '-c',
    `unset NO_PROXY no_proxy; ${CliRunner.command} pipeline run '${app}' --shell`,
  ];
  const { exitCode, out, err } = await cli.run(args, { env });
  expect(err).toBe('');
  expect(exitCode, out).toBe(0);
  expect(out).toMatch(/> asked [2-4]\d\d/);
  expect(out).not.toContain('asked 502');
  expect(proxyRequests).toEqual([]);
});

it('does not stand between the library and its platform', async () => {
  const library = pathToFileURL(join(root, 'entries', 'library.mjs')).href;
  const code = `import { startEmulator } from ${JSON.stringify(library)};
const platform = await startEmulator();
try {
  console.log('leads', (await platform.leads.list()).length);
} finally {
  await platform.stop();
}
`;
  writeFileSync(join(cli.folder, 'use.mjs'), code);
  const { stdout } = await run(process.execPath, ['use.mjs'], {
    cwd: cli.folder,
    env: { PATH: process.env.PATH, ...env },
  });
  expect(stdout).toBe('leads 0\n');
  expect(proxyRequests).toEqual([]);
});
