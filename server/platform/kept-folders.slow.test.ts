import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { basic, bearer, send } from '../testing/checked-client.ts';
import { QUICK_START } from '../testing/platform.ts';
import { type Emulator, startEmulator } from './emulator.ts';

/** Data folders of earlier versions (scripts/make-data-folder.mjs), one for each storage format. */
const SAMPLE_FOLDERS = fileURLToPath(new URL('../../fixtures/data-folders', import.meta.url));
/** Longer than any fixture is old. */
const CENTURY_S = 100 * 365 * 24 * 60 * 60;

const expected = z.object({
  token: z.string(),
  executionId: z.string(),
  pipelineRunId: z.string(),
  invocationId: z.string().optional(),
});
const folders = await readdir(SAMPLE_FOLDERS);
/** Their invocations and requests are stored in a form that is not read any more. */
const WITH_OLDER_RECORDS = ['2026-11-23', '2026-11-records', '2026-11-rows'];

const testFolder = await mkdtemp(join(tmpdir(), 'terrarium-kept-'));
afterAll(() => rm(testFolder, { recursive: true }));

/** Opens a copy, hands it on, and closes it; resolves to what was warned of. */
async function open(name: string, use: (emulator: Emulator, auth: string) => Promise<void>): Promise<string[]> {
  const warnings: string[] = [];
  const data = join(testFolder, name);
  const emulator = await startEmulator(
    {
      data,
      // Otherwise it is replaced, which ends the token that the folder contains.
      rootPassword: 'terrarium',
      containers: { engine: 'none' },
      limits: { tokenLifetimeS: CENTURY_S, resultLifetimeS: CENTURY_S },
      records: { maxDays: CENTURY_S / (24 * 60 * 60) },
    },
    { onWarning: (message) => warnings.push(message), ...QUICK_START },
  );
  const { apiKey, apiSecret = '' } = emulator.rootCredentials;
  await use(emulator, basic(apiKey, apiSecret)).finally(() => emulator.stop());
  return warnings;
}

describe.each(folders)('the data folder %s of an earlier version', (name) => {
  it('opens with all that is in it, and again after this version has written to it', async () => {
    await cp(join(SAMPLE_FOLDERS, name), join(testFolder, name), { recursive: true });
    const sampleIds = expected.parse(JSON.parse(await readFile(join(testFolder, name, 'expected.json'), 'utf8')));
    const pair = JSON.parse(await readFile(join(SAMPLE_FOLDERS, name, 'root-api-key.json'), 'utf8'));

    const check = async ({ baseUrl, metaUrl, gatewayUrl, rootCredentials }: Emulator, auth: string) => {
      expect(rootCredentials).toMatchObject({ apiKey: pair.key, apiSecret: pair.secret });
      const get = async (url: string, as = auth) => (await send('GET', url, { auth: as })).body;
      const organizations = await get(`${metaUrl}/orgs`, bearer(sampleIds.token));
      expect(organizations.map((organization: { name: string }) => organization.name)).toEqual(
        expect.arrayContaining(['root', 'demo', 'in-the-snapshot', 'in-the-journal']),
      );
      expect(await get(`${gatewayUrl}/results/${sampleIds.executionId}`, bearer(sampleIds.token))).toMatchObject({
        executionId: sampleIds.executionId,
      });
      expect(await get(`${baseUrl}/inspect/leads`)).toMatchObject([
        { fields: expect.arrayContaining([{ name: 'email', value: 'kept@example.com' }]) },
      ]);
      expect(await get(`${baseUrl}/inspect/snapshots`)).toMatchObject([{ name: 'kept' }]);
      expect((await get(`${baseUrl}/inspect/snapshots/kept/diff?brief=true`)).total).toBeDefined();
      expect(await get(`${baseUrl}/inspect/outbound`)).toMatchObject({
        rules: [{ host: 'kept.example.com', action: 'block' }],
      });
      expect(await get(`${baseUrl}/inspect/pipelines/${sampleIds.pipelineRunId}`)).toMatchObject({
        state: 'success',
        log: ['kept'],
      });
      if (sampleIds.invocationId && !WITH_OLDER_RECORDS.includes(name)) {
        expect(await get(`${baseUrl}/inspect/invocations/${sampleIds.invocationId}`)).toMatchObject({
          outcome: { ok: true },
          event: { body: { sizeBytes: expect.any(Number) } },
          request: { status: expect.any(Number) },
        });
      }
      const { commits } = await get(`${baseUrl}/inspect/history?limit=500`);
      expect(commits.at(-1)).toMatchObject({ seq: 1 });
      const lambdas: { id: string }[] = await get(`${metaUrl}/demo/lambdas`);
      const workbenches = await Promise.all(lambdas.map(({ id }) => get(`${baseUrl}/inspect/lambdas/${id}/workbench`)));
      expect(workbenches.flatMap(({ events }) => events)).toEqual([{ name: 'kept', body: '{"n":1}' }]);
      expect(await get(`${baseUrl}/inspect/scm/projects`)).toMatchObject([{ id: 101 }]);
    };
    const setAside = expect.stringContaining('recorded were set aside as `records/*.aside`');
    expect(await open(name, check)).toEqual([
      ...(WITH_OLDER_RECORDS.includes(name) ? [setAside] : []),
      expect.stringContaining('ada.byrne, milo.tanaka, ci-service were published'),
    ]);
    const signedIn = await open(name, async (emulator, auth) => {
      await check(emulator, auth);
      const passwords = JSON.parse(await readFile(join(testFolder, name, 'passwords.json'), 'utf8'));
      const form = new URLSearchParams({
        grant_type: 'password',
        username: 'ada.byrne',
        password: passwords['ada.byrne'],
      });
      expect((await send('POST', `${emulator.securityUrl}/demo/oauth/issue`, { body: form })).status).toBe(200);
    });
    expect(signedIn).toEqual([]);
  });
});

it('there is one to open', () => expect(folders).not.toEqual([]));
