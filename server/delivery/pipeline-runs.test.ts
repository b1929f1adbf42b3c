import { expect, it } from 'vitest';
import type { ExchangeRecord } from '../model/exchange-record.ts';
import { captured } from '../model/exchange-record.ts';
import type { PipelineRun, PipelineStart } from '../model/pipeline-run.ts';
import { openKeyedLog } from '../store/keyed-log.ts';
import { MemoryFiles } from '../store/memory-files.ts';
import { PipelineRuns } from './pipeline-runs.ts';

const nowMs = 1_800_000_000_000;
const START: PipelineStart = {
  project: { id: 101, path: 'fern-moss/shop' },
  branch: 'feature/ferns',
  sha: 'a'.repeat(40),
  variables: { present: [], missing: [] },
  deployUrl: 'http://localhost:4701/ci/deploy',
  jobs: [{ name: 'deploy', stage: 'deploy', state: 'running' }],
};
const ANSWER = {
  action: 'deploy',
  container: { id: 'c1', name: 'shop-feature-ferns', status: 'LAUNCHED' },
  endpoint: { id: 'e1', public_url: 'http://localhost:4701/website/shop' },
  scm: { environment_url_updated: true, merge_request_note_id: 3 },
};

async function runsOf(...starts: PipelineStart[]) {
  let count = 0;
  const log = await openKeyedLog<PipelineRun>(new MemoryFiles(), {
    name: 'pipelines',
    onWarning: (message) => expect.unreachable(message),
  });
  const make = () => new PipelineRuns({ log, nowMs: () => nowMs, newId: () => `run${++count}` });
  const runs = make();
  for (const start of starts) await runs.begin(start);
  return { runs, restarted: make };
}

function request(
  asked: object | undefined,
  more: Partial<ExchangeRecord> = {},
  answer: object = ANSWER,
): ExchangeRecord {
  return {
    plane: 'gateway',
    atMs: nowMs + 5,
    durationMs: 20,
    upstreamMs: 18,
    steps: [],
    method: 'POST',
    target: '/ci/deploy',
    peer: '127.0.0.1',
    requestHeaders: [],
    requestBody: asked && captured(JSON.stringify(asked)),
    status: 200,
    responseHeaders: [],
    responseBody: captured(JSON.stringify(answer)),
    isComplete: true,
    endpointId: undefined,
    executionId: undefined,
    traceId: undefined,
    userId: undefined,
    ...more,
  };
}

it('keeps with a run what it asked of the deployment endpoint, and what came of it', async () => {
  const { runs } = await runsOf(START);
  const asked = { action: 'deploy', image: 'shop:1', sha: START.sha, ref: START.branch };
  await runs.sawExchange(request(asked, { executionId: 'x1' }));
  await runs.sawExchange(request(undefined, { status: 401 }, { code: 401, message: 'who are you?' }));
  await runs.sawExchange(request(asked, {}, { code: 400, message: 'missing: api' }));
  expect(runs.get('run1').deployments).toEqual([
    {
      atMs: nowMs + 5,
      durationMs: 20,
      status: 200,
      target: '/ci/deploy',
      action: 'deploy',
      image: 'shop:1',
      executionId: 'x1',
      container: { id: 'c1', name: 'shop-feature-ferns' },
      published: { id: 'e1', url: 'http://localhost:4701/website/shop' },
      noteId: 3,
      isEnvironmentTold: true,
    },
    expect.objectContaining({ status: 401, code: 401, problem: 'who are you?' }),
    expect.objectContaining({ status: 200, code: 400, problem: 'missing: api' }),
  ]);
});

