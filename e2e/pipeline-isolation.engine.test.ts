import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, symlink } from 'node:fs/promises';
import { createServer, get } from 'node:http';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildCommand } from '../server/testing/command.ts';
import { requireEngine, testImage } from '../server/testing/engine.ts';
import { PipelineBench } from '../server/testing/pipeline-bench.ts';
import type { Body } from '../server/testing/tenant.ts';

const IMAGE = 'terrarium-test/busybox:1';
const WITH_USER = 'terrarium-test/pipeline-user:1';
const CRASHING_IMAGE = 'terrarium-test/pipeline-dying:1';

let harness: PipelineBench;
const docker = async (...args: string[]) => (await promisify(execFile)('docker', args)).stdout.trim();
const build = async (tag: string, text: string) => {
  const child = spawn('docker', ['build', '--quiet', '--tag', tag, '-'], {
    env: { ...process.env, DOCKER_BUILDKIT: '0' },
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  child.stdin.end(text);
  await once(child, 'close');
};
const runOf = async (definition: string, args: readonly string[] = [], env: Record<string, string> = {}) => {
  await harness.commit({ '.gitlab-ci.yml': definition });
  return harness.start(['run', harness.dir, '--project', 'fern-moss/app', ...args], {
    GCL_JSON_SCHEMA_VALIDATION: 'false',
    ...env,
  }).ended;
};
/** Addresses on which this machine listens beside loopback. */
const listening = async () => {
  const { stdout } = await promisify(execFile)('ss', ['-Hltn']);
  return stdout.split('\n').map((line) => line.split(/\s+/)[3] ?? '');
};

beforeAll(async () => {
  await requireEngine();
  await testImage();
  await build(WITH_USER, `FROM ${IMAGE}\nUSER 1000:1000\n`);
  await build(
    CRASHING_IMAGE,
    `FROM ${IMAGE}\nEXPOSE 5432\nCMD ["sh", "-c", "echo starting; echo no password is set >&2; exit 3"]\n`,
  );
  await buildCommand();
  harness = await PipelineBench.make({}, { 'a.txt': 'a\n' });
});
afterAll(async () => {
  await harness?.close();
  await docker('image', 'rm', '--force', WITH_USER, CRASHING_IMAGE);
});

describe('a job in an image', () => {
  it('has a network of its own: two jobs listen on one port, and none reaches what listens on this machine', async () => {
    const host = createServer((_req, res) => res.end('of this machine')).listen(0, '127.0.0.1');
    await once(host, 'listening');
    const address = host.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const defineJob = (name: string) => `${name}:
  image: ${IMAGE}
  script:
    - echo ${name} > /www/index.html
    - httpd -p 8765 -h /www
    - sleep 1
    - wget -qO- http://127.0.0.1:8765/
    - if wget -qO- http://127.0.0.1:${port}/; then exit 1; fi
`;
    const { exitCode, out, err } = await runOf(defineJob('first') + defineJob('second'));
    host.close();
    expect(exitCode, `${out}${err}`).toBe(0);
    expect(out).toMatch(/first .*> first$/m);
    expect(out).toMatch(/second .*> second$/m);
  });

  it('reaches the platform by an address that only its network has, and that ends with it', async () => {
    await harness.commit({
      '.gitlab-ci.yml': `call:
  image: ${IMAGE}
  script:
    - echo "api $CI_API_V4_URL page $CI_PROJECT_URL"
    - 'wget -qO- --header "JOB-TOKEN: $CI_JOB_TOKEN" "$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests"'
    - echo waiting
    - while [ ! -e /tmp/go ]; do sleep 1; done
`,
    });
    const run = harness.start(['run', harness.dir, '--project', 'fern-moss/app'], {
      GCL_JSON_SCHEMA_VALIDATION: 'false',
    });
    await Promise.race([
      run.waitForOutput('> waiting'),
      run.ended.then(({ out }) => expect(out).toContain('> waiting')),
    ]);
    let [container, environment] = ['', ''];
    for (const containerId of (await docker('ps', '--quiet', '--filter', 'label=terrarium.world')).split('\n')) {
      const found = await docker('inspect', '--format', '{{range .Config.Env}}{{println .}}{{end}}', containerId).catch(
        () => '',
      );
      if (found.includes(`CI_PROJECT_URL=${harness.platform.emulator.scmUrl}/`))
        [container, environment] = [containerId, found];
    }
    const [, opened = ''] = /^CI_API_V4_URL=http:\/\/([^/]+)/m.exec(environment) ?? [];
    const gateway = await docker(
      'inspect',
      '--format',
      '{{range .NetworkSettings.Networks}}{{.Gateway}}{{end}}',
      container,
    );
    expect(opened).toBe(`${gateway}:${opened.split(':')[1]}`);
    expect(await listening()).toContain(opened);
    // This machine, and containers of other networks, are not answered.
    await expect(once(get(`http://${opened}/`), 'response')).rejects.toThrow(/socket hang up|ECONNRESET/);
    const other = await docker('run', '--rm', IMAGE, 'sh', '-c', `wget -T 3 -qO- http://${opened}/ || echo refused`);
    expect(other).toBe('refused');
    await docker('exec', container, 'touch', '/tmp/go');
    const { exitCode, out, err } = await run.ended;
    expect(exitCode, `${out}${err}`).toBe(0);
    expect(out).toContain('"full":"fern-moss/app!1"');
    expect(out).toMatch(/> api http:\/\/\d+\.\d+\.\d+\.\d+:\d+\/api\/v4 page http:\/\/(127\.0\.0\.1|localhost):/);
    expect(await listening()).not.toContain(opened);
  });

  it('has a clean environment and a writable folder, whatever its user; origin/main is in the checkout', async () => {
    const { exitCode, out, err } = await runOf(
      `in-image:
  image: ${WITH_USER}
  # Not for the command that creates its container, nor for that of its service.
  variables: {DOCKER_HOST: "tcp://docker:2375", PATH: "/bin:/opt"}
  services: ["${IMAGE}"]
  script: [id -u, touch made a.txt, mkdir ../beside, 'echo "[$AWS_SECRET_ACCESS_KEY]"', 'echo "$PATH $DOCKER_HOST"']
on-host:
  script: ['echo "[$AWS_SECRET_ACCESS_KEY]"', git log -1 --format=%s origin/main, git diff --stat origin/main HEAD]
`,
      [],
      { AWS_SECRET_ACCESS_KEY: 'of-the-developer' },
    );
    expect(exitCode, `${out}${err}`).toBe(0);
    expect(out).toMatch(/in-image .*> 1000$/m);
    expect(out).toMatch(/in-image .*> \/bin:\/opt tcp:\/\/docker:2375$/m);
    expect(out.match(/> \[\]$/gm)).toHaveLength(2);
    expect(out).not.toContain('of-the-developer');
    expect(out).toMatch(/on-host .*> Begin$/m);
    expect(out).toMatch(/on-host .* runs on this machine, because it has no image/);
  });

  it('never runs on this machine unless --shell is given: a missing engine is reported at once', async () => {
    const definition = `a: {image: "${IMAGE}", script: [touch /tmp/never]}\nb: {script: [echo ok]}\n`;
    const withoutEngine = {
      DOCKER_HOST: 'unix:///nonexistent/docker.sock',
      CONTAINER_HOST: 'unix:///nonexistent/podman.sock',
    };
    expect((await runOf(definition, ['--job', 'b'], withoutEngine)).exitCode).toBe(0);
    const { exitCode, out, err } = await runOf(definition, [], withoutEngine);
    expect(exitCode, `${out}${err}`).toBe(2);
    expect(err).toMatch(
      /job 'a' cannot run: it has an image, but no container engine responds at .*set DOCKER_HOST to its address\. .*--shell/,
    );
    expect((await runOf(definition.replace('/tmp/never', 'here'), ['--shell'], withoutEngine)).exitCode).toBe(0);
  });

  it('needs the socket of the engine, and no program of the engine', async () => {
    const bin = `${harness.folder}/bin`;
    await mkdir(bin);
    for (const name of ['git', 'bash', 'sh', 'tar', 'chmod']) {
      const { stdout } = await promisify(execFile)('which', [name]);
      await symlink(stdout.trim(), `${bin}/${name}`);
    }
    const job = `a: {image: "${IMAGE}", script: [echo in the image, touch made], artifacts: {paths: [made]}}\n`;
    const { exitCode, out, err } = await runOf(job, [], { PATH: bin });
    expect(exitCode, `${out}${err}`).toBe(0);
    expect(out).toContain('> in the image');
  });

  it('shows the log of a service that has ended, and why one cannot start', async () => {
    const { exitCode, out } = await runOf(`db:
  image: ${IMAGE}
  services: [{name: "${CRASHING_IMAGE}", alias: db}]
  script: [echo begun]
misspelled:
  image: ${IMAGE}
  services: [{name: "${IMAGE}", alias: web, entrypoint: [no-such-program]}]
  script: [echo never]
  allow_failure: true
nameless: {image: $NO_SUCH_VARIABLE, script: [echo never], allow_failure: true}
`);
    expect(exitCode).toBe(0);
    expect(out).toContain("> its image '$NO_SUCH_VARIABLE' has no value. Set the variable.");
    expect(out).toMatch(/service terrarium-test\/pipeline-dying:1 has ended with exit code 3/);
    expect(out).toContain('no password is set');
    expect(out).toContain('starting');
    expect(out).toMatch(/misspelled .*> service 'terrarium-test\/busybox:1' cannot be started: .*"no-such-program"/);
  });

  it('is retried with the variables of its run', async () => {
    const { exitCode } = await runOf('a: {script: [\'echo "level $LEVEL"\']}\n', ['--variable', 'LEVEL=high']);
    expect(exitCode).toBe(0);
    const [{ id }] = await harness.inspect('pipelines');
    const again = await harness.start(['retry', id, 'a']).ended;
    expect(again.out).toContain('> level high');
    const other = await harness.start(['retry', id, 'a', '--variable', 'LEVEL=low']).ended;
    expect(other.out).toContain('> level low');
    const retriedRun: Body = await harness.inspect(`pipelines/${id}/jobs/a/retry`, 'POST');
    const ended = async () => (await harness.inspect(`pipelines/${retriedRun.id}`)).state;
    await expect.poll(ended).toBe('success');
    expect(JSON.stringify(await harness.inspect('pipelines'))).not.toContain('"high"');
  });

  it('finds its submodules as GIT_SUBMODULE_STRATEGY asks, and says what of Git LFS is missing', async () => {
    const library = `${harness.folder}/library`;
    await promisify(execFile)('git', ['init', '-q', '-b', 'main', library]);
    const inLibrary = (...args: string[]) =>
      promisify(execFile)('git', ['-C', library, '-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args]);
    await inLibrary('commit', '-q', '--allow-empty', '-m', 'Library');
    await harness.git('submodule', 'add', '-q', library, 'lib');
    const { exitCode, out, err } = await runOf(
      `with: {variables: {GIT_SUBMODULE_STRATEGY: normal}, script: [git -C lib log -1 --format=%s]}
without: {script: ['test -z "$(ls lib)"']}
`,
    );
    expect(exitCode, `${out}${err}`).toBe(0);
    expect(out).toMatch(/with .*> Library$/m);
    await harness.commit({
      '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
      'big.bin': 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n',
    });
    const lfs = await runOf('a: {script: [cat big.bin]}\n');
    expect(lfs.out).toMatch(/1 file is a Git LFS pointer without its content: big\.bin/);
  });
});
