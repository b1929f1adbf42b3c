import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { send } from '../server/testing/checked-client.ts';
import { buildCommand } from '../server/testing/command.ts';
import { connectForTests, requireEngine, testImage } from '../server/testing/engine.ts';
import { PipelineBench } from '../server/testing/pipeline-bench.ts';

const IMAGE = 'terrarium-test/busybox:1';
const SERVICE = 'terrarium-test/pipeline-late-service:1';

let harness: PipelineBench;
const run = promisify(execFile);

beforeAll(async () => {
  await requireEngine();
  await buildCommand();
  harness = await PipelineBench.make({}, { 'a.txt': 'a\n' });
  await testImage();
  const service = join(harness.folder, 'service');
  await mkdir(service);
  const command = 'sleep 2; echo served > /www/index.html; exec httpd -f -p 80 -h /www';
  await writeFile(join(service, 'Dockerfile'), `FROM ${IMAGE}\nEXPOSE 80\nCMD ["sh", "-c", "${command}"]\n`);
  await run('docker', ['build', '--quiet', '--tag', SERVICE, service], {
    env: { ...process.env, DOCKER_BUILDKIT: '0' },
  });
});
afterAll(async () => {
  await harness?.close();
  await run('docker', ['image', 'rm', '--force', SERVICE]);
});

/** The address of the engine by a path that only engines in virtual machines have. */
async function machineUrl(): Promise<string> {
  const { transport } = connectForTests().address;
  if (transport.kind !== 'socket') throw new Error('tests connect to the engine by its socket');
  const path = join(harness.folder, '.docker', 'run', 'docker.sock');
  await mkdir(dirname(path), { recursive: true });
  await symlink(transport.path, path);
  return `unix://${path}`;
}

/** Forwards connections from the engine's networks to a port on loopback, as the network of a virtual machine does. */
async function passOnToLoopback(port: number) {
  // As a container sees it: a daemon that starts for the first time reports no gateway for this network.
  const { stdout } = await run('docker', ['run', '--rm', IMAGE, 'busybox', 'ip', 'route']);
  const [, gateway] = /default via (\S+)/.exec(stdout) ?? [];
  expect(gateway, stdout).toBeDefined();
  const server = createServer((socket) => {
    const onward = connect({ port, host: '127.0.0.1' });
    for (const [source, destination] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      source.on('error', () => destination.destroy());
      source.pipe(destination);
    }
  }).listen(port, gateway);
  await once(server, 'listening');
  return server;
}

it('a job of an engine in a virtual machine gets its files, waits for its services and reaches the platform', async () => {
  const { scmUrl, scmToken } = harness.platform.emulator;
  const headers = { 'PRIVATE-TOKEN': scmToken };
  const variable = { key: 'CA', value: 'text of a file', variable_type: 'file' };
  expect(await send('POST', `${scmUrl}/api/v4/projects/101/variables`, { body: variable, headers })).toMatchObject({
    status: 201,
  });
  await harness.commit({
    '.gitlab-ci.yml': `call:
  image: ${IMAGE}
  services: [{name: "${SERVICE}", alias: web}]
  script:
    - cat "$CA"
    - wget -qO- http://web/
    - echo "api $CI_API_V4_URL page $CI_PROJECT_URL"
    - 'until wget -qO- --header "JOB-TOKEN: $CI_JOB_TOKEN" "$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests"; do sleep 1; done'
`,
  });
  const env = { DOCKER_HOST: await machineUrl(), GCL_JSON_SCHEMA_VALIDATION: 'false' };
  const job = harness.start(['run', harness.dir, '--project', 'fern-moss/shop'], env);
  const [, port] = /> api http:\/\/host\.docker\.internal:(\d+)\/api/.exec(await job.waitForOutput('> api ')) ?? [];
  expect(port).toBeDefined();
  const network = await passOnToLoopback(Number(port));
  try {
    const { exitCode, out, err } = await job.ended;
    expect(exitCode, `${out}${err}`).toBe(0);
    expect(out).toMatch(/> text of a file$/m);
    expect(out).toMatch(/> served$/m);
    // In the output for users, the address is unchanged.
    expect(out).toMatch(/ page http:\/\/(?:127\.0\.0\.1|localhost):/);
    expect(out).toContain('"full":"fern-moss/shop!1"');
  } finally {
    network.close();
  }
  // The port was open during the job only.
  await expect(once(connect(Number(port), '127.0.0.1'), 'connect')).rejects.toThrow('ECONNREFUSED');
});
