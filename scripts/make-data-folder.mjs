// Makes a data folder that later versions must open, after a build with a new stored format: node scripts/make-data-folder.mjs FOLDER
// FOLDER is a new folder in fixtures/data-folders; server/platform/kept-folders.slow.test.ts opens each. Its keys and passwords are valid nowhere.
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { startEmulator } from '../dist/server/library.js';

/** Files that belong to the process that runs on the folder, or that are generated from the world. */
const EXCLUDED = new Set(['lock', 'instance.json', '.gitignore', 'lambdas']);
const TEN_YEARS_S = 10 * 365 * 24 * 60 * 60;

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('Usage: node scripts/make-data-folder.mjs FOLDER');
  process.exit(2);
}
const target = resolve(folder);
await mkdir(target); // throws if the folder exists, so that none is overwritten
const work = await mkdtemp(join(tmpdir(), 'terrarium-folder-'));
const data = join(work, 'data');
const options = { data, seed: 'demo', containers: { engine: 'none' }, limits: { tokenLifetimeS: TEN_YEARS_S } };

/** Sends JSON, or a form; resolves to the answer's body. */
async function send(method, url, { auth, body } = {}) {
  const isForm = body instanceof URLSearchParams;
  const response = await fetch(url, {
    method,
    headers: { ...(auth && { Authorization: auth }), ...(body && !isForm && { 'Content-Type': 'application/json' }) },
    body: isForm ? body : body && JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url} is ${response.status}: ${text}`);
  return response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text;
}

// A first run, whose commits go from the journal to the history when it stops.
const first = await startEmulator(options);
const { apiKey, apiSecret } = first.rootCredentials;
const auth = `Basic ${Buffer.from(`${apiKey}:${apiSecret}`).toString('base64')}`;
await send('POST', `${first.metaUrl}/root`, { auth, body: { name: 'in-the-snapshot' } });
await first.stop();

// A second one, which is copied as a crash would leave it: with a journal.
const { baseUrl, metaUrl, securityUrl, gatewayUrl, rootCredentials, stop } = await startEmulator(options);
const call = (method, path, body) => send(method, `${baseUrl}${path}`, { auth, body });
await send('POST', `${metaUrl}/root`, { auth, body: { name: 'in-the-journal' } });
const form = new URLSearchParams({ grant_type: 'password', username: 'root', password: rootCredentials.password });
const { access_token: token } = await send('POST', `${securityUrl}/root/oauth/issue`, { body: form });
await send('POST', `${gatewayUrl}/website/lead`, {
  body: { payload: { firstName: 'Kept', email: 'kept@example.com' } },
});
const { lambdaId: executionId } = await send('POST', `${gatewayUrl}/api/async`, { body: { payload: { orders: [] } } });
while (!(await fetch(`${gatewayUrl}/results/${executionId}`, { headers: { Authorization: `Bearer ${token}` } })).ok);
await call('POST', '/inspect/snapshots', { name: 'kept' });
await call('PUT', '/inspect/outbound', { rules: [{ host: 'kept.example.com', action: 'block' }] });
const lambdas = await send('GET', `${metaUrl}/demo/lambdas`, { auth });
await call('PUT', `/inspect/lambdas/${lambdas[0].id}/events`, { events: [{ name: 'kept', body: '{"n":1}' }] });
const run = { project: { id: 101, path: 'demo/kept' }, branch: 'main', sha: '0'.repeat(40), jobs: [] };
const { id } = await call('POST', '/inspect/pipelines', { ...run, variables: { present: [], missing: [] } });
await call('PUT', `/inspect/pipelines/${id}`, { state: 'success', jobs: [], log: ['kept'], exitCode: 0 });

const { invocations } = await call('GET', '/inspect/invocations?limit=1');
await new Promise((resolve) => setTimeout(resolve, 1_000)); // what runs is in files within that time

for (const name of await readdir(data)) {
  if (!EXCLUDED.has(name)) await cp(join(data, name), join(target, name), { recursive: true });
}
await stop();
await writeFile(
  join(target, 'expected.json'),
  `${JSON.stringify({ token, executionId, pipelineRunId: id, invocationId: invocations[0].executionId }, null, 2)}\n`,
);

const files = (await readdir(target, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
for (const { parentPath, name } of files) {
  const file = join(parentPath, name);
  const text = await readFile(file, 'utf8');
  if (text.includes(work) || text.includes(process.cwd())) {
    throw new Error(`${relative(target, file)} names a path of this machine: it is no fixture`);
  }
}
await rm(work, { recursive: true });
console.log(`${target}: ${files.map(({ name }) => name).join(', ')}`);
