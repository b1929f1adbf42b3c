import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { causeOf } from '../../model/commit.ts';
import type { ExchangeRecord } from '../../model/exchange-record.ts';
import { captured } from '../../model/exchange-record.ts';
import type { PipelineRun, PipelineStart } from '../../model/pipeline-run.ts';
import type { StoredResource } from '../../model/record.ts';
import { MemoryFiles } from '../../storage/files/files.ts';
import { openKeyedLog } from '../../storage/files/keyed-log.ts';
import { PipelineRuns } from './pipeline-runs.ts';

let nowMs: number;
/** Difference between the wall clock and the steady clock. */
let setByMs: number;
beforeEach(() => {
  [nowMs, setByMs] = [1_800_000_000_000, 0];
});
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
  const make = () =>
    new PipelineRuns({ log, nowMs: () => nowMs, steadyMs: () => nowMs - setByMs, newId: () => `run${++count}` });
  const runs = make();
  for (const start of starts) await runs.begin(start);
  return { runs, restarted: make };
}

function request(
  requestedDeployment: object | undefined,
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
    requestBody: requestedDeployment && captured(JSON.stringify(requestedDeployment)),
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

it('stores the deployment requests of a run, and their results', async () => {
  const { runs } = await runsOf(START);
  const deployRequest = { action: 'deploy', image: 'shop:1', sha: START.sha, ref: START.branch };
  await runs.sawExchange(request(deployRequest, { executionId: 'x1' }));
  await runs.sawExchange(request(undefined, { status: 401 }, { code: 401, message: 'who are you?' }));
  await runs.sawExchange(request(deployRequest, {}, { code: 400, message: 'missing: api' }));
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

it('shows only the known members of an unexpected response', async () => {
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

it('ends interrupted runs after a restart', async () => {
  const { runs, restarted } = await runsOf(START, START);
  await runs.progress('run2', { state: 'success', jobs: [], log: [] });
  const again = restarted();
  await again.settle();
  expect(again.get('run1')).toMatchObject({ state: 'canceled', finishedAtMs: nowMs, jobs: [{ state: 'failed' }] });
  expect(again.get('run1').log.at(-1)).toContain('The platform stopped while this pipeline was running');
  expect(again.get('run2').state).toBe('success');
});

it('tells apart two runs of one commit by the keys of their jobs', async () => {
  const { runs } = await runsOf({ ...START, apiKey: 'key1' }, { ...START, apiKey: 'key2' });
  const deployRequest = { action: 'deploy', image: 'shop:1', sha: START.sha, ref: START.branch };
  await runs.sawExchange(request(deployRequest, { apiKey: 'key2' }));
  await runs.sawExchange(request(undefined, { apiKey: 'key2' }, { code: 401 }));
  expect(runs.get('run1').deployments).toBeUndefined();
  expect(runs.get('run2').deployments).toHaveLength(2);
  // A key that the project has set says nothing of the run.
  await runs.sawExchange(request(deployRequest, { apiKey: 'of the project' }));
  expect(runs.get('run1').deployments).toHaveLength(1);
});

it.each([24, -24])('a run lasts as long as it lasted if the clock is set by %d hours meanwhile', async (hours) => {
  const { runs } = await runsOf(START);
  setByMs = hours * 3_600_000;
  nowMs += setByMs + 5_000;
  const { startedAtMs, finishedAtMs = 0 } = await runs.progress('run1', { state: 'success', jobs: [], log: [] });
  expect(finishedAtMs - startedAtMs).toBe(5_000);
});

it('a run whose platform stopped does not end before it began', async () => {
  const { runs, restarted } = await runsOf(START);
  const { startedAtMs } = runs.get('run1');
  nowMs -= 24 * 3_600_000;
  await restarted().settle();
  expect(runs.get('run1')).toMatchObject({ state: 'canceled', finishedAtMs: startedAtMs });
});

it('lists those that deploy to what one looks at', async () => {
  const { runs } = await runsOf(START);
  await runs.begin({ ...START, targetEnvironmentId: 'here' });
  await runs.begin({ ...START, targetEnvironmentId: 'there' });
  expect(runs.list((id) => id === 'here').map(({ id }) => id)).toEqual(['run2']);
  expect(runs.list().map(({ id }) => id)).toEqual(['run3', 'run2', 'run1']);
});

it('masks the values of a project wherever a run reports them', async () => {
  const log = await openKeyedLog<PipelineRun>(new MemoryFiles(), { name: 'pipelines', onWarning: () => undefined });
  const secretsOf = (projectId: number) => (projectId === START.project.id ? ['s3cret-value'] : []);
  const runs = new PipelineRuns({
    log,
    nowMs: () => nowMs,
    steadyMs: () => nowMs - setByMs,
    newId: () => 'run',
    secretsOf,
  });
  await runs.begin(START);
  await runs.progress('run', { state: 'running', jobs: START.jobs, log: ['the key is s3cret-value'] });
  expect(runs.get('run').log).toEqual([expect.stringMatching(/^the key is (?!s3cret)/)]);
  expect(JSON.stringify([...log.entries()])).not.toContain('s3cret-value');
});

it('keeps of a log what memory can hold, the newest', async () => {
  const log = await openKeyedLog<PipelineRun>(new MemoryFiles(), { name: 'pipelines', onWarning: () => undefined });
  const runs = new PipelineRuns({ log, nowMs: () => nowMs, steadyMs: () => nowMs - setByMs, newId: () => 'run' });
  await runs.begin(START);
  for (let at = 0; at < 10; at++) {
    await runs.progress('run', { state: 'running', jobs: [], log: [`${at}${'x'.repeat(1024 * 1024)}`] });
  }
  expect(runs.get('run').log.map((line) => line[0])).toEqual(['7', '8', '9']);
  await runs.progress('run', { state: 'running', jobs: [], log: Array.from({ length: 6_000 }, (_, at) => `${at}`) });
  expect(runs.get('run').log).toHaveLength(5_000);
  expect(runs.get('run').log.at(-1)).toBe('5999');
});

it('keeps which containers a run changed, by its key or by a lambda that it called', async () => {
  const [ownId, called, other] = [randomUUID(), randomUUID(), randomUUID()];
  const log = await openKeyedLog<PipelineRun>(new MemoryFiles(), {
    name: 'pipelines',
    onWarning: (message) => expect.unreachable(message),
  });
  const creation = { by: randomUUID(), at: new Date(nowMs).toISOString() };
  const record = (id: string): StoredResource => ({
    id,
    type: 'Resource::Container',
    name: id,
    parent: null,
    state: 'Active',
    owner: creation.by,
    created: creation,
    modified: { ...creation, action: 'create' },
    properties: {},
  });
  const runs = new PipelineRuns({
    log,
    nowMs: () => nowMs,
    steadyMs: () => nowMs - setByMs,
    newId: () => 'run1',
    findContainer: record,
  });
  await runs.begin({ ...START, apiKey: 'k1' });
  const commit = (id: string, proof: { apiKey?: string; traceId?: string }) => {
    const { apiKey, traceId } = proof;
    const caller = { userId: id, name: 'ci', isRoot: false, groupIds: [], scheme: 'basic' as const };
    const cause = causeOf(
      { caller: { ...caller, ...(apiKey && { apiKey }) }, via: 'api', traceId },
      'container.update',
    );
    return runs.sawCommit({ seq: 1, atMs: nowMs, cause, ops: [], inverse: [], resources: [] }, [{ after: record(id) }]);
  };
  await commit(ownId, { apiKey: 'k1' });
  // The lambda acts with a key of its own before the request that invoked it has ended.
  await commit(called, { apiKey: 'k2', traceId: 't1' });
  await commit(other, { apiKey: 'k2', traceId: 't2' });
  await runs.sawExchange(request({}, { apiKey: 'k1', traceId: 't1' }));
  expect(runs.get('run1').changed?.map(({ id }) => id)).toEqual([ownId, called]);
});
