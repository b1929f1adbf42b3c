import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import Docker from 'dockerode';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildCommand } from '../server/testing/command.ts';
import { serveOn, testImage } from '../server/testing/engine.ts';
import { PipelineBench } from '../server/testing/pipeline-bench.ts';
import { type Platform, startPlatform } from '../server/testing/platform.ts';
import type { Body } from '../server/testing/tenant.ts';

const run = promisify(execFile);

const POLL = { timeout: 120_000, interval: 100 };
const IMAGE = 'terrarium-test/busybox:1';
/** Number of containers that are created, used and deleted at the same time. */
const TRIALS = 2;

/**
 * Limits below those of this machine, which cannot be raised inside of a container. Soft and hard limits are the same, because
 * Podman 4.3 confuses them. The settings for control groups work with all of their versions.
 */
const CONFIGURATION = `[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
`;

const folder = await mkdtemp(join(tmpdir(), 'terrarium-podman-'));
const socket = join(folder, 'sock');
const env = { ...process.env, CONTAINERS_CONF: join(folder, 'containers.conf') };
const storage = ['--root', join(folder, 'root'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs'];
const podman = async (...args: string[]) => (await run('podman', [...storage, ...args], { env })).stdout;
let service: ReturnType<typeof spawn>;
let engine: Docker;
let platform: Platform;

beforeAll(async () => {
  await writeFile(env.CONTAINERS_CONF, CONFIGURATION);
  // From an archive, because images that Podman's service imports get no tag.
  const archive = join(folder, 'image.tar');
  await testImage();
  await run('docker', ['save', '--output', archive, IMAGE]);
  await podman('load', '--input', archive);
  service = spawn('podman', [...storage, 'system', 'service', '--time=0', `unix://${socket}`], {
    env,
    stdio: 'ignore',
  });
  engine = new Docker({ socketPath: socket });
  const untilMs = performance.now() + POLL.timeout;
  while ((await engine.ping().then(String, String)) !== 'OK') {
    if (performance.now() > untilMs || service.exitCode !== null)
      throw new Error(`Podman's service does not answer at ${socket}`);
    await pause(POLL.interval);
  }
  platform = await startPlatform({ seed: 'demo', containers: { engine: `unix://${socket}`, onStop: 'remove' } });
});
afterAll(async () => {
  await platform?.stop();
  const remainingContainers = engine ? await engine.listContainers({ all: true }).catch(() => []) : [];
  if (service?.exitCode === null) {
    const serviceExit = once(service, 'exit');
    service.kill();
    await serviceExit;
  }
  await removeFirewallRules();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  expect(remainingContainers).toEqual([]);
});

/** Removes the rules that Podman left in the system's firewall for ports of this world. */
async function removeFirewallRules(): Promise<void> {
  const CHAIN = 'NETAVARK-HOSTPORT-DNAT';
  const rules = await run('iptables', ['-t', 'nat', '-S', CHAIN]).then(
    ({ stdout }) => stdout.split('\n'),
    () => [],
  );
  const ruleMark = `"dnat name: terrarium-${platform.emulator.worldId.slice(0, 8)}-`;
  for (const rule of rules.filter((candidate) => candidate.includes(ruleMark))) {
    await run('sh', ['-c', `iptables -t nat ${rule.replace(/^-A/, '-D')}`]);
  }
}

const status = async (id: string): Promise<Body> => (await platform.root.get(`/demo/containers/${id}`)).body.properties;

it('is named correctly', async () => {
  await expect
    .poll(async () => (await platform.root.send('GET', '/../inspect/status')).body.engines?.[0]?.version, POLL)
    .toMatch(/^Podman \d/);
});

it('runs a pipeline job in its image, with its files', async () => {
  const files = {
    '.gitlab-ci.yml': `a: {image: "${IMAGE}", script: [cat a.txt; touch made], artifacts: {paths: [made]}}\n`,
  };
  await buildCommand();
  const harness = await PipelineBench.make({}, { ...files, 'a.txt': 'of the commit\n' });
  try {
    const args = ['run', harness.dir, '--project', 'fern-moss/app'];
    const { exitCode, out, err } = await harness.start(args, { DOCKER_HOST: `unix://${socket}` }).ended;
    expect(exitCode, `${out}${err}`).toBe(0);
    expect(out).toContain('> of the commit');
  } finally {
    await harness.close();
  }
});

it.concurrent.for(Array.from({ length: TRIALS }, (_, index) => index + 1))(
  'creates, scales, restarts what crashes, and cleans up: trial %i',
  // Each concurrent test has its own `expect`.
  async (trial, { expect }) => {
    const [environment] = (await platform.root.get('/demo/environments?expand=true')).body;
    const [provider] = (await platform.root.get(`/demo/environments/${environment.id}/providers?type=CaaS&expand=true`))
      .body;
    const { id } = await platform.root.create(`/demo/environments/${environment.id}/containers`, {
      name: `trial-${trial}`,
      properties: {
        container_type: 'DOCKER',
        provider: { id: provider.id },
        image: IMAGE,
        num_instances: 1,
        cpus: 0.1,
        memory: 32,
        cmd: `echo hello > /www/index.html; ${serveOn(8080)}`,
        port_mappings: [{ protocol: 'tcp', name: 'web', expose_endpoint: true, container_port: 8080 }],
      },
    });
    const running = async () => {
      const { status: currentStatus, tasks_running: count, status_detail: detail } = await status(id);
      return `${currentStatus} ${count}${detail ? `: ${detail.reason}` : ''}`;
    };
    await expect.poll(running, POLL).toBe('RUNNING 1');
    await platform.root.patch(`/demo/containers/${id}`, [
      { op: 'replace', path: '/properties/num_instances', value: 2 },
    ]);
    await expect.poll(running, POLL).toBe('RUNNING 2');
    const [first] = (await status(id)).instances;
    const [port] = first.ports;
    await expect
      .poll(async () => await fetch(`http://127.0.0.1:${port}/`).then((response) => response.text(), String), POLL)
      .toBe('hello\n');
    await engine.getContainer(first.id).kill();
    await expect.poll(running, POLL).toBe('RUNNING 2');
    expect((await platform.root.delete(`/demo/containers/${id}`)).status).toBe(204);
    const named = async () =>
      (await engine.listContainers({ all: true }))
        .flatMap(({ Names }) => Names)
        .filter((name) => name.includes(`trial-${trial}-`));
    await expect.poll(named, POLL).toEqual([]);
  },
);
