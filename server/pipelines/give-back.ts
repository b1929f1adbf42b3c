import { z } from 'zod';
import { CANCELED } from './pipeline-error.ts';
import { jsonBody, type PlatformCalls } from './platform-calls.ts';
import type { RunOwner } from './run-folder.ts';

/** What a killed run has left with the platform: its key, and a record that says that it goes on. */
export async function giveBack(platform: PlatformCalls, { baseUrl, apiKey, runId }: RunOwner): Promise<void> {
  if (baseUrl !== platform.baseUrl) return;
  if (apiKey !== undefined) await platform.text('DELETE', `/security/apiKeys/${apiKey}`).catch(() => undefined);
  if (runId === undefined) return;
  const { jobs } = await platform.json(
    'GET',
    `/inspect/pipelines/${runId}`,
    z.looseObject({ jobs: z.array(z.looseObject({ state: z.string() })) }),
  );
  const ended = jobs.map((job) => (['running', 'waiting'].includes(job.state) ? { ...job, state: 'canceled' } : job));
  const log = ['Its runner was killed; what it had left on this machine is removed.'];
  await platform.text(
    'PUT',
    `/inspect/pipelines/${runId}`,
    jsonBody({ state: 'canceled', jobs: ended, log, exitCode: CANCELED }),
  );
}