it('takes no request for its own that another pipeline made, that went elsewhere, or that came before or after', async () => {
  const other = { ...START, sha: 'b'.repeat(40), branch: 'other' };
  const { runs } = await runsOf(START, other);
  await runs.sawExchange(request({ sha: other.sha, ref: other.branch }));
  await runs.sawExchange(request({ sha: START.sha }, { target: '/website/lead' }));
  await runs.sawExchange(request({ sha: START.sha }, { plane: 'control' }));
  await runs.sawExchange(request({ sha: START.sha }, { atMs: nowMs - 1 }));
  await runs.progress('run1', { state: 'success', jobs: [], log: [] });
  await runs.sawExchange(request({ sha: START.sha }));
  expect(runs.get('run1').deployments).toBeUndefined();
  expect(runs.get('run2').deployments).toHaveLength(1);
});

it('shows what a strange answer holds, and nothing that it does not', async () => {
  const { runs } = await runsOf(START);
  for (const answer of [
    { container: 'x', endpoint: 5, scm: [] },
    { code: 'E', message: 7 },
  ])
    await runs.sawExchange(request({ sha: START.sha, action: 'explode' }, {}, answer));
  await runs.sawExchange({ ...request(undefined), requestBody: captured('no JSON'), responseBody: captured('<html>') });
  const bare = { atMs: nowMs + 5, durationMs: 20, status: 200, target: '/ci/deploy' };
  expect(runs.get('run1').deployments).toEqual([bare, bare, bare]);
});

it('ends after a restart what was under way: nobody tells of it any more', async () => {
  const { runs, restarted } = await runsOf(START, START);
  await runs.progress('run2', { state: 'success', jobs: [], log: [] });
  const again = restarted();
  await again.settle();
  expect(again.get('run1')).toMatchObject({ state: 'canceled', finishedAtMs: nowMs, jobs: [{ state: 'failed' }] });
  expect(again.get('run1').log.at(-1)).toContain('The platform was ended while this ran');
  expect(again.get('run2').state).toBe('success');
});

it('tells apart two runs of one commit by the keys of their jobs', async () => {
  const { runs } = await runsOf({ ...START, apiKey: 'key1' }, { ...START, apiKey: 'key2' });
  const asked = { action: 'deploy', image: 'shop:1', sha: START.sha, ref: START.branch };
  const by = (key: string) => ['Authorization', `Basic ${Buffer.from(`${key}:secret`).toString('base64')}`];
  await runs.sawExchange(request(asked, { requestHeaders: by('key2') }));
  await runs.sawExchange(request(undefined, { requestHeaders: by('key2') }, { code: 401 }));
  expect(runs.get('run1').deployments).toBeUndefined();
  expect(runs.get('run2').deployments).toHaveLength(2);
  // A key that the project has set says nothing of the run.
  await runs.sawExchange(request(asked, { requestHeaders: by('of the project') }));
  expect(runs.get('run1').deployments).toHaveLength(1);
});

it('lists those that deploy to what one looks at', async () => {
  const { runs } = await runsOf(START);
  await runs.begin({ ...START, targetEnvironmentId: 'here' });
  await runs.begin({ ...START, targetEnvironmentId: 'there' });
  expect(runs.list((id) => id === 'here').map(({ id }) => id)).toEqual(['run2']);
  expect(runs.list().map(({ id }) => id)).toEqual(['run3', 'run2', 'run1']);
});

it('keeps of a log what memory can hold, the newest', async () => {
  const log = await openKeyedLog<PipelineRun>(new MemoryFiles(), { name: 'pipelines', onWarning: () => undefined });
  const runs = new PipelineRuns({ log, nowMs: () => nowMs, newId: () => 'run' });
  await runs.begin(START);
  for (let at = 0; at < 10; at++) {
    await runs.progress('run', { state: 'running', jobs: [], log: [`${at}${'x'.repeat(1024 * 1024)}`] });
  }
  expect(runs.get('run').log.map((line) => line[0])).toEqual(['7', '8', '9']);
  await runs.progress('run', { state: 'running', jobs: [], log: Array.from({ length: 6_000 }, (_, at) => `${at}`) });
  expect(runs.get('run').log).toHaveLength(5_000);
  expect(runs.get('run').log.at(-1)).toBe('5999');
});
