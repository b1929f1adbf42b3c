import { deliveryRows } from '../contract/delivery.ts';
import { keyRows } from '../contract/security.ts';
import { hasEnded } from '../model/pipeline-run.ts';
import { CANCELED } from './pipeline-error.ts';
import type { PlatformCalls } from './platform-calls.ts';
import type { RunOwner } from './run-folder.ts';

/** What a killed run has left with the platform: its key, and a record that says that it goes on. */
export async function giveBack(platform: PlatformCalls, { baseUrl, apiKey, runId }: RunOwner): Promise<void> {
  if (baseUrl !== platform.baseUrl) return;
  if (apiKey !== undefined)
    await platform.ask(keyRows.deleteApiKey, { path: { api_key: apiKey } }).catch(() => undefined);
  if (runId === undefined) return;
  const path = { pipeline_id: runId };
  const { jobs } = await platform.ask(deliveryRows.readPipelineRun, { path });
  const ended = jobs.map((job) => (hasEnded(job) ? job : { ...job, state: 'canceled' as const }));
  const log = ['Its runner was killed; what it had left on this machine is removed.'];
  const json = { state: 'canceled' as const, jobs: ended, log, exitCode: CANCELED };
  await platform.ask(deliveryRows.tellPipelineRun, { path, json });
}
