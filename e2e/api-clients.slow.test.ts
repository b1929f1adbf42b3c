import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Steps } from '../fixtures/api-clients/place.ts';
import { clientGenerators, newestNode } from '../scripts/extra-packages.mjs';
import { send } from '../server/testing/client.ts';
import { type Platform, startPlatform } from '../server/testing/platform.ts';
import { createTenant, type Tenant } from '../server/testing/tenant.ts';

// Clients that current generators create from the API document compile in strict mode, and work with a platform.

const DOCUMENTS = ['openapi.json', 'openapi.gateway.json', 'openapi.inspect.json'];
const CLIENTS = ['openapi-fetch', 'hey-api', 'orval'];
const sources = join(import.meta.dirname, '..', 'fixtures', 'api-clients');
/** Next to the packages, so that the clients find them. */
const folder = join(clientGenerators, 'work');
const run = promisify(execFile);

let platform: Platform;
let tenant: Tenant;
let token: string;

/** Runs a command of an installed package; an error contains its output. */
async function command(path: string, ...args: string[]): Promise<string> {
  const program = join(clientGenerators, 'node_modules', path);
  if (!existsSync(program) || !existsSync(newestNode)) {
    throw new Error(`${program} or Node.js is not installed. Run \`node scripts/extra-packages.mjs\`.`);
  }
  try {
    return (await run(newestNode, [program, ...args], { cwd: folder, env: { ...process.env, NO_COLOR: '1' } })).stdout;
  } catch (failure) {
    const { stdout = '', stderr = '' }: { stdout?: string; stderr?: string } = Object(failure);
    throw new Error(`${path} failed:\n${stdout.slice(0, 4_000)}${stderr.slice(0, 4_000)}`);
  }
}

async function generateClients(): Promise<void> {
  await command('openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'generated/openapi-typescript.ts');
  for (const name of ['gateway', 'inspect'])
    await command('openapi-typescript/bin/cli.js', `openapi.${name}.json`, '-o', `generated/${name}.ts`);
  await command('@hey-api/openapi-ts/bin/run.js', '-i', 'openapi.json', '-o', 'generated/hey-api');
  const output = {
    target: 'generated/orval/client.ts',
    client: 'fetch',
    mode: 'split',
    baseUrl: { getBaseUrlFromSpecification: true },
  };
  await writeFile(
    join(folder, 'orval.config.mjs'),
    `export default { all: ${JSON.stringify({ input: { target: './openapi.json' }, output })} };`,
  );
  await command('orval/dist/bin/orval.mjs', '--config', 'orval.config.mjs');
}

beforeAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await cp(sources, folder, { recursive: true });
  platform = await startPlatform();
  const { baseUrl, securityUrl, rootCredentials } = platform.emulator;
  tenant = await createTenant(platform.root, 'clients');
  const { apiKey, apiSecret = '' } = rootCredentials;
  const grant = new URLSearchParams({ grant_type: 'client_credentials' });
  const auth = `Basic ${Buffer.from(`${apiKey}:${apiSecret}`).toString('base64')}`;
  token = (await send('POST', `${securityUrl}/root/oauth/issue`, { body: grant, headers: { Authorization: auth } }))
    .body.access_token;
  for (const name of DOCUMENTS) await writeFile(join(folder, name), await (await fetch(`${baseUrl}/${name}`)).text());
  await writeFile(join(folder, 'package.json'), '{"type":"commonjs"}');
  await mkdir(join(folder, 'generated'));
  await generateClients();
});
afterAll(async () => {
  await platform?.stop();
  await rm(folder, { recursive: true, force: true });
});

it.each(DOCUMENTS)('redocly finds nothing to complain about in %s', async (name) => {
  const report = await command('@redocly/cli/bin/cli.js', 'lint', name, '--config', 'redocly.yaml', '--format', 'json');
  expect(JSON.parse(report).problems).toEqual([]);
});

it('generated clients compile strictly', async () => {
  await command('typescript/bin/tsc', '-p', 'tsconfig.json', '--noEmit');
});

it.each(CLIENTS)('a client of %s creates, reads, lists, patches, replaces and deletes', async (name) => {
  // For `require`, with the checked types.
  const options = ['--module', 'commonjs', '--moduleResolution', 'node10', '--noCheck', '--outDir', 'compiled'];
  if (!existsSync(join(folder, 'compiled'))) await command('typescript/bin/tsc', '-p', 'tsconfig.json', ...options);
  const client: { run(connection: object): Promise<Steps> } = createRequire(import.meta.url)(
    join(folder, 'compiled', `${name}.js`),
  );
  const steps = await client.run({
    baseUrl: platform.emulator.baseUrl,
    token,
    fqon: 'clients',
    environmentId: tenant.environmentId,
    providerId: tenant.lambdas,
    engineId: tenant.docker,
  });
  expect(steps).toEqual({
    created: 'Platform::Resource::Node::Lambda',
    owner: 'root',
    read: 'nodejs',
    names: [name],
    patched: 'patched',
    replaced: 'replaced: k',
    deleted: 204,
    gone: { status: 404, message: expect.stringContaining('not found') },
  });
});

it('has a program for each of the clients', async () => {
  const programs = (await readdir(sources)).filter((file) => file.endsWith('.ts') && file !== 'place.ts');
  expect(programs.sort()).toEqual(CLIENTS.map((name) => `${name}.ts`).sort());
});
