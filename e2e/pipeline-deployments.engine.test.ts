import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildCommand } from '../server/testing/command.ts';
import { expectNoLeftovers, requireEngine, serveOn, testImage } from '../server/testing/engine.ts';
import { PipelineBench } from '../server/testing/pipeline-bench.ts';
import type { Body } from '../server/testing/tenant.ts';

const POLL = { interval: 50 };
const SERVE = `echo "$VERSION" > /www/$PAGE; ${serveOn('$PORT')}`;

let harness: PipelineBench;
let container: Body;
let url: string;

beforeAll(async () => {
  await requireEngine();
  const image = await testImage();
  await buildCommand();
  harness = await PipelineBench.make(
    { containers: { engine: 'auto' } },
    { '.gitlab-ci.yml': 'a: {script: [echo hi]}\n' },
  );
  const { root } = harness.platform;
  const [api] = (await root.get('/demo/apis?expand=true')).body;
  const environment = api.properties.parent;
  const [provider] = (await root.get(`/demo/environments/${environment.id}/providers?type=CaaS&expand=true`)).body;
  container = await root.create(`/demo/environments/${environment.id}/containers`, {
    name: 'served',
    properties: {
      container_type: 'DOCKER',
      provider: { id: provider.id },
      image,
      cmd: SERVE,
      memory: 32,
      env: { VERSION: 'one', PORT: '8080', PAGE: 'index.html' },
      port_mappings: [{ protocol: 'tcp', name: 'web', expose_endpoint: true, container_port: 8080 }],
    },
  });
  const { properties } = await root.create(`/demo/apis/${api.id}/apiendpoints`, {
    name: 'served',
    properties: {
      resource: '/served',
      implementation_type: 'container',
      implementation_id: container.id,
      container_port_name: 'web',
    },
  });
  url = properties.public_url;
});
beforeEach(async () => {
  await change('cmd', SERVE);
  await change('env', { VERSION: 'one', PORT: '8080', PAGE: 'index.html' });
  await expect.poll(async () => (await fetch(url)).status, POLL).toBe(200);
});
afterAll(async () => {
  const worldId = harness?.platform.emulator.worldId;
  await harness?.close();
  if (worldId) await expectNoLeftovers(worldId);
});

const change = (path: string, value: unknown) =>
  harness.platform.root.patch(`/demo/containers/${container.id}`, [
    { op: 'replace', path: `/properties/${path}`, value },
  ]);

/** Runs a pipeline whose only job changes the container, with the API key of the run. */
async function deployed(path: string, value: unknown, ...args: string[]) {
  const operations = JSON.stringify([{ op: 'replace', path: `/properties/${path}`, value }]);
  const at = `${harness.platform.emulator.metaUrl}/demo/containers/${container.id}`;
  const definition = {
    deploy: {
      rules: [{ if: '$CI_PIPELINE_SOURCE == "merge_request_event"' }],
      script: [
        `curl -fsS -o /dev/null -u "$PLATFORM_API_KEY:$PLATFORM_API_SECRET" -X PATCH -H 'Content-Type: application/json-patch+json' -d "$BODY" ${at}`,
      ],
    },
  };
  await harness.commit({ '.gitlab-ci.yml': JSON.stringify(definition) });
  const { exitCode, out, err } = await harness.run('--variable', `BODY=${operations}`, ...args);
  const [run]: Body[] = await harness.inspect('pipelines');
  return { exitCode, out: `${out}${err}`, run };
}

describe('a run whose job changed a container through the API waits for the new instances', () => {
  it('succeeds when they respond, and shows what runs', async () => {
    const { exitCode, out, run } = await deployed('env', { VERSION: 'two', PORT: '8080', PAGE: 'index.html' });
    expect(exitCode, out).toBe(0);
    expect(await (await fetch(url)).text()).toBe('two\n');
    const app = { containerId: container.id, name: 'served', instances: 1, url, status: 200 };
    expect(run.apps).toMatchObject([app]);
    const { projects } = await harness.inspect('scm');
    const project = projects.find((candidate: Body) => candidate.path_with_namespace === 'fern-moss/app');
    const { body } = project.merge_requests[0].notes.at(-1);
    expect(body).toContain(`served runs terrarium-test/busybox:1 with 1 instance, ${url} responded with 200`);
  });

  it('fails when they crash, with the log', async () => {
    const { exitCode, out, run } = await deployed('cmd', 'echo no database; exit 5');
    expect(exitCode, out).toBe(1);
    expect(out).toMatch(/the app served is not available: .*exit code 5.*Its log ends with: no database/);
    expect(run).toMatchObject({ state: 'failed', apps: [{ name: 'served', problem: expect.any(String) }] });
  });

  it('fails when they listen on another port', async () => {
    const { exitCode, out } = await deployed('env', { VERSION: 'two', PORT: '8081', PAGE: 'index.html' });
    expect(exitCode, out).toBe(1);
    expect(out).toContain('does not listen on port 8080, so the old one stays in use');
  });

  it('fails when the page is not found, unless that is expected', async () => {
    const env = (VERSION: string) => ({ VERSION, PORT: '8080', PAGE: 'other.html' });
    const { exitCode, out } = await deployed('env', env('two'));
    expect(exitCode, out).toBe(1);
    expect(out).toContain(`${url} responds with 404, expected 2xx or 3xx. To accept it, set --expect /=404`);
    const expected = ['--expect', '/=404', '--expect', '/other.html=200'];
    expect((await deployed('env', env('three'), ...expected)).exitCode).toBe(0);
  });
});
