import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Steps } from '../fixtures/api-clients/place.ts';
import { clientGenerators, newestNode } from '../scripts/extra-packages.mjs';
import { EXAMPLE_ID } from '../server/model/types/schema-parts.ts';
import { send } from '../server/testing/client.ts';
import { type Platform, startPlatform } from '../server/testing/platform.ts';
import { resourceFactoryFor } from '../server/testing/resource-factory.ts';
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
let apiName: string;

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
  const clients = { 'openapi.json': '', 'openapi.gateway.json': '-gateway' };
  for (const [document, suffix] of Object.entries(clients))
    await command('@hey-api/openapi-ts/bin/run.js', '-i', document, '-o', `generated/hey-api${suffix}`);
  const orvalConfig = Object.entries(clients).map(([document, suffix]) => {
    const output = {
      target: `generated/orval${suffix}/client.ts`,
      client: 'fetch',
      mode: 'split',
      baseUrl: { getBaseUrlFromSpecification: true },
    };
    return [document, { input: { target: `./${document}` }, output }];
  });
  await writeFile(
    join(folder, 'orval.config.mjs'),
    `export default ${JSON.stringify(Object.fromEntries(orvalConfig))};`,
  );
  await command('orval/dist/bin/orval.mjs', '--config', 'orval.config.mjs');
}

beforeAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await cp(sources, folder, { recursive: true });
  platform = await startPlatform();
  const { baseUrl, securityUrl, rootCredentials } = platform.emulator;
  tenant = await createTenant(platform.root, 'clients');
  const make = resourceFactoryFor(platform.root);
  const lambda = await make.lambda(tenant, {
    code: "exports.run = (event, context, callback) => callback(null, 'pong')",
  });
  const api = await make.api(tenant);
  await make.endpoint(api, lambda, { resource: '/deep/ping' });
  apiName = api.name;
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

it.each(CLIENTS)(
  'a client of %s creates, reads, lists, patches, replaces, deletes and calls an endpoint',
  async (name) => {
    // For `require`, with the checked types.
    const options = ['--module', 'commonjs', '--moduleResolution', 'node10', '--noCheck', '--outDir', 'compiled'];
    if (!existsSync(join(folder, 'compiled'))) await command('typescript/bin/tsc', '-p', 'tsconfig.json', ...options);
    const client: { run(connection: object): Promise<Steps> } = createRequire(import.meta.url)(
      join(folder, 'compiled', `${name}.js`),
    );
    const steps = await client.run({
      baseUrl: platform.emulator.baseUrl,
      gatewayUrl: platform.emulator.gatewayUrl,
      apiName,
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
      called: 'pong',
    });
  },
);

it("Postman's runner creates a workspace, an environment, a lambda, an API and an endpoint from an import", async () => {
  const packages = createRequire(join(clientGenerators, 'package.json'));
  const { convert } = packages('openapi-to-postmanv2');
  const data = await readFile(join(folder, 'openapi.json'), 'utf8');
  // The two settings that the documentation of clients names.
  const settings = { requestParametersResolution: 'Example', enableOptionalParameters: false };
  const { result, output, reason } = await promisify(convert)({ type: 'string', data }, settings);
  if (!result) throw new Error(reason);
  const collection: PostmanFolder & object = output[0].data;
  const { apiKey, apiSecret } = platform.emulator.rootCredentials;
  const environment = {
    values: Object.entries({ basicAuthUsername: apiKey, basicAuthPassword: apiSecret }).map(([key, value]) => ({
      key,
      value,
    })),
  };
  const newman: { run: (options: object, done: (error: Error | null, summary: NewmanSummary) => void) => void } =
    packages('newman');
  /** Sends a request after the placeholder ids in it have been replaced. */
  const create = async (name: string, ids: Record<string, string>, placeholder = '') => {
    const request = requestsIn(collection).find((item) => item.name === name);
    if (!request) throw new Error(`the collection has no request '${name}'`);
    const item = JSON.parse(JSON.stringify(request).replaceAll(EXAMPLE_ID, placeholder));
    for (const variable of item.request.url.variable) variable.value = ids[variable.key] ?? 'clients';
    const { run } = await promisify(newman.run)({ collection: { ...collection, item: [item] }, environment });
    const [{ response } = {}] = run.executions;
    expect([response?.code, response?.json()]).toEqual([201, expect.anything()]);
    return response?.json().id ?? '';
  };
  const workspace_id = await create('Create a workspace in an organization', {});
  const environment_id = await create('Create an environment in a workspace', { workspace_id });
  const lambda = await create('Create a lambda in an environment', { environment_id }, tenant.lambdas);
  const api_id = await create('Create an API in an environment', { environment_id });
  await create('Create an API endpoint in an API', { api_id }, lambda);
});

interface PostmanFolder {
  name: string;
  item?: PostmanFolder[];
}

interface NewmanSummary {
  run: { executions: { response?: { code: number; json(): { id: string } } }[] };
}

function requestsIn({ item = [] }: PostmanFolder): PostmanFolder[] {
  return item.flatMap((child) => (child.item ? requestsIn(child) : [child]));
}

it('has a program for each of the clients', async () => {
  const programs = (await readdir(sources)).filter((file) => file.endsWith('.ts') && file !== 'place.ts');
  expect(programs.sort()).toEqual(CLIENTS.map((name) => `${name}.ts`).sort());
});
