import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CliRunner } from '../testing/command.ts';
import { type Platform, startPlatform } from '../testing/platform.ts';

let platform: Platform;
let cli: CliRunner;
beforeAll(async () => {
  platform = await startPlatform({ seed: 'demo' });
  cli = new CliRunner();
  mkdirSync(join(cli.folder, '.git')); // nothing above it is searched
});
afterAll(async () => {
  await cli.close();
  await platform.stop();
});

const write = (name: string, text: string) => {
  mkdirSync(dirname(join(cli.folder, name)), { recursive: true });
  writeFileSync(join(cli.folder, name), text);
};
function writeLambda(folder: string): void {
  write(`${folder}/index.js`, `exports.run = async () => 'from ${folder} ' + process.env.GREETING;\n`);
  write(`${folder}/.env`, 'GREETING=Hello\n');
}
function deploy(...args: string[]) {
  const { baseUrl, rootCredentials } = platform.emulator;
  const { apiKey, apiSecret = '' } = rootCredentials;
  const env = { TERRARIUM_API_KEY: apiKey, TERRARIUM_API_SECRET: apiSecret };
  return cli.runInProcess(['deploy', ...args, '--base-url', baseUrl], { env });
}
const addressIn = (out: string) => /http:\/\/\S+/.exec(out)?.[0] ?? '';
const textAt = async (address: string) => (await fetch(address, { method: 'POST' })).text();

it('publishes the lambdas of several folders at addresses of their own, and changes nothing the second time', async () => {
  const addresses: string[] = [];
  for (const folder of ['orders', 'mails']) {
    writeLambda(folder);
    const { exitCode, out, err } = await deploy(folder);
    expect([exitCode, err]).toEqual([0, '']);
    expect(out).toContain(`+ lambdas /${folder}/local/dev/${folder}\n`);
    addresses.push(addressIn(out));
  }
  expect(await Promise.all(addresses.map(textAt))).toEqual(['from orders Hello', 'from mails Hello']);
  expect((await deploy('orders')).out).toMatch(/^nothing has changed\norders +POST http/);
  write('orders/.env', 'GREETING=Welcome\n');
  expect((await deploy('orders', '--dry-run')).out).toContain('replace /properties/env/GREETING "Welcome"');
  expect(await textAt(addresses[0] ?? '')).toBe('from orders Hello');
  await deploy('orders');
  expect(await textAt(addresses[0] ?? '')).toBe('from orders Welcome');
});

it('adds a lambda to an existing environment, and leaves its other resources as they are', async () => {
  writeLambda('feedback');
  const before = (await platform.root.get('/demo%2Fwebsite/environments')).body;
  const { exitCode, out, err } = await deploy('feedback', '--environment', '/demo/website/development');
  expect([exitCode, err]).toEqual([0, '']);
  expect(out).toContain('+ lambdas /demo/website/development/feedback\n');
  expect(await textAt(addressIn(out))).toBe('from feedback Hello');
  expect((await platform.root.get('/demo%2Fwebsite/environments')).body).toEqual(before);
});

it('finds an environment below a workspace with a slash in its name', async () => {
  writeLambda('slash');
  const environments = '{test: {properties: {environment_type: development}}}';
  write('names/world.yaml', `format: 1\norgs: {demo: {workspaces: {a/b: {environments: ${environments}}}}}\n`);
  await deploy('names');
  const { exitCode, out, err } = await deploy('slash', '--environment', '/demo/a~1b/test');
  expect([exitCode, err]).toEqual([0, '']);
  expect(out).toContain('+ lambdas /demo/a~1b/test/slash\n');
  expect(out).not.toContain('+ workspaces');
});

it('prints the deployed lambdas and endpoints as JSON', async () => {
  writeLambda('api');
  const { out } = await deploy('api', '--json');
  expect(JSON.parse(out)).toMatchObject({
    summary: { delete: 0 },
    lambdas: [{ name: 'api' }],
    endpoints: [{ name: 'api', lambda: 'api', url: expect.stringContaining('/api') }],
  });
});

it('names the lambda of an endpoint also if the document does not contain it', async () => {
  const endpoint = `{properties: {resource: /again, methods: [POST], implementation_type: lambda, implementation_id: /demo/website/development/contact-form}}`;
  const api = `{apis: {website: {apiendpoints: {again: ${endpoint}}}}}`;
  write('more/world.yaml', `format: 1\norgs: {demo: {workspaces: {website: {environments: {development: ${api}}}}}}\n`);
  const { out, err } = await deploy('more', '--json');
  expect(err).toBe('');
  expect(JSON.parse(out)).toMatchObject({ lambdas: [], endpoints: [{ name: 'again', lambda: 'contact-form' }] });
});

it.each([
  [['nowhere'], /nowhere does not exist/],
  [['empty'], /has no world file .* and no lambda/],
  [['orders', '--environment', 'development'], /'development' is not the path of an environment, such as/],
  [['orders', '--environment', '/demo/website/typo'], /\/demo\/website\/typo/],
  [['world', '--environment', '/demo/website/development'], /world\.yaml names the environments of its lambdas/],
])('explains what is wrong with %j', async (args, message) => {
  writeLambda('orders');
  mkdirSync(join(cli.folder, 'empty'), { recursive: true });
  write('world/world.yaml', 'format: 1\n');
  const { exitCode, err } = await deploy(...args);
  expect([exitCode, err]).toEqual([2, expect.stringMatching(message)]);
});
